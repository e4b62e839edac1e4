//! Builds responses. A refusal is a [`Problem`] attached to an empty body. The gate writes the body when the response
//! leaves, because only the gate has the request ID.

use crate::charged::{Charged, no_room};
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use gatehouse_auth::{AuthError, Outcome};
use gatehouse_domain::{ErrorCode, Problem};
use gatehouse_rpc::memory_budget::Share;
use http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER, SET_COOKIE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde::Serialize;
use serde_json::{Map, Value, json as value};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const CLEAR_SITE_DATA: HeaderName = HeaderName::from_static("clear-site-data");
const THE_CACHE: HeaderValue = HeaderValue::from_static("\"cache\"");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// A refusal that will become the response.
#[derive(Clone, Debug)]
pub(crate) struct Refusal(pub Problem);

impl<E: Into<Problem>> From<E> for Refusal {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = status_of(&self.0);
        response.extensions_mut().insert(self);
        response
    }
}

/// Marks a [`Refusal`] whose body has the format of `OpenAI`'s API.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenAiFormat;

/// Returns the error for a slow request: status 408. A slow response has status 504. Both have the
/// code `TIMEOUT`.
pub(crate) fn request_timeout() -> Problem {
    Problem::new(ErrorCode::Timeout, "The request took too long to arrive.")
        .with(SLOW_REQUEST, true)
}

/// Returns the error for a body that ended early.
pub(crate) fn incomplete_body() -> Problem {
    Problem::new(ErrorCode::InvalidRequest, "The body is incomplete.")
}

/// Returns the error for a query string that cannot be parsed.
pub(crate) fn unreadable_query() -> Problem {
    Problem::new(ErrorCode::InvalidRequest, "The query cannot be read.")
}

/// Returns the 401 error for a request without a valid credential.
pub(crate) fn not_authenticated() -> Problem {
    AuthError::NotAuthenticated.into()
}

const SLOW_REQUEST: &str = "slow_request";

fn status_of(problem: &Problem) -> StatusCode {
    if problem.details.contains_key(SLOW_REQUEST) {
        return StatusCode::REQUEST_TIMEOUT;
    }
    StatusCode::from_u16(problem.code.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// Writes a refusal's body and headers into its response.
pub(crate) fn write_refusal(response: &mut Response, request_id: &str) {
    let Some(Refusal(problem)) = response.extensions_mut().remove::<Refusal>() else {
        return;
    };
    let retry_after = problem
        .details
        .get("retry_after_seconds")
        .and_then(Value::as_u64);
    let is_openai = response.extensions_mut().remove::<OpenAiFormat>().is_some();
    let error = if is_openai {
        openai_error(&problem)
    } else {
        problem.message.into()
    };
    let mut body = Map::new();
    body.insert("error".to_owned(), error);
    body.insert("code".to_owned(), problem.code.name().into());
    body.extend(
        problem
            .details
            .into_iter()
            .filter(|(name, _)| name != SLOW_REQUEST),
    );
    if response.status().is_server_error() {
        body.insert("request_id".to_owned(), request_id.into());
    }
    *response.body_mut() = Body::from(Value::Object(body).to_string());
    let headers = response.headers_mut();
    // The router has set the length for the empty body.
    headers.remove(CONTENT_LENGTH);
    headers.insert(CONTENT_TYPE, JSON);
    headers.insert(CACHE_CONTROL, NO_STORE);
    if let Some(seconds) = retry_after {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
}

/// Returns the member `error` in the format of `OpenAI`'s API
/// (<https://platform.openai.com/docs/guides/error-codes>).
pub(crate) fn openai_error(problem: &Problem) -> Value {
    let kind = match status_of(problem).as_u16() {
        401 => "authentication_error",
        402 => "insufficient_quota",
        403 => "permission_error",
        429 => "rate_limit_error",
        500.. => "server_error",
        _ => "invalid_request_error",
    };
    value!({
        "message": problem.message,
        "type": kind,
        "code": problem.code.name(),
        "param": problem.details.get("field").filter(|field| *field != ""),
    })
}

/// Builds a JSON response that must not be cached.
pub(crate) fn json<T: Serialize>(value: &T) -> Response {
    let Ok(body) = serde_json::to_vec(value) else {
        return Refusal(Problem::internal()).into_response();
    };
    let mut response = Response::new(Body::from(body));
    // The capacity includes the headers that every response has.
    let mut headers = HeaderMap::with_capacity(12);
    headers.insert(CONTENT_TYPE, JSON);
    headers.insert(CACHE_CONTROL, NO_STORE);
    *response.headers_mut() = headers;
    response
}

/// Builds a response like [`json`], for bodies that may be large. Charges the bytes until they are
/// sent.
pub(crate) fn large_json<T: Serialize>(value: &T, mut share: Share) -> Result<Response, Refusal> {
    let body = serde_json::to_vec(value).map_err(|_| Problem::internal())?;
    if !share.grow(body.capacity()) {
        return Err(no_room().into());
    }
    let mut response = json(&());
    *response.body_mut() = Body::from(Charged::bytes(body, share));
    Ok(response)
}

/// Builds the response to an operation that may set or clear cookies.
pub(crate) fn outcome<T: Serialize>(outcome: Outcome<T>) -> Result<Response, Refusal> {
    let mut response = json(&outcome.body);
    if outcome.ends_browser_session() {
        // Clears cached recordings and responses of this session. The next user of the browser cannot read them.
        response.headers_mut().insert(CLEAR_SITE_DATA, THE_CACHE);
    }
    for cookie in outcome.cookies {
        let mut value = HeaderValue::try_from(cookie).map_err(|_| Problem::internal())?;
        value.set_sensitive(true);
        response.headers_mut().append(SET_COOKIE, value);
    }
    Ok(response)
}
