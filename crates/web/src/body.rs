//! Request bodies: JSON objects of at most 64 KiB, read within a time limit.

use crate::alive;
use crate::app::App;
use crate::arrival::Arrival;
use crate::body_time::BodyTime;
pub(crate) use crate::charged::{Charged, no_room};
use crate::respond::{Refusal, incomplete_body, not_authenticated, request_timeout};
use axum::body::{Body, HttpBody};
use axum::extract::{FromRequest, FromRequestParts, Request};
use bytes::Bytes;
use gatehouse_auth::{AuthError, Caller, Decision, RequestContext};
use gatehouse_domain::{ErrorCode, Problem, input};
use gatehouse_rpc::memory_budget::Share;
use http::header::{CONTENT_TYPE, ORIGIN, USER_AGENT};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue};
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;
use std::time::Duration;

/// The maximum body size of an ordinary endpoint, in bytes.
pub(crate) const MAX_BODY_BYTES: usize = 64 * 1024;
/// The maximum size of a JSON body with a long text, in bytes: a million escaped characters and the rest of the
/// request.
const MAX_LARGE_JSON_BYTES: usize = 8 << 20;
/// The maximum pause between two parts of a body, and the total time for an ordinary body.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// The total time for a large body: enough for 36 MiB over a slow connection.
const LARGE_BODY_TIMEOUT: Duration = Duration::from_mins(10);

/// Reads a whole body of at most `max_bytes`. The share is charged while the body arrives and until the
/// returned bytes are dropped.
pub(crate) async fn read(body: Body, max_bytes: usize, share: Share) -> Result<Bytes, Problem> {
    let in_all = if max_bytes > MAX_BODY_BYTES {
        LARGE_BODY_TIMEOUT
    } else {
        BODY_TIMEOUT
    };
    let time = BodyTime::start(BODY_TIMEOUT, in_all);
    read_frames(body, max_bytes, share, &time).await
}

async fn read_frames(
    mut body: Body,
    max_bytes: usize,
    mut share: Share,
    time: &BodyTime,
) -> Result<Bytes, Problem> {
    let (mut whole, most) = (Vec::new(), most(&body, max_bytes));
    loop {
        let Ok(frame) = time.wait(body.frame()).await else {
            return Err(request_timeout());
        };
        let data = match frame {
            None => return Ok(Charged::bytes(whole, share)),
            Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
            Some(Err(error)) if alive::has_ended(&error) => return Err(not_authenticated()),
            Some(Err(_)) => return Err(incomplete_body()),
        };
        if data.len() > max_bytes.saturating_sub(whole.len()) {
            return Err(Problem::too_large("body", max_bytes));
        }
        if !share.reserve(&mut whole, data.len(), most) {
            return Err(no_room());
        }
        whole.extend_from_slice(&data);
    }
}

/// Returns the maximum size of this body: its announced size, capped at the limit.
pub(crate) fn most(body: &Body, max_bytes: usize) -> usize {
    let announced = body.size_hint().upper();
    let announced = announced.and_then(|announced| usize::try_from(announced).ok());
    announced.unwrap_or(max_bytes).min(max_bytes)
}

/// Accepts `application/json` or no content type.
fn check_content_type(headers: &HeaderMap, body: &[u8]) -> Result<(), Problem> {
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
    let message = "This endpoint accepts application/json.";
    Err(Problem::new(ErrorCode::UnsupportedMediaType, message))
}

/// The request body as `T`. An empty body is equal to `{}`.
#[derive(Debug)]
pub(crate) struct JsonBody<T>(pub T);

impl<T: DeserializeOwned> FromRequest<App> for JsonBody<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, app: &App) -> Result<Self, Refusal> {
        let (parts, body) = request.into_parts();
        let (problem, bytes) = match read_json_bytes(app, &parts, body, MAX_BODY_BYTES).await {
            Ok(bytes) => match parse(&bytes) {
                Ok(value) => return Ok(Self(value)),
                Err(problem) => (problem, bytes),
            },
            Err(problem) => (problem, Bytes::new()),
        };
        Err(Refusal(refuse_first(app, &parts, problem, &bytes).await))
    }
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    input::from_slice(if bytes.is_empty() { b"{}" } else { bytes })
}

