//! `/v1/chat/completions` and `/v1/models`, called like `OpenAI`'s API: a real server and a scripted model.

mod chat;
mod models;
mod refusals;
mod responses;

use gatehouse_doubles::openai::{FakeModel, say};
use gatehouse_testkit::{Actor, Options, Reply, TestServer};
use serde_json::{Value, json};

const CHAT: &str = "/v1/chat/completions";

struct Harness {
    server: TestServer,
    owner: Actor,
    model: FakeModel,
    /// A program with an API key.
    client: Actor,
}

impl Harness {
    async fn new() -> Self {
        Self::with(Options::default()).await
    }

    async fn with(options: Options) -> Self {
        let model = FakeModel::answering(|_| say("pong")).await;
        model.list(&["m1", "lab/m2"]);
        let options = options.model(&model.url, "m1");
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

    /// Returns the rows of `usage.stats`.
    async fn usage(&self, by: &str) -> Vec<Value> {
        let stats = self.owner.rpc("usage.stats", json!({ "by": by })).await;
        stats.unwrap()["rows"].as_array().unwrap().clone()
    }

    /// Returns the sessions that are kept.
    async fn sessions(&self) -> Value {
        self.owner.get("/api/sessions").await.expect(200)["sessions"].clone()
    }
}

/// Returns the data of the events of a streamed response; `[DONE]` is a string.
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
