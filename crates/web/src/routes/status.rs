//! `/health`, `/metrics`, and the page's initial data: `/api/gon`, `/api/bootstrap`.

use crate::app::App;
use crate::body::Requester;
use crate::respond::{Refusal, json};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use gatehouse_auth::Decision;
use gatehouse_domain::Problem;
use gatehouse_services::bootstrap;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Serialize, JsonSchema)]
pub(super) struct Health {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'static str>,
}

/// Only local or authenticated callers get the version.
pub(super) async fn health(State(app): State<App>, requester: Requester) -> Response {
    let is_known = requester.context.locality.is_local()
        || matches!(requester.context.decision, Decision::Allowed(_));
    json(&Health {
        status: "ok",
        version: is_known.then_some(app.services().build.version),
    })
}

pub(super) async fn metrics(State(app): State<App>) -> Response {
    let Some(metrics) = app.metrics() else {
        return Refusal(Problem::not_found("path")).into_response();
    };
    metrics.render()
}

pub(super) async fn first_facts(State(app): State<App>, requester: Requester) -> Response {
    match requester.context.identity() {
        Ok(identity) => json(&bootstrap::gon(app.services(), identity)),
        Err(error) => Refusal::from(error).into_response(),
    }
}

pub(super) async fn bootstrap(
    State(app): State<App>,
    requester: Requester,
) -> Result<Response, Refusal> {
    let identity = requester.context.identity()?;
    Ok(json(&bootstrap::bootstrap(app.services(), identity).await?))
}

/// Always an error, because no sign-in flow that returns here exists yet.
pub(super) async fn oauth_callback() -> Refusal {
    let message = "No sign-in with another service is in progress.";
    Refusal(Problem::new(
        gatehouse_domain::ErrorCode::InvalidRequest,
        message,
    ))
}
