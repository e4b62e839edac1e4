//! A model provider with `OpenAI`'s API for chat completions. It streams each answer
//! (<https://platform.openai.com/docs/api-reference/chat-streaming>); errors follow
//! <https://platform.openai.com/docs/guides/error-codes>.

mod checks;
mod reaction;
mod stream;

pub use checks::SEEING;
pub use reaction::{Reaction, busy, call, calls, refuse, say, says, too_long};
pub use stream::Part;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use url::Url;

/// More permits than any test uses.
const OPEN: usize = 1_000_000;

type Answer = Arc<dyn Fn(&Value) -> Reaction + Send + Sync>;

/// The server. Clones share one server. It ends with the runtime of the test.
#[derive(Clone)]
pub struct FakeModel {
    /// The base URL to configure, which ends with `/v1`.
    pub url: Url,
    shared: Arc<Shared>,
}

struct Shared {
    script: Mutex<VecDeque<Reaction>>,
    answer: Mutex<Answer>,
    models: Mutex<Option<Value>>,
    seen: watch::Sender<Vec<Value>>,
    /// Each answer takes one permit while answers are held back.
    gate: Semaphore,
}

impl fmt::Debug for FakeModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FakeModel")
            .field("url", &self.url.as_str())
            .finish_non_exhaustive()
    }
}

impl FakeModel {
    /// Starts a model that answers "ok".
    pub async fn start() -> Self {
        Self::answering(|_| say("ok")).await
    }

    /// Starts a model whose reaction depends on the request.
    pub async fn answering(answer: impl Fn(&Value) -> Reaction + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let model = Self {
            url: format!("http://{address}/v1").parse().unwrap(),
            shared: Arc::new(Shared {
                script: Mutex::default(),
                answer: Mutex::new(Arc::new(answer)),
                models: Mutex::default(),
                seen: watch::Sender::new(Vec::new()),
                gate: Semaphore::new(OPEN),
            }),
        };
        let router = Router::new()
            .route("/v1/chat/completions", post(complete))
            .route("/v1/models", get(list))
            .with_state(model.clone());
        #[expect(clippy::disallowed_methods, reason = "ends with the test's runtime")]
        tokio::spawn(async move { axum::serve(listener, router).await });
        model
    }

    /// Queues reactions to the next requests. A queued reaction does not depend on the content of
    /// the request.
    pub fn will(&self, reactions: impl IntoIterator<Item = Reaction>) {
        self.shared.script.lock().unwrap().extend(reactions);
    }

    /// Changes the reaction to requests without a queued one.
    pub fn answer(&self, answer: impl Fn(&Value) -> Reaction + Send + Sync + 'static) {
        *self.shared.answer.lock().unwrap() = Arc::new(answer);
    }

    /// Lists these models. Until this call, the server has no model list.
    pub fn list(&self, models: &[&str]) {
        let models: Vec<Value> = models.iter().map(|id| json!({ "id": id })).collect();
        let list = json!({ "object": "list", "data": models });
        *self.shared.models.lock().unwrap() = Some(list);
    }

    /// Makes each further answer wait for [`FakeModel::release`].
    pub fn hold(&self) {
        self.shared.gate.forget_permits(OPEN);
    }

    /// Releases this many answers.
    pub fn release(&self, answers: usize) {
        self.shared.gate.add_permits(answers);
    }

    /// Returns the bodies of all requests that were not refused as malformed, in order.
    pub fn seen(&self) -> Vec<Value> {
        self.shared.seen.borrow().clone()
    }

    /// Returns the body of the latest request that was not refused as malformed.
    pub fn last(&self) -> Value {
        self.seen().pop().unwrap()
    }

    /// Returns the messages of one request, counted from 0.
    pub fn messages(&self, request: usize) -> Vec<Value> {
        self.seen()[request]["messages"].as_array().unwrap().clone()
    }

    /// Returns the names of the tools that one request offered.
    pub fn offered(&self, request: usize) -> Vec<String> {
        let tools = self.seen()[request]["tools"].clone();
        let tools = tools.as_array().cloned().unwrap_or_default();
        let name = |tool: &Value| tool["function"]["name"].as_str().unwrap().to_owned();
        tools.iter().map(name).collect()
    }

    /// Waits until this many requests have arrived.
    pub async fn until(&self, requests: usize) {
        let mut seen = self.shared.seen.subscribe();
        seen.wait_for(|seen| seen.len() >= requests).await.unwrap();
    }
}

/// Returns the text of the last message of the user in a request.
pub fn last_text(request: &Value) -> String {
    let messages = request["messages"].as_array().unwrap();
    let last = messages.iter().rfind(|message| message["role"] == "user");
    last.unwrap()["content"].as_str().unwrap().to_owned()
}

/// Returns whether a request ends with the result of a tool call.
pub fn has_result(request: &Value) -> bool {
    let messages = request["messages"].as_array().unwrap();
    messages.last().is_some_and(|last| last["role"] == "tool")
}

async fn list(State(model): State<FakeModel>) -> Response {
    let models = model.shared.models.lock().unwrap().clone();
    models.map_or_else(
        || StatusCode::NOT_FOUND.into_response(),
        |list| Json(list).into_response(),
    )
}

async fn complete(State(model): State<FakeModel>, Json(request): Json<Value>) -> Response {
    if let Err(message) = checks::check(&request) {
        return refuse(&message).respond(0).await;
    }
    let messages = request["messages"].as_array().map_or(0, Vec::len);
    let scripted = model.shared.script.lock().unwrap().pop_front();
    let answer = Arc::clone(&model.shared.answer.lock().unwrap());
    let reaction = scripted.unwrap_or_else(|| answer(&request));
    model.shared.seen.send_modify(|seen| seen.push(request));
    model.shared.gate.acquire().await.unwrap().forget();
    reaction.respond(messages).await
}
