//! `/v1/chat/completions` and `/v1/models`, called like `OpenAI`'s API: a real server and a scripted model.

mod chat;
mod models;
mod refusals;
mod responses;

use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use gatehouse_testkit::{Actor, Options, Reply, TestServer};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;

const CHAT: &str = "/v1/chat/completions";

/// What the model does with one request.
enum Reaction {
    /// Sends this text in these pieces.
    Say(Vec<&'static str>),
    /// Calls these tools: names and arguments.
    Call(Vec<(&'static str, Value)>),
    /// Answers with this status and body.
    Refuse(u16, Value),
    /// Sends this text and breaks off.
    Break(&'static str),
    /// Sends this text and then nothing.
    Hang(&'static str),
}

#[derive(Clone, Default)]
struct Model {
    script: Arc<Mutex<VecDeque<Reaction>>>,
    seen: Arc<Mutex<Vec<Value>>>,
}

impl Model {
    /// Queues reactions. Without one, it says `pong`.
    fn will(&self, reactions: impl IntoIterator<Item = Reaction>) {
        self.script.lock().unwrap().extend(reactions);
    }

    fn seen(&self) -> Vec<Value> {
        self.seen.lock().unwrap().clone()
    }

    fn last(&self) -> Value {
        self.seen().pop().unwrap()
    }
}

fn frames(deltas: Vec<Value>, reason: &str) -> String {
    let mut events: Vec<Value> = deltas
        .into_iter()
        .map(|delta| json!({ "choices": [{ "index": 0, "delta": delta }] }))
        .collect();
    events.push(json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] }));
    events.push(json!({ "choices": [], "usage": { "prompt_tokens": 10, "completion_tokens": 3 } }));
    let mut text = String::new();
    for event in events {
        let _ = write!(text, "data: {event}\n\n");
    }
    text + "data: [DONE]\n\n"
}

/// Streams like `OpenAI` (<https://platform.openai.com/docs/api-reference/chat-streaming>).
async fn answer(State(model): State<Model>, Json(body): Json<Value>) -> Response {
    model.seen.lock().unwrap().push(body);
    let reaction = model.script.lock().unwrap().pop_front();
    let said = |pieces: &[&str]| {
        pieces
            .iter()
            .map(|piece| json!({ "content": piece }))
            .collect()
    };
    let events = [("content-type", "text/event-stream")];
    match reaction.unwrap_or(Reaction::Say(vec!["pong"])) {
        Reaction::Say(pieces) => (events, frames(said(&pieces), "stop")).into_response(),
        Reaction::Call(calls) => {
            let call = |(index, (name, arguments)): (usize, (&str, Value))| {
                let function = json!({ "name": name, "arguments": arguments.to_string() });
                json!({ "tool_calls": [{ "index": index, "id": format!("call_{index}"),
                    "type": "function", "function": function }] })
            };
            let calls = calls.into_iter().enumerate().map(call).collect();
            (events, frames(calls, "tool_calls")).into_response()
        }
        Reaction::Refuse(status, body) => {
            (StatusCode::from_u16(status).unwrap(), Json(body)).into_response()
        }
        Reaction::Break(text) => {
            let delta = json!({ "choices": [{ "index": 0, "delta": { "content": text } }] });
            let error = json!({ "error": { "message": "no", "type": "server_error" } });
            (events, format!("data: {delta}\n\ndata: {error}\n\n")).into_response()
        }
        Reaction::Hang(text) => {
            let delta = json!({ "choices": [{ "index": 0, "delta": { "content": text } }] });
            let first = futures_util::stream::iter([Ok::<_, std::convert::Infallible>(format!(
                "data: {delta}\n\n"
            ))]);
            let rest = futures_util::StreamExt::chain(first, futures_util::stream::pending());
            (events, Body::from_stream(rest)).into_response()
        }
    }
}

struct Harness {
    server: TestServer,
    owner: Actor,
    model: Model,
    /// A program with an API key.
    client: Actor,
}

impl Harness {
    async fn new() -> Self {
        let model = Model::default();
        let models = json!({ "object": "list", "data": [{ "id": "m1" }, { "id": "lab/m2" }] });
        let router = Router::new()
            .route("/v1/chat/completions", post(answer))
            .route("/v1/models", get(async move || Json(models.clone())))
            .with_state(model.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        #[expect(clippy::disallowed_methods, reason = "ends with the test's runtime")]
        tokio::spawn(async move { axum::serve(listener, router).await });
        let options = Options::default()
            .env("SERVICE_MODELS__PROVIDERS__FAKE__BASE_URL", &url)
            .env("SERVICE_MODELS__PROVIDERS__FAKE__API_KEY", "sk-test")
            .env("SERVICE_MODELS__DEFAULT", "fake/m1");
        let server = TestServer::start(options).await;
        let owner = server.set_up().await;
        let scopes = ["operator.read", "operator.write"];
        let client = server.api_key(&owner, &scopes).await;
        Self {
            server,
            owner,
            model,
            client,
        }
    }

    /// Sends a conversation of one text.
    async fn ask(&self, model: &str, text: &str) -> Reply {
        let messages = json!([{ "role": "user", "content": text }]);
        self.client
            .post(CHAT, json!({ "model": model, "messages": messages }))
            .await
    }

    /// The rows of `usage.stats`.
    async fn usage(&self, by: &str) -> Vec<Value> {
        let stats = self.owner.rpc("usage.stats", json!({ "by": by })).await;
        stats.unwrap()["rows"].as_array().unwrap().clone()
    }

    /// The sessions that are kept.
    async fn sessions(&self) -> Value {
        self.owner.get("/api/sessions").await.expect(200)["sessions"].clone()
    }
}

/// The data of the events of a streamed response; `[DONE]` is a string.
fn events(reply: &Reply) -> Vec<Value> {
    assert_eq!(reply.status.as_u16(), 200, "{}", reply.text);
    assert_eq!(reply.header("content-type"), Some("text/event-stream"));
    let lines = reply
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    lines
        .map(|data| serde_json::from_str(data).unwrap_or_else(|_| json!(data)))
        .collect()
}
