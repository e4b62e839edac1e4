//! `/approve/{token}` and the messages that contain it.

use super::approval_buttons::{ask, trusted, waiting};
use super::{with_model_and, with_model_in};
use crate::steps::stopped_clock;
use axum::Router;
use axum::response::IntoResponse;
use axum::routing::post;
use gatehouse_domain::{Clock, Timestamp};
use gatehouse_store::testing::postgres;
use gatehouse_testkit::{Actor, Options, Reply, TestServer};
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
    path_in_inbox(owner).await
}

/// Waits for the message about a call and returns the path of its link.
async fn path_in_inbox(owner: &Actor) -> String {
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

/// Checks that this is the page that reports how a call ended.
fn is_end(page: &Reply, title: &str) {
    page.expect(410);
    assert!(
        page.header("content-type")
            .unwrap()
            .starts_with("text/html")
    );
    let heading = format!(">{title}</h1>");
    assert!(page.text.contains(&heading), "{}", page.text);
    assert!(page.text.contains("Nothing was changed."), "{}", page.text);
    assert!(!page.text.contains("<form"), "{}", page.text);
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
            let status = &output.unwrap()["tool_status"];
            // A call that was made may have failed.
            return status == "ok" || status == "error";
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
        let from = "started in the web UI or through the API: <bdi>calculate 1+1&lt;b&gt;</bdi>";
        assert!(page.text.contains(from), "{}", page.text);
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
        let used = stranger
            .post(&format!("{path}?answer=allow"), Value::Null)
            .await;
        let result = if expected { "allowed" } else { "denied" };
        for page in [stranger.get(&path).await, used] {
            is_end(&page, "Already answered");
            let text = format!("This call was {result} through a link at <time");
            assert!(page.text.contains(&text), "{}", page.text);
        }
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
    let answered = stranger
        .post(&format!("{path}?answer=allow"), Value::Null)
        .await;
    answered.expect(404);
    assert!(
        answered.text.contains(">Log in to answer</h1>"),
        "{}",
        answered.text
    );
    let token = json!({ "token": path.strip_prefix("/approve/").unwrap() });
    let refused = stranger.rpc_reply("approval.find", token.clone()).await;
    refused.expect(401);
    let found = owner.rpc("approval.find", token.clone()).await.unwrap();
    assert_eq!(found["tool"], "calc");
    let same = json!({ "id": found["id"] });
    assert_eq!(owner.rpc("approval.find", same).await.unwrap(), found);
    let answer = json!({ "id": found["id"], "allow": true });
    owner.rpc("approval.resolve", answer).await.unwrap();
    assert!(has_run(&owner).await);
    let id = json!({ "id": found["id"] });
    for params in [token.clone(), id.clone()] {
        let gone = owner.rpc_reply("approval.find", params).await.expect(200);
        let gone = &gone["error"]["data"];
        assert_eq!(
            (&gone["code"], &gone["ended"], &gone["through"]),
            (&json!("NOT_FOUND"), &json!("allowed"), &json!("api"))
        );
        assert!(gone["at"].is_string(), "{gone}");
    }
    let both = json!({ "id": id["id"], "token": token["token"] });
    for params in [both, json!({})] {
        let refused = owner.rpc("approval.find", params).await.unwrap_err();
        assert_eq!(refused.as_str(), "INVALID_PARAMS");
    }
    let unknown = json!({ "token": "unknown" });
    let unknown = owner.rpc_reply("approval.find", unknown).await.expect(200);
    assert_eq!(unknown["error"]["data"]["ended"], Value::Null);
}

/// Returns an HTTP channel that never answers under `/slow`, and under `/busy` refuses the first
/// message.
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

#[tokio::test]
async fn a_link_answers_until_its_expiry_and_then_says_so() {
    let clock = stopped_clock();
    let options = Options::default().clock(Arc::clone(&clock));
    let bearer = [
        ("SERVICE_APPROVALS__NOTIFY", "inbox"),
        ("SERVICE_APPROVALS__LINKS", "bearer"),
    ];
    let (server, owner) = with_model_in(options, &bearer).await;
    let path = link(&owner, "calculate 1+1").await;
    let expires_at = waiting(&owner).await[0]["expires_at"].clone();
    let expires_at: Timestamp = expires_at.as_str().unwrap().parse().unwrap();
    clock.advance(clock.now().until(expires_at));
    let page = server.remote().get(&path).await;
    page.expect(200);
    let until = format!("Without an answer by <time datetime=\"{expires_at}\">");
    assert!(page.text.contains(&until), "{}", page.text);

    clock.advance(Duration::from_millis(1));
    assert!(waiting(&owner).await.is_empty());
    let german = server.remote().with("accept-language", "de");
    let german = german.get(&path).await;
    german.expect(410);
    assert!(german.text.contains(">Abgelaufen</h1>"), "{}", german.text);
    let answer = format!("{path}?answer=allow");
    let late = server.remote().post(&answer, Value::Null).await;
    for page in [server.remote().get(&path).await, late] {
        is_end(&page, "Expired");
        let until = format!("Nobody answered this call by <time datetime=\"{expires_at}\">");
        assert!(page.text.contains(&until), "{}", page.text);
    }
    let rows = json!({ "kind": "approval.resolved" });
    let rows = owner.rpc("audit.list", rows).await.unwrap();
    assert_eq!(rows["events"], json!([]), "the late answer did nothing");
}

#[tokio::test]
async fn a_link_says_that_its_call_was_answered_elsewhere_or_not_at_all() {
    let (server, owner) = started("bearer").await;
    let path = link(&owner, "calculate 1+1").await;
    let id = waiting(&owner).await[0]["id"].clone();
    let deny = json!({ "id": id, "allow": false });
    owner.rpc("approval.resolve", deny).await.unwrap();
    let page = server.remote().get(&path).await;
    is_end(&page, "Already answered");
    let text = "This call was denied in the web UI or through the API at <time";
    assert!(page.text.contains(text), "{}", page.text);
    assert!(!has_run(&owner).await);

    let brief = json!({ "key": "approvals.timeout_seconds", "value": 3 });
    owner.rpc("config.set", brief).await.unwrap();
    let path = link(&owner, "calculate 1+1").await;
    let id = waiting(&owner).await[0]["id"].clone();
    assert!(!has_run(&owner).await);
    is_end(&server.remote().get(&path).await, "Expired");
    let rows = json!({ "kind": "approval.expired" });
    let rows = owner.rpc("audit.list", rows).await.unwrap();
    assert_eq!(rows["events"].as_array().unwrap().len(), 1);
    let row = &rows["events"][0];
    assert_eq!(
        (&row["actor"], &row["detail"]["id"]),
        (&json!("system"), &id)
    );

    // An unknown link is not one of the past.
    let unknown = server.remote().get("/approve/unknown").await;
    unknown.expect(404);
    assert!(
        unknown.text.contains(">Nothing to approve</h1>"),
        "{}",
        unknown.text
    );
}

#[tokio::test]
async fn a_link_says_that_its_call_was_answered_in_a_chat() {
    let (server, owner, telegram) = trusted().await;
    for (key, value) in [
        ("approvals.notify", json!(["inbox"])),
        ("approvals.links", json!("bearer")),
    ] {
        let set = json!({ "key": key, "value": value });
        owner.rpc("config.set", set).await.unwrap();
    }
    let question = ask(&telegram, "calculate 6*7").await;
    let path = path_in_inbox(&owner).await;
    let press = telegram.press(42, question, "Allow");
    assert_eq!(telegram.press_answer(press).await, "Allowed.");
    let page = server.remote().get(&path).await;
    is_end(&page, "Already answered");
    let text = "This call was allowed with a button in a chat at <time";
    assert!(page.text.contains(text), "{}", page.text);
    assert!(!page.text.contains("Person 42"), "{}", page.text);
}

#[tokio::test]
async fn the_link_of_a_stopped_call_says_that_it_no_longer_waits() {
    let (server, owner) = started("bearer").await;
    let path = link(&owner, "calculate 1+1").await;
    let stop = json!({ "session": waiting(&owner).await[0]["session"] });
    owner.rpc("chat.abort", stop).await.unwrap();
    while !waiting(&owner).await.is_empty() {
        tokio::task::yield_now().await;
    }
    is_end(&server.remote().get(&path).await, "No longer waiting");
}

/// The pages of an answered and of a stopped call.
#[tokio::test]
async fn a_link_says_how_its_call_ended_after_a_restart() {
    let (server, owner) = started("bearer").await;
    let answered = link(&owner, "calculate 1+1").await;
    let deny = format!("{answered}?answer=deny");
    server.remote().post(&deny, Value::Null).await.expect(200);
    assert!(!has_run(&owner).await);
    let stopped = link(&owner, "calculate 1+1").await;
    let stop = json!({ "session": waiting(&owner).await[0]["session"] });
    owner.rpc("chat.abort", stop).await.unwrap();
    while !waiting(&owner).await.is_empty() {
        tokio::task::yield_now().await;
    }
    is_end(&server.remote().get(&stopped).await, "No longer waiting");

    let server = server.restart().await;
    let page = server.remote().get(&answered).await;
    is_end(&page, "Already answered");
    let text = "This call was denied through a link at <time";
    assert!(page.text.contains(text), "{}", page.text);
    is_end(&server.remote().get(&stopped).await, "No longer waiting");
    let again = server.remote().post(&deny, Value::Null).await;
    is_end(&again, "Already answered");
}

#[tokio::test]
async fn every_node_says_how_the_call_of_a_link_ended() {
    let Some(database) = postgres().await else {
        return;
    };
    let other = Options::default().database(database.for_another_node());
    let options = Options::default().database(database);
    let variables = [
        ("SERVICE_APPROVALS__NOTIFY", "inbox"),
        ("SERVICE_APPROVALS__LINKS", "bearer"),
    ];
    let (here, owner) = with_model_in(options, &variables).await;
    let set = |options: Options, (name, value): (&str, &str)| options.env(name, value);
    let there = TestServer::start(variables.into_iter().fold(other, set)).await;
    let path = link(&owner, "calculate 1+1").await;
    let allow = format!("{path}?answer=allow");
    there.remote().post(&allow, Value::Null).await.expect(200);
    assert!(has_run(&owner).await);
    for node in [&here, &there] {
        let page = node.remote().get(&path).await;
        is_end(&page, "Already answered");
        let text = "This call was allowed through a link at <time";
        assert!(page.text.contains(text), "{}", page.text);
    }
}

/// A link answers one call. Longer permissions need a login.
#[tokio::test]
async fn a_bearer_link_offers_no_permission_for_later_calls() {
    let (server, owner) = started("bearer").await;
    let path = link(&owner, "calculate 1+1").await;
    let stranger = server.remote();
    let page = stranger.get(&path).await;
    assert_eq!(page.text.matches("<button>").count(), 2, "{}", page.text);
    assert!(
        page.text.contains("This link answers only this call."),
        "{}",
        page.text
    );
    for remember in ["session", "arguments"] {
        let answer = format!("{path}?answer=allow&remember={remember}");
        let refused = stranger.post(&answer, Value::Null).await;
        refused.refused(400, "INVALID_PARAMS");
    }
    assert_eq!(waiting(&owner).await.len(), 1);
    let answer = format!("{path}?answer=allow");
    stranger.post(&answer, Value::Null).await.expect(200);
    assert!(has_run(&owner).await);
    let remembered = owner.rpc("approval.remembered", json!({})).await.unwrap();
    assert_eq!(remembered["calls"], json!([]));
}

#[tokio::test]
async fn an_answer_in_a_link_only_decides_which_button_comes_first() {
    let (server, owner) = started("bearer").await;
    let path = link(&owner, "calculate 1+1").await;
    for (query, first) in [
        ("", "allow"),
        ("?answer=allow", "allow"),
        ("?answer=deny", "deny"),
        ("?answer=perhaps", "allow"),
    ] {
        let page = server.remote().get(&format!("{path}{query}")).await;
        page.expect(200);
        let (_, forms) = page.text.split_once("action=\"?answer=").unwrap();
        assert!(forms.starts_with(first), "{query}: {}", page.text);
        assert_eq!(waiting(&owner).await.len(), 1, "{query}");
    }
}

#[tokio::test]
async fn the_page_of_a_link_shows_hidden_characters_and_all_of_a_long_call() {
    let (server, owner) = started("bearer").await;
    let hidden = format!("1\u{202e}\u{200b}\u{e0041}\u{9b}{}", "2".repeat(900));
    let path = link(&owner, &format!("calculate {hidden}")).await;
    let page = server.remote().get(&path).await;
    page.expect(200);
    let shown = format!(
        "&quot;1\\u{{202E}}\\u{{200B}}\\u{{E0041}}\\u{{9B}}{}&quot;",
        "2".repeat(900)
    );
    assert!(page.text.contains(&shown), "{}", page.text);
    assert!(
        page.text.contains("4 characters that hide or reorder text"),
        "{}",
        page.text
    );
    assert_eq!(waiting(&owner).await[0]["arguments"]["expression"], hidden);
}
