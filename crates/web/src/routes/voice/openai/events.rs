//! Responses as server-sent events.

use crate::respond::openai_error;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, StreamExt};
use gatehouse_domain::Problem;
use http::HeaderValue;
use http::header::CACHE_CONTROL;
use serde_json::{Value, json};
use std::convert::Infallible;

/// Sends each value as the data of an event.
pub(super) fn respond(data: impl Stream<Item = Value> + Send + 'static) -> Response {
    let events = data.map(|data| Ok::<_, Infallible>(Event::default().data(data.to_string())));
    let mut response = Sse::new(events)
        .keep_alive(KeepAlive::default())
        .into_response();
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Returns the last event of a response that failed after its start. `OpenAI`'s clients raise an error for the member
/// `error`.
pub(super) fn failure(problem: &Problem) -> Value {
    json!({ "error": openai_error(problem), "code": problem.code.name() })
}
