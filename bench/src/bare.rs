//! Baselines, served in a separate process. For ingest: a handler that reads and verifies a delivery and
//! stores nothing. For the gate: `GET /api/sessions` with the same handler, body and response headers as the
//! gateway, but on axum alone.

use anyhow::Result;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use data_encoding::HEXLOWER_PERMISSIVE;
use hmac::{Hmac, KeyInit, Mac};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;

/// Arguments of `bare`.
#[derive(clap::Args)]
pub struct Args {
    /// Address to listen on
    bind: SocketAddr,
    /// Secret that deliveries are signed with
    #[arg(default_value = "")]
    secret: String,
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

#[derive(Serialize)]
struct Taken {
    status: &'static str,
    delivery_id: &'static str,
}

/// Reads and verifies a delivery as a code host's documentation describes; stores nothing.
async fn ingest(State(secret): State<Arc<str>>, headers: HeaderMap, body: Bytes) -> Response {
    let given = headers
        .get("x-hub-signature-256")
        .and_then(|value| value.as_bytes().strip_prefix(b"sha256="))
        .and_then(|hex| HEXLOWER_PERMISSIVE.decode(hex).ok());
    let is_right = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).is_ok_and(|mut mac| {
        mac.update(&body);
        given.is_some_and(|given| mac.verify_slice(&given).is_ok())
    });
    let taken = Taken {
        status: "accepted",
        delivery_id: "del_00000000000000000000000000000000",
    };
    let mut response = Response::new(Body::from(serde_json::to_vec(&taken).unwrap_or_default()));
    *response.status_mut() = if is_right {
        StatusCode::ACCEPTED
    } else {
        StatusCode::UNAUTHORIZED
    };
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// Serves until the process is killed.
pub async fn run(args: &Args) -> Result<()> {
    let router = Router::new()
        .route("/api/sessions", get(sessions))
        .route("/health", get(|| async { "ok" }))
        .route(
            "/api/webhooks/ingest/{id}",
            post(ingest).with_state(Arc::from(args.secret.as_str())),
        );
    let listener = TcpListener::bind(args.bind).await?.tap_io(|stream| {
        drop(stream.set_nodelay(true));
    });
    axum::serve(listener, router).await?;
    Ok(())
}
