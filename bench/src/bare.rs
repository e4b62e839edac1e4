//! What the gate is compared with: `GET /api/sessions` as the gateway answers it (the same handler,
//! body and headers of its own), by axum alone, in a process of its own.

use anyhow::Result;
use axum::Router;
use axum::body::Body;
use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::response::Response;
use axum::routing::get;
use axum::serve::ListenerExt;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use tokio::net::TcpListener;

/// What `bare` takes.
#[derive(clap::Args)]
pub struct Args {
    /// Where to listen
    bind: SocketAddr,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionQuery {
    limit: Option<u32>,
    #[serde(rename = "cursor")]
    _cursor: Option<String>,
    #[serde(rename = "q")]
    _search: Option<String>,
}

#[derive(Serialize)]
struct SessionList {
    sessions: [(); 0],
}

async fn sessions(query: Result<Query<SessionQuery>, QueryRejection>) -> Response {
    let is_fine =
        query.is_ok_and(|Query(query)| query.limit.is_none_or(|n| (1..=500).contains(&n)));
    let body = serde_json::to_vec(&SessionList { sessions: [] }).unwrap_or_default();
    let mut response = Response::new(Body::from(body));
    if !is_fine {
        *response.status_mut() = StatusCode::BAD_REQUEST;
    }
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Serves until it is killed.
pub async fn run(args: &Args) -> Result<()> {
    let router = Router::new()
        .route("/api/sessions", get(sessions))
        .route("/health", get(|| async { "ok" }));
    let listener = TcpListener::bind(args.bind).await?.tap_io(|stream| {
        drop(stream.set_nodelay(true));
    });
    axum::serve(listener, router).await?;
    Ok(())
}
