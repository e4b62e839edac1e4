//! Request bodies: JSON objects of at most 64 KiB, read within a time limit.

use crate::alive;
use crate::app::App;
use crate::arrival::Arrival;
use crate::gate::not_authenticated;
use crate::respond::{Refusal, request_timeout};
use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Request};
use bytes::{Bytes, BytesMut};
use gatehouse_auth::{AuthError, Caller, Decision, Visit};
use gatehouse_domain::{ErrorCode, Problem, input};
#[cfg(feature = "voice")]
use gatehouse_rpc::census::{ByteBudget, BytesGuard};
use http::header::{CONTENT_TYPE, ORIGIN, USER_AGENT};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue};
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;
use std::time::Duration;

/// The largest body of an ordinary endpoint.
pub(crate) const MAX_BODY_BYTES: usize = 64 * 1024;
/// How long a body may stand still on its way, and how long an ordinary one may take in all.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a large body may take in all: 36 MiB over a slow line.
const LARGE_BODY_TIMEOUT: Duration = Duration::from_mins(10);

/// How long somebody waits for whose body there is no room, in milliseconds.
const ROOM_WAIT_MS: u64 = 1000;

/// Reads a whole body of at most `max_bytes`.
pub(crate) async fn read(body: Body, max_bytes: usize) -> Result<Bytes, Problem> {
    read_within(body, max_bytes, |_more| true).await
}

/// The same for a body that is so large that it counts against what all requests may hold together. It
/// does for as long as the guard is there.
#[cfg(feature = "voice")]
pub(crate) async fn read_counted(
    body: Body,
    max_bytes: usize,
    budget: &ByteBudget,
) -> Result<(Bytes, BytesGuard), Problem> {
    let mut guard = budget.take(0).ok_or_else(no_room)?;
    let bytes = read_within(body, max_bytes, |more| guard.grow(more)).await?;
    Ok((bytes, guard))
}

/// There is no memory for it now.
pub(crate) fn no_room() -> Problem {
    Problem::rate_limited(ROOM_WAIT_MS)
}

async fn read_within(
    body: Body,
    max_bytes: usize,
    grow: impl FnMut(usize) -> bool,
) -> Result<Bytes, Problem> {
    let in_all = if max_bytes > MAX_BODY_BYTES {
        LARGE_BODY_TIMEOUT
    } else {
        BODY_TIMEOUT
    };
    match tokio::time::timeout(in_all, read_frames(body, max_bytes, grow)).await {
        Ok(read) => read,
        Err(_elapsed) => Err(request_timeout()),
    }
}

async fn read_frames(
    mut body: Body,
    max_bytes: usize,
    mut grow: impl FnMut(usize) -> bool,
) -> Result<Bytes, Problem> {
    let mut whole = BytesMut::new();
    loop {
        let Ok(frame) = tokio::time::timeout(BODY_TIMEOUT, body.frame()).await else {
            return Err(request_timeout());
        };
        let data = match frame {
            None => return Ok(whole.freeze()),
            Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
            Some(Err(error)) if alive::has_ended(&error) => return Err(not_authenticated()),
            Some(Err(_)) => {
                let message = "The body did not arrive whole.";
                return Err(Problem::new(ErrorCode::InvalidRequest, message));
            }
        };
        if data.len() > max_bytes.saturating_sub(whole.len()) {
            let message = format!("The body is over the limit of {max_bytes} bytes.");
            let problem = Problem::new(ErrorCode::PayloadTooLarge, message);
            return Err(problem.with("max_bytes", max_bytes));
        }
        if !grow(data.len()) {
            return Err(no_room());
        }
        whole.extend_from_slice(&data);
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

/// 403 comes before any answer about the body: where a route needs what only the body could have
/// carried (a setup code, or a right password as confirmation), one that cannot be read carried none.
fn refuse_first(app: &App, parts: &Parts, problem: Problem) -> Problem {
    if problem.code == ErrorCode::NotAuthenticated {
        return problem;
    }
    let Some(Arrival { visit, route, .. }) = parts.extensions.get() else {
        return problem;
    };
    let Some(row) = route.row() else {
        return problem;
    };
    let refusal = match &visit.decision {
        _ if row.takes_setup_code && app.auth().wants_setup_code(visit) => {
            Some(AuthError::SetupCode.into())
        }
        Decision::Allowed(identity) if row.step_up.is_needed() => {
            app.auth().require_step_up(identity).err()
        }
        _ => None,
    };
    refusal.unwrap_or(problem)
}

/// Who is calling.
#[derive(Clone, Debug)]
pub(crate) struct Visitor {
    pub visit: Visit,
    user_agent: Option<HeaderValue>,
    origin: Option<HeaderValue>,
    forwarded_host: Option<HeaderValue>,
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

    /// The origin of the page, as the browser says or, where it says nothing because the page is our
    /// own, as the proxy does. Good for what to offer, never for what to allow.
    pub(crate) fn page(&self) -> Option<String> {
        let host = self
            .forwarded_host
            .as_ref()
            .and_then(|value| value.to_str().ok());
        let said = self.origin().map(str::to_owned);
        said.or_else(|| host.map(|host| format!("https://{host}")))
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
            forwarded_host: header(HeaderName::from_static("x-forwarded-host")),
        })
    }
}
