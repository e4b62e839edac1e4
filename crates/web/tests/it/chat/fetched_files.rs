//! Pictures that `web_fetch` returns, in conversations and in the turns of deliveries, and files in the payloads of
//! deliveries.

use super::attachments::png;
use crate::steps::light_owner;
use crate::webhooks::{CreatedWebhook, made, send, until};
use axum::Router;
use axum::http::header;
use axum::routing::get;
use data_encoding::BASE64;
use gatehouse_doubles::openai::{FakeModel, call, say};
use gatehouse_testkit::{Actor, Options, TestServer};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::net::TcpListener;

/// Returns the URL of a picture.
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

/// Returns the messages of the latest request from the tool's answer on.
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

/// Returns a webhook for an agent, with these additional members.
async fn for_agent(owner: &Actor, more: &Value) -> CreatedWebhook {
    let mut members = json!({ "auth_mode": "none", "deliver_only": false, "deliver_to": null });
    let more = more.as_object().unwrap().clone();
    members.as_object_mut().unwrap().extend(more);
    made(owner, members).await
}

/// Sends a delivery and waits until the agent has processed it.
async fn deliver(server: &TestServer, owner: &Actor, hook: &CreatedWebhook, payload: &Value) {
    let sent = send(&server.remote(), &hook.path(), &[], payload.to_string()).await;
    sent.expect(202);
    let completed = async {
        loop {
            let all = until(owner, hook, 1).await;
            assert_ne!(all[0]["status"], "failed", "{all:?}");
            if all[0]["status"] == "completed" {
                return;
            }
        }
    };
    let completed = tokio::time::timeout(Duration::from_secs(20), completed);
    completed.await.unwrap();
}

#[tokio::test]
async fn an_agent_sees_the_picture_behind_a_link_in_a_delivery() {
    let (model, server, owner) = with_seeing_model().await;
    let url = picture().await;
    let policy = json!({ "toolPolicy": { "allow": ["web_fetch"] } });
    let hook = for_agent(&owner, &policy).await;
    model.will([call("web_fetch", &json!({ "url": url })), say("A dot.")]);
    deliver(&server, &owner, &hook, &json!({ "picture": url })).await;
    assert_shown(&model);
}

#[tokio::test]
async fn files_in_a_payload_are_shown_to_a_model_that_sees_and_described_to_another() {
    let (model, server, owner) = with_seeing_model().await;
    let url = picture().await;
    let picture = BASE64.encode(&png());
    let text = BASE64.encode("The total of the invoice is 42 euros and 17 cents.".as_bytes());
    let payload = json!({
        "photo": format!("data:image/png;base64,{picture}"),
        "note": { "file": format!("data:text/plain;base64,{text}") },
        "subject": "Receipt",
    });
    for (name, sees) in [("fake/gpt-4o", true), ("fake/gpt-4", false)] {
        // A pattern approves nothing in advance, so the files must not count as private.
        let more = json!({ "model": name, "toolPolicy": { "allow": ["web_*"] } });
        let hook = for_agent(&owner, &more).await;
        model.will([call("web_fetch", &json!({ "url": url })), say("done")]);
        deliver(&server, &owner, &hook, &payload).await;
        let messages = model.last()["messages"].as_array().unwrap().clone();
        let content = &messages.iter().find(|it| it["role"] == "user").unwrap()["content"];
        let said = if sees {
            let shown = content[0]["image_url"]["url"].as_str().unwrap();
            assert!(shown.starts_with("data:image/jpeg;base64,/9j/"), "{shown}");
            content[1]["text"].as_str().unwrap()
        } else {
            content.as_str().unwrap()
        };
        for expected in [
            "name: picture-1.png\ntype: image/png, 1 × 1 pixels\n",
            "name: file-2\ntype: text/plain, 50 bytes\nThe total of the invoice is 42 euros",
            "photo: [picture 1: image/png, 1 × 1 pixels]\n",
            "note.file: [file 2: text/plain, 50 bytes]\n",
            "subject: Receipt\n",
        ] {
            assert!(said.contains(expected), "{expected:?}: {said}");
        }
        assert!(!said.contains(&picture[..30]), "{said}");
        assert_eq!(
            said.contains("[You cannot see the picture"),
            !sees,
            "{said}"
        );
        let answer = answered(&model)[0]["content"].to_string();
        assert!(answer.contains("This is a picture"), "{answer}");
    }
    let sessions = owner.rpc("sessions.list", json!({})).await.unwrap();
    for session in sessions["sessions"].as_array().unwrap() {
        assert_eq!(session["tainted"], true, "{session}");
        let session = json!({ "session": session["id"] });
        let history = owner.rpc("chat.history", session).await.unwrap();
        let files = history["messages"][0]["attachments"].as_array().unwrap();
        let names: Vec<_> = files
            .iter()
            .map(|file| file["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["picture-1.png", "file-2"]);
    }
}
