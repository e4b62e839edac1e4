//! Baselines, served in a separate process. For ingest, the baseline is a handler that reads and verifies a
//! delivery and stores nothing. For the gate, it is [`VAULT_STATUS`] with the same body as in the gateway, but
//! without any layer.

use anyhow::Result;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use data_encoding::HEXLOWER_PERMISSIVE;
use hmac::{Hmac, KeyInit, Mac};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde::Serialize;
use sha2::Sha256;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;

/// A route that reads nothing from the database.
pub const VAULT_STATUS: &str = "/api/auth/vault/status";

/// Arguments of `bare`.
#[derive(clap::Args)]
pub struct Args {
    /// Address to listen on
    bind: SocketAddr,
    /// Secret that deliveries are signed with
    #[arg(default_value = "")]
    secret: String,
}

#[derive(Serialize)]
struct VaultStatus {
    status: &'static str,
}

async fn vault_status() -> Response {
    let status = VaultStatus { status: "unsealed" };
    let mut response = Response::new(Body::from(serde_json::to_vec(&status).unwrap_or_default()));
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

/// Reads and verifies a delivery as a code host's documentation specifies. Stores nothing.
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
        .route(VAULT_STATUS, get(vault_status))
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