/// Reads a body of at most `max_bytes` with the content type of JSON. Does not parse it.
pub(crate) async fn read_json_bytes(
    app: &App,
    parts: &Parts,
    body: Body,
    max_bytes: usize,
) -> Result<Bytes, Problem> {
    let bytes = read(body, max_bytes, share(app, parts)?).await?;
    check_content_type(&parts.headers, &bytes)?;
    Ok(bytes)
}

/// Reads a JSON body with text to speak, or with a conversation.
pub(crate) async fn read_large_json<T: DeserializeOwned>(
    app: &App,
    request: Request,
) -> Result<T, Problem> {
    let (parts, body) = request.into_parts();
    parse(&read_json_bytes(app, &parts, body, MAX_LARGE_JSON_BYTES).await?)
}

/// Memory charged to the caller of this request.
pub(crate) fn share(app: &App, parts: &Parts) -> Result<Share, Problem> {
    let arrival: Option<&Arrival> = parts.extensions.get();
    Ok(app.share(&arrival.ok_or_else(Problem::internal)?.context))
}

/// Returns a 403, if one applies, in place of an error about the body. Some routes require a setup code or a password
/// in the body. Of a refused body, only the setup code counts.
async fn refuse_first(app: &App, parts: &Parts, problem: Problem, body: &[u8]) -> Problem {
    if problem.code == ErrorCode::NotAuthenticated {
        return problem;
    }
    let Some(Arrival { context, route, .. }) = parts.extensions.get() else {
        return problem;
    };
    let Some(row) = route.row() else {
        return problem;
    };
    let refusal = match &context.decision {
        _ if row.takes_setup_code && app.auth().wants_setup_code(context) => {
            match setup_code_in(body) {
                None => Some(AuthError::SetupCode.into()),
                Some(code) => {
                    let passed = app.auth().pass_setup_code(context, Some(&code)).await;
                    passed.err().map(Problem::from)
                }
            }
        }
        Decision::Allowed(identity) if row.step_up.is_needed() => {
            app.auth().require_step_up(identity).await.err()
        }
        _ => None,
    };
    refusal.unwrap_or(problem)
}

/// Returns the setup code in a JSON body that is refused for another reason.
fn setup_code_in(body: &[u8]) -> Option<String> {
    let body: serde_json::Value = serde_json::from_slice(body).ok()?;
    let code = body.get("setup_code").or_else(|| body.get("code"))?;
    code.as_str().map(str::to_owned)
}

/// The caller of a request.
#[derive(Clone, Debug)]
pub(crate) struct Requester {
    pub context: RequestContext,
    user_agent: Option<HeaderValue>,
    origin: Option<HeaderValue>,
    forwarded_host: Option<HeaderValue>,
}

impl Requester {
    /// Returns the caller in the form that `auth` expects.
    pub(crate) fn caller(&self) -> Caller<'_> {
        let user_agent = self
            .user_agent
            .as_ref()
            .and_then(|value| value.to_str().ok());
        Caller {
            context: &self.context,
            user_agent,
        }
    }

    /// Returns the origin of the page: the browser's `Origin` header or, for same-origin requests without one, the
    /// proxy's forwarded host. Use it only to decide what to offer, never to permit something.
    pub(crate) fn page(&self) -> Option<String> {
        let host = self
            .forwarded_host
            .as_ref()
            .and_then(|value| value.to_str().ok());
        let said = self.origin().map(str::to_owned);
        said.or_else(|| host.map(|host| format!("https://{host}")))
    }

    /// Returns the origin of the page that sent the request, if the browser states it.
    pub(crate) fn origin(&self) -> Option<&str> {
        self.origin.as_ref().and_then(|value| value.to_str().ok())
    }
}

impl<S: Sync> FromRequestParts<S> for Requester {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        // The gate inserts the arrival. A handler must not run without it.
        let arrival: &Arrival = parts.extensions.get().ok_or_else(Problem::internal)?;
        let context = arrival.context.clone();
        let header = |name: HeaderName| parts.headers.get(name).cloned();
        Ok(Self {
            context,
            user_agent: header(USER_AGENT),
            origin: header(ORIGIN),
            forwarded_host: header(HeaderName::from_static("x-forwarded-host")),
        })
    }
}
