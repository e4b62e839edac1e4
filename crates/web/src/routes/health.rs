//! Liveness and readiness, for supervisors and load balancers. The routes need no authentication, so a response
//! contains only fixed words.

use crate::app::App;
use crate::respond::json;
use axum::extract::State;
use axum::response::Response;
use gatehouse_secrets::Status;
use gatehouse_services::WRITER_LIMIT;
use http::header::CACHE_CONTROL;
use http::request::Parts;
use http::{HeaderValue, Method, StatusCode};
use schemars::JsonSchema;
use serde::Serialize;
use std::time::Duration;

/// The response to a probe.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Probe {
    /// `ok` or `unavailable`.
    status: &'static str,
    /// Why the server is not available: `sealed`, `migrating`, `draining`, `database`, `writer`.
    reasons: Vec<&'static str>,
}

impl Probe {
    pub(crate) fn of(reasons: Vec<&'static str>) -> Self {
        let status = if reasons.is_empty() {
            "ok"
        } else {
            "unavailable"
        };
        Self { status, reasons }
    }
}

/// The facts that the response to a probe depends on.
#[expect(
    clippy::struct_excessive_bools,
    reason = "one for each reason, in any combination"
)]
#[derive(Clone, Copy, Debug)]
struct Condition {
    is_sealed: bool,
    is_outdated: bool,
    is_draining: bool,
    database_responds: bool,
    takes_writes: bool,
    writer_busy: Duration,
}

impl Condition {
    fn reasons(&self) -> Vec<&'static str> {
        let reasons = [
            ("sealed", self.is_sealed),
            ("migrating", self.is_outdated),
            ("draining", self.is_draining),
            ("database", !self.database_responds),
            (
                "writer",
                !self.takes_writes || self.writer_busy > WRITER_LIMIT,
            ),
        ];
        let present = reasons.into_iter().filter(|(_, holds)| *holds);
        present.map(|(reason, _)| reason).collect()
    }
}

/// Fails if only a restart can help, because a write has been running for too long.
pub(super) async fn live(State(app): State<App>) -> Response {
    response(if app.services().is_live() {
        Vec::new()
    } else {
        vec!["writer"]
    })
}

/// Fails while requests should be sent to another node.
pub(super) async fn ready(State(app): State<App>) -> Response {
    let services = app.services();
    let resolved = services.config.resolved();
    let condition = Condition {
        is_sealed: services.secrets.status() == Status::Sealed
            && !resolved.settings.server.ready_when_sealed,
        is_outdated: services.store.is_outdated(),
        is_draining: services.is_draining(),
        database_responds: services.database_responds().await,
        takes_writes: services.database_takes_writes().await,
        writer_busy: services.store.busy_for(),
    };
    response(condition.reasons())
}

/// Answers a probe without identifying its caller. Returns `None` for other requests.
pub(crate) async fn probe(app: &App, request: &Parts) -> Option<Response> {
    if request.method != Method::GET && request.method != Method::HEAD {
        return None;
    }
    let app = State(app.clone());
    match request.uri.path() {
        "/health/live" | "/livez" | "/healthz" => Some(live(app).await),
        "/health/ready" | "/readyz" => Some(ready(app).await),
        _ => None,
    }
}

fn response(reasons: Vec<&'static str>) -> Response {
    let is_fine = reasons.is_empty();
    let mut response = json(&Probe::of(reasons));
    if !is_fine {
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    }
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_its_condition() {
        let fine = Condition {
            is_sealed: false,
            is_outdated: false,
            is_draining: false,
            database_responds: true,
            takes_writes: true,
            writer_busy: WRITER_LIMIT,
        };
        assert!(fine.reasons().is_empty());
        let stuck = Condition {
            writer_busy: WRITER_LIMIT + Duration::from_millis(1),
            ..fine
        };
        assert_eq!(stuck.reasons(), ["writer"]);
        let full = Condition {
            takes_writes: false,
            ..fine
        };
        assert_eq!(full.reasons(), ["writer"]);
        let all = Condition {
            is_sealed: true,
            is_outdated: true,
            is_draining: true,
            database_responds: false,
            ..stuck
        };
        assert_eq!(
            all.reasons(),
            ["sealed", "migrating", "draining", "database", "writer"]
        );
    }
}
