//! The machine-readable API descriptions: OpenAPI and OpenRPC.

use crate::app::App;
use crate::respond::json;
use axum::extract::State;
use axum::response::Response;

pub(super) async fn openapi() -> Response {
    json(&crate::openapi())
}

pub(super) async fn openrpc(State(app): State<App>) -> Response {
    json(&gatehouse_rpc::openrpc::document(
        gatehouse_rpc::METHODS,
        app.services().build.version,
    ))
}
