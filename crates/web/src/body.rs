//! Request bodies: JSON objects of at most 64 KiB, read within a time limit.

use crate::app::App;
use crate::arrival::Arrival;
use crate::respond::{Refusal, request_timeout};
use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Request};
use bytes::Bytes;
use gatehouse_auth::{Caller, Decision, Visit};
use gatehouse_domain::{ErrorCode, Problem, input};
use http::header::{CONTENT_TYPE, ORIGIN, USER_AGENT};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use std::time::Duration;

/// The largest body of an ordinary endpoint.
pub(crate) const MAX_BODY_BYTES: usize = 64 * 1024;
/// How long a body may take to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Reads a whole body of at most `max_bytes`.
pub(crate) async fn read(body: Body, max_bytes: usize) -> Result<Bytes, Problem> {
    let collected = tokio::time::timeout(BODY_TIMEOUT, Limited::new(body, max_bytes).collect());
    match collected.await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Problem::new(
            ErrorCode::PayloadTooLarge,
            format!("The body is over the limit of {max_bytes} bytes."),
        )
        .with("max_bytes", max_bytes)),
        Ok(Err(_)) => Err(Problem::new(
            ErrorCode::InvalidRequest,
            "The body did not arrive whole.",
        )),
        Err(_elapsed) => Err(request_timeout()),
    }
}

/// JSON, or nothing said about it.
pub(crate) fn check_content_type(headers: &HeaderMap, body: &[u8]) -> Result<(), Problem> {
    let Some(given) = headers.get(CONTENT_TYPE).filter(|_| !body.is_empty()) else {
        return Ok(());
    };
    let essence = given
        .to_str()
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default()
        .trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let message = "This endpoint takes application/json.";
    Err(Problem::new(ErrorCode::UnsupportedMediaType, message))
}

/// The request body as `T`. An absent body is `{}`.
#[derive(Debug)]
pub(crate) struct JsonBody<T>(pub T);

impl<T: DeserializeOwned> FromRequest<App> for JsonBody<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, app: &App) -> Result<Self, Refusal> {
        let (parts, body) = request.into_parts();
        let parsed = read_json(&parts.headers, body).await;
        parsed
            .map(Self)
            .map_err(|problem| Refusal(refuse_first(app, &parts, problem)))
    }
}

async fn read_json<T: DeserializeOwned>(headers: &HeaderMap, body: Body) -> Result<T, Problem> {
    let bytes = read(body, MAX_BODY_BYTES).await?;
    check_content_type(headers, &bytes)?;
    input::from_slice(if bytes.is_empty() { b"{}" } else { &bytes })
}

/// 403 comes before any answer about the body: where a route needs a recent confirmation that a
/// right password in the body could have given, a body that cannot be read gave none.
fn refuse_first(app: &App, parts: &Parts, problem: Problem) -> Problem {
    let Some(Arrival { visit, route, .. }) = parts.extensions.get() else {
        return problem;
    };
    let needs_step_up = route.row().is_some_and(|row| row.step_up.is_needed());
    match &visit.decision {
        Decision::Allowed(identity) if needs_step_up => app
            .auth()
            .require_step_up(identity)
            .err()
            .unwrap_or(problem),
        _ => problem,
    }
}

/// Who is calling.
#[derive(Clone, Debug)]
pub(crate) struct Visitor {
    pub visit: Visit,
    user_agent: Option<HeaderValue>,
    origin: Option<HeaderValue>,
}

impl Visitor {
    /// The same, as the auth room takes it.
    pub(crate) fn caller(&self) -> Caller<'_> {
        let user_agent = self
            .user_agent
            .as_ref()
            .and_then(|value| value.to_str().ok());
        Caller {
            visit: &self.visit,
            user_agent,
        }
    }

    /// The page that sent the request, where a browser says so.
    pub(crate) fn origin(&self) -> Option<&str> {
        self.origin.as_ref().and_then(|value| value.to_str().ok())
    }
}

impl<S: Sync> FromRequestParts<S> for Visitor {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        // The gate put it there; a handler without a gate before it must not run.
        let arrival: &Arrival = parts.extensions.get().ok_or_else(Problem::internal)?;
        let visit = arrival.visit.clone();
        let header = |name: HeaderName| parts.headers.get(name).cloned();
        Ok(Self {
            visit,
            user_agent: header(USER_AGENT),
            origin: header(ORIGIN),
        })
    }
}
