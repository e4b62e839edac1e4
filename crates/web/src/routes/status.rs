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
use serde::Serialize;

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

#[derive(Serialize, JsonSchema)]
pub(super) struct SessionList {
    sessions: [(); 0],
}

/// Chat sessions. There are none until agents exist; what may be asked for is checked all the same.
pub(super) async fn sessions(Query(query): Query<Vec<(String, String)>>) -> Response {
    for (name, value) in query {
        let reason = match name.as_str() {
            "limit"
                if value
                    .parse()
                    .is_ok_and(|limit: u32| (1..=500).contains(&limit)) =>
            {
                continue;
            }
            "limit" => "must be between 1 and 500",
            "cursor" | "q" => continue,
            _ => "unknown field",
        };
        return Refusal(Problem::invalid_params(&name, reason)).into_response();
    }
    json(&SessionList { sessions: [] })
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
