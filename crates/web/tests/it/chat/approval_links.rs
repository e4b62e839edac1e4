//! `/approve/{token}` and the messages that contain it.

use super::with_model_and;
use axum::Router;
use axum::response::IntoResponse;
use axum::routing::post;
use gatehouse_testkit::{Actor, TestServer};
use http::StatusCode;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;

/// Starts a turn that waits for approval and returns the path of the link in the inbox.
async fn link(owner: &Actor, call: &str) -> String {
    owner
        .rpc("chat.send", json!({ "text": call }))
        .await
        .unwrap();
    let message = loop {
        let inbox = owner.rpc("inbox.list", json!({})).await.unwrap();
        let messages = inbox["messages"].as_array().unwrap();
        let found = messages.iter().find(|message| message["read"] == false);
        if let Some(message) = found {
            break message.clone();
        }
        tokio::task::yield_now().await;
    };
    let id = json!({ "id": message["id"] });
    owner.rpc("inbox.mark_read", id).await.unwrap();
    let text = message["text"].as_str().unwrap();
    assert!(
        text.contains("The agent default asks") && text.contains("calc"),
        "{text}"
    );
    let (_, path) = text.split_once("https://gate.example").unwrap();
    path.to_owned()
}

async fn started(links: &str) -> (TestServer, Actor) {
    with_model_and(&[
        ("SERVICE_APPROVALS__NOTIFY", "inbox"),
        ("SERVICE_APPROVALS__LINKS", links),
    ])
    .await
}

/// Waits for the end of the turn and returns whether its call ran.
async fn has_run(owner: &Actor) -> bool {
    loop {
        let sessions = owner.rpc("sessions.list", json!({})).await.unwrap();
        let newest = &sessions["sessions"][0];
        if newest["running"] == false {
            let history = json!({ "session": newest["id"] });
            let history = owner.rpc("chat.history", history).await.unwrap();
            let messages = history["messages"].as_array().unwrap();
            let output = messages.iter().find(|message| message["role"] == "tool");
            let output = output.unwrap()["content"].as_str().unwrap();
            return !output.contains("did not approve");
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_bearer_link_answers_once_without_a_login() {
    let (server, owner) = started("bearer").await;
    for (answer, expected) in [("allow", true), ("deny", false)] {
        let path = link(&owner, "calculate 1+1<b>").await;
        let token = path.strip_prefix("/approve/").unwrap();
        assert_eq!(token.len(), 43, "256 bits as base64url");
        let stranger = server.remote();
        let page = stranger.get(&path).await;
        page.expect(200);
        assert!(page.text.contains("1+1&lt;b&gt;"), "{}", page.text);
        assert!(
            page.header("content-security-policy")
                .unwrap()
                .contains("form-action 'self'")
        );
        // Whatever fetches the link answers nothing.
        assert_eq!(
            owner.rpc("approval.list", json!({})).await.unwrap()["approvals"]
                .as_array()
                .unwrap()
                .len(),
            1
        );
        stranger
            .post(&format!("{path}?answer=perhaps"), Value::Null)
            .await
            .expect(400);
        let answered = stranger
            .post(&format!("{path}?answer={answer}"), Value::Null)
            .await;
        answered.expect(200);
        assert_eq!(has_run(&owner).await, expected);
        stranger.get(&path).await.expect(404);
        stranger
            .post(&format!("{path}?answer=allow"), Value::Null)
            .await
            .expect(404);
    }
    let audit = owner
        .rpc("audit.list", json!({ "kind": "approval.resolved" }))
        .await
        .unwrap();
    let actors: Vec<_> = audit["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["actor"].clone())
        .collect();
    assert_eq!(actors, [json!("approval link"), json!("approval link")]);
}

#[tokio::test]
async fn other_links_need_a_login() {
    let (server, owner) = started("sign_in").await;
    let path = link(&owner, "calculate").await;
    let stranger = server.remote();
    let page = stranger.get(&path).await;
    page.expect(200);
    assert!(
        !page.text.contains("calc"),
        "the page tells a stranger nothing"
    );
    stranger
        .post(&format!("{path}?answer=allow"), Value::Null)
        .await
        .expect(404);
    let token = json!({ "token": path.strip_prefix("/approve/").unwrap() });
    let refused = stranger.rpc_reply("approval.find", token.clone()).await;
    refused.expect(401);
    let found = owner.rpc("approval.find", token.clone()).await.unwrap();
    assert_eq!(found["tool"], "calc");
    let answer = json!({ "id": found["id"], "allow": true });
    owner.rpc("approval.resolve", answer).await.unwrap();
    assert!(has_run(&owner).await);
    assert!(owner.rpc("approval.find", token).await.is_err());
}

/// An HTTP channel that never answers under `/slow`, and under `/busy` refuses the first message.
async fn receiver() -> (String, Arc<AtomicUsize>) {
    let seen = Arc::new(AtomicUsize::new(0));
    let busy = {
        let seen = Arc::clone(&seen);
        async move || match seen.fetch_add(1, Ordering::SeqCst) {
            0 => (StatusCode::SERVICE_UNAVAILABLE, [("retry-after", "1")]).into_response(),
            _ => StatusCode::OK.into_response(),
        }
    };
    let router = Router::new()
        .route("/slow", post(std::future::pending::<StatusCode>))
        .route("/busy", post(busy));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    #[expect(clippy::disallowed_methods, reason = "ends with the test's runtime")]
    tokio::spawn(async move { axum::serve(listener, router).await });
    (url, seen)
}

#[tokio::test]
async fn a_slow_channel_delays_no_other_and_a_refused_message_is_sent_again() {
    let notify = r#"["http:slow", "http:busy", "inbox"]"#;
    let (_server, owner) = with_model_and(&[("SERVICE_APPROVALS__NOTIFY", notify)]).await;
    let (url, seen) = receiver().await;
    for id in ["slow", "busy"] {
        let fields = json!({ "url": format!("{url}/{id}") });
        let account = json!({ "type": "http", "id": id, "label": id, "fields": fields });
        owner.rpc("channels.create", account).await.unwrap();
    }
    link(&owner, "calculate").await;
    while seen.load(Ordering::SeqCst) < 2 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A browser sends `Origin: null` with the form of a page whose policy is `no-referrer`
/// (<https://fetch.spec.whatwg.org/#append-a-request-origin-header>).
#[tokio::test]
async fn a_browser_can_send_the_form_of_a_bearer_link() {
    let (server, owner) = started("bearer").await;
    let path = link(&owner, "calculate 1+1").await;
    let page = server.remote().get(&path).await;
    page.expect(200);
    assert_eq!(page.header("referrer-policy"), Some("same-origin"));
    let answer = format!("{path}?answer=allow");
    let opaque = server.remote().with("origin", "null");
    let refused = opaque.post(&answer, Value::Null).await;
    refused.refused(403, "FORBIDDEN");
    let browser = server.remote().with("origin", "http://gate.example");
    browser.post(&answer, Value::Null).await.expect(200);
    assert!(has_run(&owner).await);
}
