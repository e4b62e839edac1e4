//! The model's reactions to a request.

use super::stream::{Frames, Part, stream};
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::{Semaphore, watch};

/// The model's reaction to one request.
#[derive(Clone, Debug)]
pub enum Reaction {
    /// Sends this text in these pieces.
    Say(Vec<String>),
    /// Sends the text and these calls: name and arguments. Their IDs are `call_0`, `call_1`, …
    Call(String, Vec<(String, String)>),
    /// Sends these calls and this finish reason.
    CallThen(Vec<(String, String)>, String),
    /// Sends this text and this finish reason.
    Finish(String, String),
    /// Sends these parts and this finish reason.
    Parts(Vec<Part>, String),
    /// Sends this text and then hangs.
    Hang(String),
    /// Sends this text and breaks off with an error.
    Break(String),
    /// Sends these frames, then ends the stream.
    Frames(Vec<Value>),
    /// Returns this status and body.
    Refuse(u16, Value),
    /// Returns 429 with this `Retry-After`.
    Busy(String),
    /// Replies with the number of messages in the request when the gate is open.
    Gate(watch::Receiver<bool>),
}

/// Returns a reply of one piece.
pub fn say(text: &str) -> Reaction {
    Reaction::Say(vec![text.to_owned()])
}

/// Returns a reply in pieces.
pub fn says<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Reaction {
    Reaction::Say(pieces.into_iter().map(str::to_owned).collect())
}

/// Returns a reply that calls a tool.
pub fn call(name: &str, arguments: &Value) -> Reaction {
    calls([(name, arguments)])
}

/// Returns a reply that calls several tools at once.
pub fn calls<'a>(calls: impl IntoIterator<Item = (&'a str, &'a Value)>) -> Reaction {
    let calls = calls.into_iter();
    let calls = calls.map(|(name, arguments)| (name.to_owned(), arguments.to_string()));
    Reaction::Call(String::new(), calls.collect())
}

/// `OpenAI`'s error for a conversation that is too long.
pub fn too_long() -> Reaction {
    let error = json!({ "error": { "code": "context_length_exceeded", "type": "invalid_request_error",
        "message": "This model's maximum context length is 10 tokens." } });
    Reaction::Refuse(400, error)
}

/// `OpenAI`'s error for a malformed request.
pub fn refuse(message: &str) -> Reaction {
    let error = json!({ "error": { "message": message, "type": "invalid_request_error" } });
    Reaction::Refuse(400, error)
}

/// `OpenAI`'s refusal with this `Retry-After`.
pub fn busy(retry_after: &str) -> Reaction {
    Reaction::Busy(retry_after.to_owned())
}

impl Reaction {
    /// Answers a request of this many messages.
    pub(super) async fn respond(self, messages: usize) -> Response {
        match self {
            Self::Say(pieces) => texts(pieces).end("stop"),
            Self::Finish(text, reason) => texts([text]).end(&reason),
            Self::Call(text, calls) => texts([text]).calls(calls).end("tool_calls"),
            Self::CallThen(calls, reason) => Frames::start().calls(calls).end(&reason),
            Self::Parts(parts, reason) => {
                let frames = parts.into_iter().fold(Frames::start(), Frames::part);
                frames.end(&reason)
            }
            Self::Hang(text) => stream(texts([text]).wait(Arc::new(Semaphore::new(0)))),
            Self::Break(text) => {
                let error = json!({ "error": { "message": "no", "type": "server_error" } });
                texts([text]).frame(&error).done()
            }
            Self::Frames(frames) => {
                let add = |frames: Frames, frame: &Value| frames.frame(frame);
                frames.iter().fold(Frames::default(), add).done()
            }
            Self::Refuse(status, body) => {
                (StatusCode::from_u16(status).unwrap(), Json(body)).into_response()
            }
            Self::Busy(retry_after) => {
                let error = json!({ "error": { "message": "Rate limit reached", "type": "requests",
                    "code": "rate_limit_exceeded" } });
                let headers = [("retry-after", retry_after)];
                (StatusCode::TOO_MANY_REQUESTS, headers, Json(error)).into_response()
            }
            Self::Gate(mut gate) => {
                gate.wait_for(|open| *open).await.unwrap();
                texts([format!("{messages} messages")]).end("stop")
            }
        }
    }
}

fn texts(texts: impl IntoIterator<Item = String>) -> Frames {
    let texts = texts.into_iter().filter(|text| !text.is_empty());
    texts.map(Part::Text).fold(Frames::start(), Frames::part)
}
