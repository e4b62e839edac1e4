//! Turns of agents when the process is killed.

use crate::process::{Installation, Server};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::IntoResponse;
use axum::routing::post;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Semaphore;

/// A model that streams one `a` per permit and never ends.
#[derive(Clone)]
struct EndlessModel {
    url: String,
    permits: Arc<Semaphore>,
    asked: Arc<AtomicUsize>,
}

async fn answer(State(model): State<EndlessModel>) -> impl IntoResponse {
    model.asked.fetch_add(1, Ordering::SeqCst);
    let pieces = futures_util::stream::unfold(model.permits, |permits| async move {
        permits.acquire().await.unwrap().forget();
        let piece = json!({ "choices": [{ "index": 0, "delta": { "content": "a" } }] });
        let bytes = Bytes::from(format!("data: {piece}\n\n"));
        Some((Ok::<_, Infallible>(bytes), permits))
    });
    let kind = [("content-type", "text/event-stream")];
    (kind, Body::from_stream(pieces))
}

impl EndlessModel {
    async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let model = Self {
            url: format!("http://{}/v1", listener.local_addr().unwrap()),
            permits: Arc::new(Semaphore::new(0)),
            asked: Arc::default(),
        };
        let router = Router::new()
            .route("/v1/chat/completions", post(answer))
            .with_state(model.clone());
        #[expect(clippy::disallowed_methods, reason = "ends with the test's runtime")]
        tokio::spawn(async move { axum::serve(listener, router).await });
        model
    }

    fn installation(&self) -> Installation {
        let mut installation = Installation::new();
        installation.env("SERVICE_MODELS__PROVIDERS__FAKE__BASE_URL", &self.url);
        installation.env("SERVICE_MODELS__PROVIDERS__FAKE__API_KEY", "sk-test");
        installation.env("SERVICE_MODELS__DEFAULT", "fake/m1");
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

/// Polls until the newest delivery satisfies a condition; returns it.
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
    while model.asked.load(Ordering::SeqCst) < 2 {
        delivery(&server, |_| true).await;
    }
    let history = history(&server, &key).await;
    let messages = history["messages"].as_array().unwrap();
    let roles: Vec<_> = messages.iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, [&json!("user"), &json!("assistant")], "{history}");
    assert_eq!(messages[1]["stop"], "interrupted");
    assert_eq!(history["running"]["turn_id"], messages[0]["turn_id"]);
}
