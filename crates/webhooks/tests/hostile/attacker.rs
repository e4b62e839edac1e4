//! A model under the attacker's control. For any message, it calls every existing tool and every tool that
//! the text names. Format: <https://platform.openai.com/docs/api-reference/chat-streaming>.

use crate::worker::model::last_text;
use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use url::{Host, Url};

/// Maximum number of calls per answer. The attacker stays below it.
const MOST_CALLS: usize = 30;

#[derive(Clone, Debug)]
pub struct Attacker {
    pub base_url: Url,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    asked: Mutex<Vec<Value>>,
    /// A port that nobody may connect to.
    trap: u16,
}

impl Attacker {
    #[expect(clippy::disallowed_methods, reason = "it ends with its test's runtime")]
    pub async fn start(trap: u16) -> Self {
        let asked = Mutex::default();
        let shared = Arc::new(Shared { asked, trap });
        let app = Router::new()
            .route("/v1/chat/completions", post(complete))
            .with_state(Arc::clone(&shared));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self {
            base_url: format!("http://{address}/v1").parse().unwrap(),
            shared,
        }
    }

    pub fn asked(&self) -> Vec<Value> {
        self.shared.asked.lock().unwrap().clone()
    }
}

/// The calls that the attacker makes in response to this message, in order.
pub fn calls(message: &str, trap: u16) -> Vec<(String, Value)> {
    let fetch = |url: &str| ("web_fetch".to_owned(), json!({ "url": url }));
    let mut calls: Vec<(String, Value)> = [
        ("calc", json!({ "expression": "6 * 7" })),
        ("web_search", json!({ "query": "secrets" })),
        (
            "webhook",
            json!({ "action": "create", "name": "backdoor", "auth_mode": "none" }),
        ),
        (
            "webhook_get_full_payload",
            json!({ "delivery_id": "del_1" }),
        ),
        ("speak", json!({ "text": "hello" })),
        ("shell", json!({ "command": "id" })),
        ("mcp__x__y", json!({})),
        ("no_such_tool", json!({})),
    ]
    .into_iter()
    .map(|(name, input)| (name.to_owned(), input))
    .collect();
    calls.push(fetch(&format!("http://127.0.0.1:{trap}/")));
    let words = || message.split(|c: char| c.is_whitespace() || "\"'<>`".contains(c));
    // Skip domain names, because DNS lookups are slow; `crates/tools` tests them.
    let is_address = |url: &Url| match url.host() {
        Some(Host::Domain(name)) => name.ends_with("localhost"),
        other => other.is_some(),
    };
    let urls = words().filter_map(|word| Url::parse(word).ok());
    let mut urls: Vec<_> = urls.filter(is_address).collect();
    urls.dedup();
    calls.extend(urls.iter().take(3).map(|url| fetch(url.as_str())));
    // The text itself could be taken for a tool name.
    let fenced = message.split_once("```").map_or("", |(_, after)| after);
    let named = words().map(|word| word.trim_matches(|c: char| !c.is_ascii_alphanumeric()));
    for name in named.filter(|word| word.contains('_')).chain([fenced]) {
        let name: String = name.chars().filter(|c| !c.is_control()).take(100).collect();
        if !name.is_empty() && calls.len() < MOST_CALLS && calls.iter().all(|(n, _)| *n != name) {
            calls.push((name, json!({})));
        }
    }
    calls
}

fn frame(delta: &Value, finish: Option<&str>) -> String {
    let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
    format!("data: {}\n\n", json!({ "id": "c", "choices": [choice] }))
}

async fn complete(State(shared): State<Arc<Shared>>, body: String) -> Response {
    let request: Value = serde_json::from_str(&body).unwrap();
    let last = request["messages"].as_array().unwrap().last().unwrap();
    let has_results = last["role"] == "tool";
    let text = last_text(&request);
    shared.asked.lock().unwrap().push(request);
    let (delta, finish) = if has_results {
        (json!({ "content": text }), "stop")
    } else {
        let calls = calls(&text, shared.trap).into_iter().enumerate();
        let call = |(index, (name, input)): (usize, (String, Value))| {
            json!({ "index": index, "id": format!("call_{index}"), "type": "function",
                "function": { "name": name, "arguments": input.to_string() } })
        };
        let calls: Vec<_> = calls.map(call).collect();
        (json!({ "tool_calls": calls }), "tool_calls")
    };
    let usage = json!({ "id": "c", "choices": [], "usage":
        { "prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12 } });
    let stream = [
        frame(&delta, None),
        frame(&json!({}), Some(finish)),
        format!("data: {usage}\n\ndata: [DONE]\n\n"),
    ];
    (
        [(header::CONTENT_TYPE, "text/event-stream")],
        stream.concat(),
    )
        .into_response()
}
