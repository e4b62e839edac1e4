//! A scripted model provider for streaming chat completions. Format:
//! <https://platform.openai.com/docs/api-reference/chat-streaming>.

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::sync::{Semaphore, watch};
use url::Url;

#[derive(Clone, Debug)]
pub enum Answer {
    Text(&'static str),
    /// Calls this tool with these arguments, then answers "done".
    Call(&'static str, Value),
    /// Sends this delta and this finish reason.
    Finish(Value, &'static str),
    Refuse,
    /// Refuses with 429 and this `Retry-After`, as `OpenAI` and Anthropic do.
    Busy(&'static str),
}

#[derive(Debug)]
struct Shared {
    answer: Mutex<Answer>,
    asked: watch::Sender<Vec<Value>>,
    /// Answers take one permit each while they are held back.
    gate: Semaphore,
}

#[derive(Clone, Debug)]
pub struct FakeModel {
    pub base_url: Url,
    shared: Arc<Shared>,
}

/// More permits than any test uses.
const OPEN: usize = 1_000_000;

impl FakeModel {
    pub async fn start() -> Self {
        let shared = Arc::new(Shared {
            answer: Mutex::new(Answer::Text("done")),
            asked: watch::Sender::new(Vec::new()),
            gate: Semaphore::new(OPEN),
        });
        let app = Router::new()
            .route("/v1/chat/completions", post(complete))
            .with_state(Arc::clone(&shared));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio_util::task::TaskTracker::new().spawn(async move {
            axum::serve(listener, app).await.unwrap();
        });
        Self {
            base_url: format!("http://{address}/v1").parse().unwrap(),
            shared,
        }
    }

    pub fn answer(&self, answer: Answer) {
        *self.shared.answer.lock().unwrap() = answer;
    }

    /// Makes each further answer wait for [`FakeModel::let_go`].
    pub fn hold(&self) {
        self.shared.gate.forget_permits(OPEN);
    }

    pub fn let_go(&self, answers: usize) {
        self.shared.gate.add_permits(answers);
    }

    pub fn asked(&self) -> Vec<Value> {
        self.shared.asked.borrow().clone()
    }

    /// Waits until this many requests have been made in total.
    pub async fn until_asked(&self, count: usize) {
        let mut asked = self.shared.asked.subscribe();
        let wait = asked.wait_for(|all| all.len() >= count);
        let waited = tokio::time::timeout(std::time::Duration::from_secs(20), wait).await;
        assert!(
            waited.is_ok(),
            "the model was asked {} times",
            self.asked().len()
        );
    }
}

/// The last user message in a request.
pub fn last_text(request: &Value) -> String {
    let messages = request["messages"].as_array().unwrap();
    let last = messages.iter().rfind(|message| message["role"] == "user");
    last.unwrap()["content"].as_str().unwrap().to_owned()
}

fn frame(delta: &Value, finish: Option<&str>) -> String {
    let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
    format!("data: {}\n\n", json!({ "id": "c", "choices": [choice] }))
}

async fn complete(State(shared): State<Arc<Shared>>, body: String) -> Response {
    let request: Value = serde_json::from_str(&body).unwrap();
    let has_result = request["messages"]
        .as_array()
        .unwrap()
        .last()
        .is_some_and(|message| message["role"] == "tool");
    shared.asked.send_modify(|all| all.push(request));
    shared.gate.acquire().await.unwrap().forget();
    let answer = shared.answer.lock().unwrap().clone();
    let (delta, finish) = match answer {
        Answer::Refuse => {
            let error = json!({ "error": { "message": "no", "type": "invalid_request_error" } });
            return (StatusCode::BAD_REQUEST, error.to_string()).into_response();
        }
        Answer::Busy(seconds) => {
            let error = json!({ "error": { "message": "Rate limit reached", "type": "requests",
                "code": "rate_limit_exceeded" } });
            let headers = [("retry-after", seconds)];
            return (StatusCode::TOO_MANY_REQUESTS, headers, error.to_string()).into_response();
        }
        Answer::Call(tool, arguments) if !has_result => (
            json!({ "tool_calls": [{ "index": 0, "id": "call_1", "type": "function",
                "function": { "name": tool, "arguments": arguments.to_string() } }] }),
            "tool_calls",
        ),
        Answer::Call(..) => (json!({ "content": "done" }), "stop"),
        Answer::Finish(delta, reason) => (delta, reason),
        Answer::Text(text) => (json!({ "content": text }), "stop"),
    };
    let usage = json!({ "id": "c", "choices": [], "usage":
        { "prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12 } });
    let stream = [
        frame(&json!({ "role": "assistant", "content": "" }), None),
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
