//! Pictures that `web_fetch` returns, in conversations and in the turns of deliveries.

use super::attachments::png;
use crate::steps::light_owner;
use crate::webhooks::{made, send, until};
use axum::Router;
use axum::http::header;
use axum::routing::get;
use gatehouse_doubles::openai::{FakeModel, call, say};
use gatehouse_testkit::{Actor, Options, TestServer};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::net::TcpListener;

/// The URL of a picture.
async fn picture() -> String {
    let answer = async || ([(header::CONTENT_TYPE, "image/png")], png());
    let router = Router::new().route("/dot.png", get(answer));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/dot.png", listener.local_addr().unwrap());
    #[expect(clippy::disallowed_methods, reason = "ends with the test's runtime")]
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

async fn with_seeing_model() -> (FakeModel, TestServer, Actor) {
    let model = FakeModel::start().await;
    let options = Options::default()
        .model(&model.url, "gpt-4o")
        .env("SERVICE_NETWORK__ALLOW_PRIVATE", "true");
    let (server, owner) = light_owner(options).await;
    (model, server, owner)
}

/// The messages of the latest request from the tool's answer on.
fn answered(model: &FakeModel) -> Vec<Value> {
    let messages = model.last()["messages"].as_array().unwrap().clone();
    let answer = messages.iter().rposition(|it| it["role"] == "tool");
    messages[answer.unwrap()..].to_vec()
}

/// Asserts that the model received the description of the picture, and the picture as JPEG.
fn assert_shown(model: &FakeModel) {
    let messages = answered(model);
    let [answer, shown] = &messages[..] else {
        panic!("{messages:?}")
    };
    let answer = answer["content"].as_str().unwrap();
    assert!(
        answer.contains("This is a picture: image/png, 1 × 1 pixels"),
        "{answer}"
    );
    let picture = shown["content"][0]["image_url"]["url"].as_str().unwrap();
    assert!(
        picture.starts_with("data:image/jpeg;base64,/9j/"),
        "{shown}"
    );
    let text = shown["content"][1]["text"].as_str().unwrap();
    assert!(
        text.ends_with("[Returned by the tool web_fetch.]"),
        "{text}"
    );
}

#[tokio::test]
async fn a_fetched_picture_is_shown_to_a_model_that_sees_and_described_to_another() {
    let (model, _server, owner) = with_seeing_model().await;
    let url = picture().await;
    model.will([call("web_fetch", &json!({ "url": url })), say("A dot.")]);
    let asked = json!({ "text": "Look." });
    let answer = owner.rpc("chat.send_sync", asked).await.unwrap();
    assert_eq!(answer["text"], "A dot.", "{answer}");
    assert_shown(&model);
    let session = json!({ "session": answer["session"] });
    let history = owner.rpc("chat.history", session).await.unwrap();
    let file = &history["messages"][2]["attachments"][0];
    assert_eq!(
        file,
        &json!({
            "id": file["id"], "name": "dot.png", "type": "image/png", "size": png().len(), "width": 1, "height": 1,
        })
    );

    model.will([call("web_fetch", &json!({ "url": url })), say("A file.")]);
    let asked = json!({ "text": "Look.", "model": "fake/gpt-4" });
    let answer = owner.rpc("chat.send_sync", asked).await.unwrap();
    assert_eq!(answer["text"], "A file.", "{answer}");
    let messages = answered(&model);
    assert_eq!(messages.len(), 1, "{messages:?}");
    let answer = messages[0]["content"].as_str().unwrap();
    let described = format!(
        "This is a picture: image/png, 1 × 1 pixels, {} bytes.",
        png().len()
    );
    assert!(answer.contains(&described), "{answer}");
}

#[tokio::test]
async fn an_agent_sees_the_picture_behind_a_link_in_a_delivery() {
    let (model, server, owner) = with_seeing_model().await;
    let url = picture().await;
    let members = json!({ "auth_mode": "none", "deliver_only": false, "deliver_to": null,
        "toolPolicy": { "allow": ["web_fetch"] } });
    let hook = made(&owner, members).await;
    model.will([call("web_fetch", &json!({ "url": url })), say("A dot.")]);
    let body = json!({ "picture": url }).to_string();
    let sent = send(&server.remote(), &hook.path(), &[], body).await;
    sent.expect(202);
    let completed = async {
        loop {
            let all = until(&owner, &hook, 1).await;
            assert_ne!(all[0]["status"], "failed", "{all:?}");
            if all[0]["status"] == "completed" {
                return;
            }
        }
    };
    let completed = tokio::time::timeout(Duration::from_secs(20), completed);
    completed.await.unwrap();
    assert_shown(&model);
}
