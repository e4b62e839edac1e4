//! A local model provider. The wire format is that of `OpenAI`'s chat completions with streaming
//! (<https://platform.openai.com/docs/api-reference/chat-streaming>); errors follow
//! <https://platform.openai.com/docs/guides/error-codes>.

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};

/// The name of the model that reads images.
pub const SEEING: &str = "seeing";

/// The model's reaction to one request.
#[derive(Clone, Debug)]
pub enum Reaction {
    /// Sends this text in these pieces.
    Say(Vec<String>),
    /// Sends the text and these calls: name and arguments. Their ids are `call_0`, `call_1`, …
    Call(String, Vec<(String, String)>),
    /// Sends these calls and this finish reason.
    CallThen(Vec<(String, String)>, String),
    /// Sends this text and this finish reason.
    Finish(String, String),
    /// Sends this text and then hangs.
    Hang(String),
    /// Sends this text and breaks off with an error.
    Break(String),
    /// Sends these frames, then ends the stream.
    Frames(Vec<Value>),
    /// Returns this status and body.
    Refuse(u16, Value),
    /// Replies with the number of messages it received, once the gate is open.
    Gate(watch::Receiver<bool>),
}

pub fn say(text: &str) -> Reaction {
    Reaction::Say(vec![text.to_owned()])
}

pub fn call(name: &str, arguments: &Value) -> Reaction {
    Reaction::Call(
        String::new(),
        vec![(name.to_owned(), arguments.to_string())],
    )
}

/// A reply that calls several tools at once.
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

#[derive(Clone)]
pub struct FakeModel {
    pub url: String,
    script: Arc<Mutex<VecDeque<Reaction>>>,
    seen: watch::Sender<Vec<Value>>,
}

impl FakeModel {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let model = Self {
            url: format!("http://{}/v1", listener.local_addr().unwrap()),
            script: Arc::default(),
            seen: watch::Sender::new(Vec::new()),
        };
        let router = Router::new()
            .route("/v1/chat/completions", post(answer))
            .with_state(model.clone());
        #[expect(clippy::disallowed_methods, reason = "ends with the test's runtime")]
        tokio::spawn(async move { axum::serve(listener, router).await });
        model
    }

    /// Queues its next reactions. Without one it says "ok".
    pub fn will(&self, acts: impl IntoIterator<Item = Reaction>) {
        self.script.lock().unwrap().extend(acts);
    }

    /// The bodies of all requests so far.
    pub fn seen(&self) -> Vec<Value> {
        self.seen.borrow().clone()
    }

    /// The messages of one request, counted from 0.
    pub fn messages(&self, request: usize) -> Vec<Value> {
        self.seen()[request]["messages"].as_array().unwrap().clone()
    }

    /// The names of the tools that one request offered.
    pub fn offered(&self, request: usize) -> Vec<String> {
        let tools = self.seen()[request]["tools"].clone();
        let tools = tools.as_array().cloned().unwrap_or_default();
        let name = |tool: &Value| tool["function"]["name"].as_str().unwrap().to_owned();
        tools.iter().map(name).collect()
    }

    /// Waits until this many requests have arrived.
    pub async fn until(&self, requests: usize) {
        let mut seen = self.seen.subscribe();
        seen.wait_for(|seen| seen.len() >= requests).await.unwrap();
    }
}

async fn answer(State(model): State<FakeModel>, Json(body): Json<Value>) -> Response {
    assert_eq!(body["stream"], true);
    check_pairs(body["messages"].as_array().unwrap());
    check_tools(&body);
    check_ids(&body);
    if let Err(message) = check_pictures(&body) {
        let error = json!({ "message": message, "type": "invalid_request_error" });
        let body = Json(json!({ "error": error }));
        return (StatusCode::BAD_REQUEST, body).into_response();
    }
    let messages = body["messages"].as_array().unwrap().len();
    let reaction = model.script.lock().unwrap().pop_front();
    model.seen.send_modify(|seen| seen.push(body));
    match reaction.unwrap_or_else(|| say("ok")) {
        Reaction::Say(pieces) => whole(&pieces, &[], "stop"),
        Reaction::Call(text, calls) => whole(&[text], &calls, "tool_calls"),
        Reaction::CallThen(calls, reason) => whole(&[], &calls, &reason),
        Reaction::Finish(text, reason) => whole(&[text], &[], &reason),
        Reaction::Hang(text) => hanging(&text),
        Reaction::Break(text) => {
            let error = json!({ "error": { "message": "no", "type": "server_error" } });
            stream(&[piece(&text), error])
        }
        Reaction::Frames(frames) => stream(&frames),
        Reaction::Refuse(status, body) => {
            (StatusCode::from_u16(status).unwrap(), Json(body)).into_response()
        }
        Reaction::Gate(mut gate) => {
            gate.wait_for(|open| *open).await.unwrap();
            whole(&[format!("{messages} messages")], &[], "stop")
        }
    }
}

