//! `/health`, `/metrics`, and the page's initial data: `/api/gon`, `/api/bootstrap`.

use crate::app::App;
use crate::body::Requester;
use crate::respond::{Refusal, json};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use gatehouse_auth::Decision;
use gatehouse_auth::throttle::ThrottleClass;
use gatehouse_domain::Problem;
use gatehouse_services::bootstrap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, JsonSchema)]
pub(super) struct Health {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'static str>,
    /// Proves that this node belongs to the deployment. Present if the query has the question that one of its nodes is
    /// asking.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct HealthQuery {
    question: Option<String>,
}

/// Returns the status. Only local or authenticated callers get the version.
pub(super) async fn health(
    State(app): State<App>,
    requester: Requester,
    query: Result<Query<HealthQuery>, QueryRejection>,
) -> Result<Response, Refusal> {
    let question = query.ok().and_then(|Query(query)| query.question);
    if question.is_some() {
        let throttle = app.auth().throttle();
        throttle.admit(ThrottleClass::LookUp, &requester.context.client)?;
    }
    let is_known = requester.context.locality.is_local()
        || matches!(requester.context.decision, Decision::Allowed(_));
    let services = app.services();
    let answer = match question {
        Some(question) => services.reach_answer(&question).await,
        None => None,
    };
    Ok(json(&Health {
        status: "ok",
        version: is_known.then_some(services.build.version),
        answer,
    }))
}

pub(super) async fn metrics(State(app): State<App>) -> Response {
    let Some(metrics) = app.metrics() else {
        return Refusal(Problem::not_found("path")).into_response();
    };
    metrics.render().await
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

/// Returns an error, because no login flow uses this path yet.
pub(super) async fn oauth_callback() -> Refusal {
    let message = "No login with another service is in progress.";
    Refusal(Problem::new(
        gatehouse_domain::ErrorCode::InvalidRequest,
        message,
    ))
}
