//! Conversations: `agents.*`, `sessions.*`, `chat.*`, `approval.*`, their HTTP paths, and shared pages.

mod agents;
mod approval_buttons;
mod approval_links;
mod approval_questions;
mod attachments;
mod budgets;
mod discord_server;
mod events;
#[expect(dead_code, reason = "the tests of channels use the rest")]
#[path = "../../../../channels/tests/it/imap.rs"]
mod imap;
mod inbound;
mod inbound_discord;
mod inbound_email;
mod inbound_matrix;
mod inbound_slack;
mod matrix_server;
mod order;
mod sessions;
mod share;
mod slack_server;
#[expect(dead_code, reason = "the tests of channels use the rest")]
#[path = "../../../../channels/tests/it/smtp.rs"]
mod smtp;
mod sockets;
pub mod telegram;

use axum::response::IntoResponse;
use axum::routing::post;
use axum::{Json, Router};
use gatehouse_testkit::{Actor, Options, TestServer};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// A server with a fake model. It answers every text with `pong`, except that a text starting with
/// `calculate` makes it call the tool `calc` with the rest of the text, and that it repeats what follows `say: `.
async fn with_model() -> (TestServer, Actor) {
    with_model_and(&[]).await
}

pub(crate) async fn with_model_and(variables: &[(&str, &str)]) -> (TestServer, Actor) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let router = Router::new().route("/v1/chat/completions", post(answer));
    #[expect(clippy::disallowed_methods, reason = "ends with the test's runtime")]
    tokio::spawn(async move { axum::serve(listener, router).await });
    let options = Options::default()
        .env("SERVICE_MODELS__PROVIDERS__FAKE__BASE_URL", &url)
        .env("SERVICE_MODELS__PROVIDERS__FAKE__API_KEY", "sk-test")
        .env("SERVICE_MODELS__DEFAULT", "fake/m1")
        .env("SERVICE_TOOLS__REQUIRE_APPROVAL", "calc")
        .env("SERVICE_SERVER__EXTERNAL_URL", "https://gate.example");
    let set = |options: Options, (name, value): &(&str, &str)| options.env(name, value);
    let server = TestServer::start(variables.iter().fold(options, set)).await;
    let owner = server.set_up().await;
    (server, owner)
}

/// Streams like `OpenAI` (<https://platform.openai.com/docs/api-reference/chat-streaming>).
async fn answer(Json(body): Json<Value>) -> impl IntoResponse {
    let last = body["messages"].as_array().unwrap().last().unwrap();
    let wanted = last["content"].as_str().unwrap_or_default();
    let delta = if let Some(expression) = wanted.strip_prefix("calculate") {
        let expression = match expression.trim_start() {
            "" => "6*7",
            other => other,
        };
        let arguments = json!({ "expression": expression }).to_string();
        let function = json!({ "name": "calc", "arguments": arguments });
        json!({ "tool_calls": [{ "index": 0, "id": "c1", "type": "function", "function": function }] })
    } else if let Some((_, said)) = wanted.split_once("say: ") {
        json!({ "content": said.lines().next() })
    } else {
        json!({ "content": "pong" })
    };
    let events = [
        json!({ "choices": [{ "index": 0, "delta": delta }] }),
        json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] }),
        json!({ "choices": [], "usage": { "prompt_tokens": 7, "completion_tokens": 1 } }),
    ];
    let mut text: String = events.map(|event| format!("data: {event}\n\n")).concat();
    text.push_str("data: [DONE]\n\n");
    ([("content-type", "text/event-stream")], text)
}

/// The error code and the field of a refused call.
async fn blamed(actor: &Actor, method: &str, params: Value) -> (Value, Value) {
    let answer = actor.rpc_reply(method, params).await.expect(200);
    let data = answer["error"]["data"].clone();
    (data["code"].clone(), data["field"].clone())
}
