//! `/health`, `/metrics`, and the page's first facts: `/api/gon`, `/api/bootstrap`, `/api/sessions`.

use crate::app::App;
use crate::body::Visitor;
use crate::respond::{Refusal, json};
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use gatehouse_auth::Decision;
use gatehouse_domain::Problem;
use gatehouse_rpc::gon;
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, JsonSchema)]
pub(super) struct Health {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'static str>,
}

/// The version is told to those who are local or known.
pub(super) async fn health(State(app): State<App>, visitor: Visitor) -> Response {
    let is_known =
        visitor.visit.locality.is_local() || matches!(visitor.visit.decision, Decision::Allowed(_));
    json(&Health {
        status: "ok",
        version: is_known.then_some(app.rooms().build.version),
    })
}

pub(super) async fn metrics(State(app): State<App>) -> Response {
    let Some(handle) = app.metrics() else {
        return Refusal(Problem::not_found("path")).into_response();
    };
    let mut response = handle.render().into_response();
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

pub(super) async fn first_facts(State(app): State<App>, visitor: Visitor) -> Response {
    match visitor.visit.identity() {
        Ok(identity) => json(&gon::gon(app.rooms(), identity)),
        Err(error) => Refusal::from(error).into_response(),
    }
}

pub(super) async fn bootstrap(State(app): State<App>, visitor: Visitor) -> Response {
    match visitor.visit.identity() {
        Ok(identity) => json(&gon::bootstrap(app.rooms(), identity)),
        Err(error) => Refusal::from(error).into_response(),
    }
}

/// Which chat sessions to list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionQuery {
    limit: Option<u32>,
    #[expect(dead_code, reason = "there is nothing yet to continue")]
    cursor: Option<String>,
    #[expect(dead_code, reason = "there is nothing yet to search")]
    q: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct SessionList {
    sessions: [(); 0],
}

/// Chat sessions. There are none until agents exist.
pub(super) async fn sessions(
    query: Result<Query<SessionQuery>, axum::extract::rejection::QueryRejection>,
) -> Response {
    let refuse =
        |field: &str, reason: &str| Refusal(Problem::invalid_params(field, reason)).into_response();
    match query {
        Err(_) => refuse("query", "takes limit, cursor and q"),
        Ok(Query(SessionQuery {
            limit: Some(limit), ..
        })) if !(1..=500).contains(&limit) => refuse("limit", "must be between 1 and 500"),
        Ok(_) => json(&SessionList { sessions: [] }),
    }
}

/// No flow that would come back here exists yet.
pub(super) async fn oauth_callback() -> Refusal {
    let message = "No sign-in with another service is in progress.";
    Refusal(Problem::new(
        gatehouse_domain::ErrorCode::InvalidRequest,
        message,
    ))
}

/// No session is shared yet: every id is unknown.
pub(super) async fn share() -> Refusal {
    Refusal(Problem::not_found("share"))
}

/// No chat session exists yet: every id is unknown.
pub(super) async fn session() -> Refusal {
    Refusal(Problem::not_found("session"))
}