/// What `OpenAI` refuses (<https://platform.openai.com/docs/guides/images-vision>): pictures for a model that does
/// not read them, other formats than PNG, JPEG, WebP and GIF, and content that is not of the stated format.
fn check_pictures(body: &Value) -> Result<(), &'static str> {
    let messages = body["messages"].as_array().unwrap();
    for part in messages
        .iter()
        .filter_map(|m| m["content"].as_array())
        .flatten()
    {
        match part["type"].as_str() {
            Some("text") => {
                assert!(!part["text"].as_str().unwrap().is_empty());
                continue;
            }
            Some("image_url") => {}
            _ => return Err("Invalid value: 'type'."),
        }
        if body["model"] != SEEING {
            return Err("Invalid content type. image_url is only supported by certain models.");
        }
        let url = part["image_url"]["url"].as_str().unwrap();
        let data = url.strip_prefix("data:image/jpeg;base64,");
        let data = data.ok_or("You uploaded an unsupported image.")?;
        // A JPEG begins with these three bytes.
        if !data.starts_with("/9j/") || data.len() > 50 << 20 {
            return Err("You uploaded an unsupported image.");
        }
    }
    Ok(())
}

/// Real providers reject a request in which a call has no answer, or an answer no call.
fn check_pairs(messages: &[Value]) {
    let mut open: Vec<Value> = Vec::new();
    for message in messages {
        if message["role"] == "tool" {
            let id = &message["tool_call_id"];
            let place = open.iter().position(|call| call["id"] == *id);
            open.remove(place.unwrap_or_else(|| panic!("no call for {message}")));
        } else {
            assert!(open.is_empty(), "no answer to {open:?}");
            open = message["tool_calls"]
                .as_array()
                .cloned()
                .unwrap_or_default();
        }
    }
    assert!(open.is_empty(), "no answer to {open:?}");
}

/// Anthropic rejects an id that two calls have (<https://platform.claude.com/docs/en/api/messages>), and Mistral every
/// id that is not nine letters or digits (`mistral-common`, `validator.py`).
fn check_ids(body: &Value) {
    let mut seen = std::collections::HashSet::new();
    for message in body["messages"].as_array().unwrap() {
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let id = call["id"].as_str().unwrap().to_owned();
            if body["model"].as_str().unwrap().starts_with("mistral") {
                let is_plain = id.bytes().all(|byte| byte.is_ascii_alphanumeric());
                assert!(id.len() == 9 && is_plain, "{id}");
            }
            assert!(seen.insert(id), "{message}");
        }
    }
}

/// Vendors reject names that no tool can have.
fn check_tools(body: &Value) {
    for message in body["messages"].as_array().unwrap() {
        let calls = message["tool_calls"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        for call in calls {
            let name = call["function"]["name"].as_str().unwrap();
            let allowed = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
            assert!((1..=64).contains(&name.len()), "{name}");
            assert!(name.chars().all(allowed), "{name}");
        }
    }
}

fn piece(text: &str) -> Value {
    json!({ "choices": [{ "index": 0, "delta": { "content": text } }] })
}

fn event(value: &Value) -> String {
    format!("data: {value}\n\n")
}

fn stream(events: &[Value]) -> Response {
    let mut text: String = events.iter().map(event).collect();
    text.push_str("data: [DONE]\n\n");
    ([("content-type", "text/event-stream")], text).into_response()
}

fn whole(pieces: &[String], calls: &[(String, String)], reason: &str) -> Response {
    let mut events: Vec<Value> = pieces
        .iter()
        .filter(|text| !text.is_empty())
        .map(|text| piece(text))
        .collect();
    for (index, (name, arguments)) in calls.iter().enumerate() {
        // Real providers send the name first and the arguments in parts.
        let (first, second) = arguments.split_at(arguments.len() / 2);
        let call = json!({ "index": index, "id": format!("call_{index}"), "type": "function",
            "function": { "name": name, "arguments": first } });
        let more = json!({ "index": index, "function": { "arguments": second } });
        for call in [call, more] {
            events.push(json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [call] } }] }));
        }
    }
    events.push(json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] }));
    let usage = json!({ "prompt_tokens": 10, "completion_tokens": 3 });
    events.push(json!({ "choices": [], "usage": usage }));
    stream(&events)
}

fn hanging(text: &str) -> Response {
    let (pieces, body) = mpsc::channel::<Result<Bytes, Infallible>>(1);
    let first = event(&piece(text));
    #[expect(clippy::disallowed_methods, reason = "ends when the caller hangs up")]
    tokio::spawn(async move {
        drop(pieces.send(Ok(first.into())).await);
        pieces.closed().await;
    });
    let body = futures_util::stream::unfold(body, |mut body| async move {
        body.recv().await.map(|piece| (piece, body))
    });
    (
        [("content-type", "text/event-stream")],
        Body::from_stream(body),
    )
        .into_response()
}
