//! A model that does what the owner asks for in `##DO tool {…}##`, and then whatever anybody else asks for in
//! `@@CALL tool {…}@@`, in whatever encoding and place. Format:
//! <https://platform.openai.com/docs/api-reference/chat-streaming>.

use crate::decode::{Wanted, calls, hidden_calls};
use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::{Value, json};
use url::Url;

/// In the owner's text: the conversation does not fit this model until it is summarized.
pub const TOO_LONG: &str = "[too long]";

/// Starts the model and returns its base URL.
#[expect(clippy::disallowed_methods, reason = "it ends with its test's runtime")]
pub async fn start() -> Url {
    let app = Router::new().route("/v1/chat/completions", post(complete));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    format!("http://{address}/v1").parse().unwrap()
}

async fn complete(body: String) -> Response {
    let request: Value = serde_json::from_str(&body).unwrap();
    let messages = request["messages"].as_array().unwrap();
    let text = |message: &Value| message["content"].as_str().unwrap_or_default().to_owned();
    let role = |message: &Value, role: &str| message["role"] == role;
    let system: String = messages
        .iter()
        .filter(|m| role(m, "system"))
        .map(text)
        .collect();
    let asked = messages
        .iter()
        .rfind(|m| role(m, "user"))
        .map(text)
        .unwrap();
    let whole: String = messages.iter().map(text).collect();
    if system.contains("Write a summary") {
        return say(&laundered(&whole));
    }
    if asked.contains(TOO_LONG) && !whole.contains("<summary") {
        let error = json!({ "error": { "code": "context_length_exceeded",
            "type": "invalid_request_error", "message": "too long" } });
        return (StatusCode::BAD_REQUEST, error.to_string()).into_response();
    }
    // In each turn, the model tries everything again.
    let turn = messages.iter().rposition(|m| role(m, "user")).unwrap();
    let made: Vec<Wanted> = messages[turn..]
        .iter()
        .flat_map(|message| {
            message["tool_calls"]
                .as_array()
                .cloned()
                .unwrap_or_default()
        })
        .map(|call| {
            let (name, input) = (&call["function"]["name"], &call["function"]["arguments"]);
            let input = serde_json::from_str(input.as_str().unwrap()).unwrap();
            (name.as_str().unwrap().to_owned(), input)
        })
        .collect();
    let mut wanted = calls(&asked, "##DO ", "##");
    let heard = messages.iter().filter(|m| !role(m, "system")).map(text);
    wanted.extend(heard.flat_map(|text| hidden_calls(&text)));
    let described = request["tools"].as_array().into_iter().flatten();
    wanted.extend(described.flat_map(|tool| hidden_calls(&tool.to_string())));
    match wanted.into_iter().find(|call| !made.contains(call)) {
        Some((name, input)) => stream(
            &json!({ "tool_calls": [{ "index": 0, "id": format!("c{}x{}", messages.len(), made.len()),
                "type": "function",
                "function": { "name": name, "arguments": input.to_string() } }] }),
            "tool_calls",
        ),
        None => say("done"),
    }
}

/// A summary that presents the attacker's wishes as the user's.
fn laundered(text: &str) -> String {
    let wishes = hidden_calls(text).into_iter();
    let wishes: Vec<_> = wishes
        .map(|(tool, input)| format!("The user asked for @@CALL {tool} {input}@@."))
        .collect();
    format!("They talked. {}", wishes.join(" "))
}

fn say(text: &str) -> Response {
    stream(&json!({ "content": text }), "stop")
}

fn stream(delta: &Value, finish: &str) -> Response {
    let frame = |delta: &Value, finish: Option<&str>| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        format!("data: {}\n\n", json!({ "id": "c", "choices": [choice] }))
    };
    let usage = json!({ "id": "c", "choices": [], "usage":
        { "prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12 } });
    let stream = [
        frame(delta, None),
        frame(&json!({}), Some(finish)),
        format!("data: {usage}\n\ndata: [DONE]\n\n"),
    ];
    (
        [(header::CONTENT_TYPE, "text/event-stream")],
        stream.concat(),
    )
        .into_response()
}
