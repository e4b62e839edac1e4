//! Turns of agents when the process is killed.

use crate::process::{Installation, Server};
use gatehouse_doubles::openai::{FakeModel, Part, Reaction};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// More pieces than any test reads.
const ENDLESS: usize = 10_000;

/// A model that streams one `a` per permit.
struct EndlessModel {
    fake: FakeModel,
    permits: Arc<Semaphore>,
}

impl EndlessModel {
    async fn start() -> Self {
        let permits = Arc::new(Semaphore::new(0));
        let piece = [Part::Wait(Arc::clone(&permits)), Part::text("a")];
        let parts = vec![piece; ENDLESS].concat();
        let answer = move |_: &Value| Reaction::Parts(parts.clone(), "stop".to_owned());
        Self {
            fake: FakeModel::answering(answer).await,
            permits,
        }
    }

    fn installation(&self) -> Installation {
        let mut installation = Installation::new();
        installation.model(&self.fake.url);
        installation.env("SERVICE_WEBHOOKS__MAX_ATTEMPTS", "2");
        installation
    }

    /// Sends pieces until this many have arrived in a session.
    async fn stream(&self, server: &Server, session: &Value, pieces: usize) {
        loop {
            self.permits.add_permits(1);
            let history = history(server, session).await;
            let text = history["running"]["text"].as_str().unwrap_or_default();
            if text.len() >= pieces {
                return;
            }
        }
    }
}

async fn history(server: &Server, session: &Value) -> Value {
    let reply = server.rpc("", "chat.history", json!({ "session": session }));
    reply.await["result"].clone()
}

/// Polls until the newest delivery satisfies a condition, and returns the delivery.
async fn delivery(server: &Server, is_it: impl Fn(&Value) -> bool) -> Value {
    loop {
        let page = server.rpc("", "webhooks.deliveries", json!({})).await;
        let newest = &page["result"]["deliveries"][0];
        if is_it(newest) {
            return newest.clone();
        }
    }
}

#[tokio::test]
async fn after_a_kill_the_history_says_interrupted_and_keeps_the_text_so_far() {
    let model = EndlessModel::start().await;
    let installation = model.installation();
    let server = installation.start();
    let sent = server
        .rpc("", "chat.send", json!({ "text": "Count." }))
        .await;
    let session = sent["result"]["session"].clone();
    let waits = json!({ "session": session, "text": "And then?" });
    server.rpc("", "chat.send", waits).await;
    model.stream(&server, &session, 50).await;
    server.kill();

    let server = installation.start();
    let history = history(&server, &session).await;
    assert!(history["running"].is_null(), "{history}");
    let messages = history["messages"].as_array().unwrap();
    let ends: Vec<_> = messages
        .iter()
        .map(|message| (&message["role"], &message["stop"]))
        .collect();
    let interrupted = json!("interrupted");
    let (user, assistant) = (json!("user"), json!("assistant"));
    assert_eq!(
        ends,
        [
            (&user, &Value::Null),
            (&assistant, &interrupted),
            (&user, &Value::Null),
            (&assistant, &interrupted),
        ]
    );
    let text = messages[1]["content"].as_str().unwrap();
    assert!(text.starts_with('a'), "{text}");
    assert_eq!(messages[3]["content"], "");
}

#[tokio::test]
async fn a_delivery_that_runs_again_after_a_kill_stands_once_in_its_session() {
    let model = EndlessModel::start().await;
    let installation = model.installation();
    let server = installation.start();
    let new = json!({ "name": "Events" });
    let webhook = server.rpc("", "webhooks.create", new).await["result"].clone();
    let test = json!({ "id": webhook["id"] });
    server.rpc("", "webhooks.test", test).await;
    let found = delivery(&server, |it| it["status"] == "processing").await;
    let public_id = webhook["public_id"].as_str().unwrap();
    let key = json!(format!(
        "webhook:{public_id}:{}",
        found["id"].as_str().unwrap()
    ));
    model.stream(&server, &key, 50).await;
    server.kill();

    let server = installation.start();
    // The second attempt is the last one. It ends with the process.
    model.fake.until(2).await;
    let history = history(&server, &key).await;
    let messages = history["messages"].as_array().unwrap();
    let roles: Vec<_> = messages.iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, [&json!("user"), &json!("assistant")], "{history}");
    assert_eq!(messages[1]["stop"], "interrupted");
    assert_eq!(history["running"]["turn_id"], messages[0]["turn_id"]);
}
