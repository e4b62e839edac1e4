//! `push.*` and the messages to a push service.

mod service;
mod subscriptions;

use crate::chat::with_model_and;
use crate::steps::{light_owner, new_session, stopped_clock};
use crate::webhooks::{made, send};
use gatehouse_domain::{DeviceId, Scope};
use gatehouse_testkit::{Actor, Options, TestServer};
use serde_json::{Value, json};
use service::{NEVER, PushService, Pushed, seconds_until};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::Receiver;

const ALLOW_PRIVATE: (&str, &str) = ("SERVICE_NETWORK__ALLOW_PRIVATE", "true");
const EXTERNAL_URL: (&str, &str) = ("SERVICE_SERVER__EXTERNAL_URL", "https://gate.example");

fn options() -> Options {
    let options = Options::default();
    options
        .env(ALLOW_PRIVATE.0, ALLOW_PRIVATE.1)
        .env(EXTERNAL_URL.0, EXTERNAL_URL.1)
}

async fn next(pushed: &mut Receiver<Pushed>) -> Pushed {
    let next = tokio::time::timeout(Duration::from_secs(20), pushed.recv());
    next.await.expect("a message within 20 seconds").unwrap()
}

/// Waits for the message that [`message`] put into the inbox.
async fn next_is(pushed: &mut Receiver<Pushed>, text: &str) {
    let next = next(pushed).await.text;
    let body = next["body"].as_str().unwrap();
    assert!(body.contains(&format!("{text:?}")), "{body}");
}

async fn listed(owner: &Actor) -> Value {
    owner.rpc("push.list", json!({})).await.unwrap()
}

async fn credential(owner: &Actor) -> String {
    listed(owner).await["credential"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn new_subscription(keys: &Value, number: usize) -> Value {
    json!({ "endpoint": format!("https://push.example/{number}"), "keys": keys })
}

/// Fails a delivery: no model is configured.
async fn fail_a_delivery(server: &TestServer, owner: &Actor) {
    let members = json!({ "auth_mode": "none", "deliver_only": false, "deliver_to": null });
    let hook = made(owner, members).await;
    let sent = send(&server.remote(), &hook.path(), &[], "{\"a\":1}").await;
    sent.expect(202);
}

/// Puts a message into the inbox.
async fn message(server: &TestServer, owner: &Actor, text: &str) {
    let hook = made(owner, json!({ "auth_mode": "none" })).await;
    let body = json!({ "text": text }).to_string();
    let sent = send(&server.remote(), &hook.path(), &[], body).await;
    sent.expect(202);
}

#[tokio::test]
async fn an_approval_reaches_the_browser_for_as_long_as_it_waits_and_its_answer_closes_it() {
    let (server, owner) = with_model_and(&[ALLOW_PRIVATE]).await;
    let (service, mut pushed) = PushService::start().await;
    let own = credential(&owner).await;
    service.subscribe(&server, &owner, &own).await;
    let before = server.app().services().clock.now();
    let asked = json!({ "text": "calculate 1+1" });
    owner.rpc("chat.send", asked).await.unwrap();
    let asked = next(&mut pushed).await;
    let waiting = owner.rpc("approval.list", json!({})).await.unwrap();
    let call = &waiting["approvals"][0];
    let (id, session) = (
        call["id"].as_str().unwrap(),
        call["session"].as_str().unwrap(),
    );
    assert_eq!(
        asked.text,
        json!({
            "kind": "approval",
            "tag": format!("approval {id}"),
            "name": call["shown"]["tool"],
            "body": call["shown"]["arguments"],
            "url": format!("/chat/{session}"),
            "waiting": 1,
        })
    );
    assert_eq!(asked.urgency, "high");
    let most = seconds_until(before, &call["expires_at"]);
    assert!((1..=most).contains(&asked.ttl), "{} of {most}", asked.ttl);

    let answer = json!({ "id": id, "allow": false });
    owner.rpc("approval.resolve", answer).await.unwrap();
    let closed = next(&mut pushed).await;
    let tag = format!("approval {id}");
    assert_eq!(
        closed.text,
        json!({ "kind": "closed", "tag": tag, "waiting": 0 })
    );
    // The push service drops the first message if the browser has not received it yet.
    assert_eq!(closed.topic, asked.topic);
}

#[tokio::test]
async fn a_failed_delivery_and_a_message_reach_the_browser() {
    let (server, owner) = light_owner(options()).await;
    let (service, mut pushed) = PushService::start().await;
    service.subscribe(&server, &owner, "session as_owner").await;
    fail_a_delivery(&server, &owner).await;
    let failed = next(&mut pushed).await;
    assert_eq!((failed.ttl, failed.topic.as_str()), (86_400, "delivery"));
    assert_eq!(failed.urgency, "normal");
    assert_eq!(failed.text["kind"], "failed");
    let url = failed.text["url"].as_str().unwrap();
    assert!(url.starts_with("/deliveries/del_"), "{url}");

    message(&server, &owner, "hello").await;
    let arrived = next(&mut pushed).await;
    assert_eq!(arrived.text["kind"], "inbox");
    assert_eq!(arrived.text["name"], "n");
    assert_eq!(arrived.text["url"], "/inbox");
    assert_eq!(service.answered.lock().unwrap().as_slice(), [201, 201]);
}

#[tokio::test]
async fn an_answer_reaches_the_browser_that_asked() {
    let (server, owner) = with_model_and(&[ALLOW_PRIVATE]).await;
    let (service, mut pushed) = PushService::start().await;
    let (other_service, mut pushed_to_other) = PushService::start().await;
    let own = credential(&owner).await;
    service.subscribe(&server, &owner, &own).await;
    let other = new_session(&server).await;
    let others = credential(&other).await;
    other_service.subscribe(&server, &other, &others).await;

    let ask = json!({ "text": "hello" });
    let sent = owner.rpc("chat.send", ask).await.unwrap();
    let session = sent["session"].as_str().unwrap();
    let received = next(&mut pushed).await;
    assert_eq!(
        received.text,
        json!({
            "kind": "answer",
            "tag": format!("answer {session}"),
            "body": "pong",
            "url": format!("/chat/{session}"),
        })
    );
    assert_eq!(received.urgency, "normal");

    // The other browser gets only what concerns all.
    message(&server, &owner, "for all").await;
    next_is(&mut pushed_to_other, "for all").await;
}

#[tokio::test]
async fn a_question_that_fails_is_announced_with_the_reason() {
    let (server, owner) = light_owner(options()).await;
    let (service, mut pushed) = PushService::start().await;
    service.subscribe(&server, &owner, "session as_owner").await;
    // No model is configured.
    let ask = json!({ "text": "hello" });
    owner.rpc("chat.send", ask).await.unwrap();
    let received = next(&mut pushed).await;
    assert_eq!(received.text["kind"], "no_answer");
    let body = received.text["body"].as_str().unwrap();
    assert!(body.contains("model"), "{body}");
}

#[tokio::test]
async fn of_many_messages_the_first_and_the_last_are_sent() {
    let (server, owner) = light_owner(options()).await;
    let (service, mut pushed) = PushService::start().await;
    service.subscribe(&server, &owner, "session as_owner").await;
    let say = async |number: usize| {
        let message = json!({ "id": "inbox", "text": format!("message {number}") });
        owner.rpc("channels.test", message).await.unwrap();
    };
    say(0).await;
    assert_eq!(next(&mut pushed).await.text["body"], "message 0");
    for number in 1..20 {
        say(number).await;
    }
    assert_eq!(next(&mut pushed).await.text["body"], "message 19");
    assert_eq!(service.answered.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn a_subscription_that_the_push_service_does_not_know_is_deleted() {
    for status in [404, 410] {
        let (server, owner) = light_owner(options()).await;
        let (service, _pushed) = PushService::start().await;
        service.subscribe(&server, &owner, "session as_owner").await;
        service.answers.lock().unwrap().push_back((status, None));
        message(&server, &owner, "hello").await;
        let deleted = async {
            while listed(&owner).await["subscriptions"] != json!([]) {
                tokio::task::yield_now().await;
            }
        };
        let deleted = tokio::time::timeout(Duration::from_secs(20), deleted).await;
        deleted.expect("the subscription is deleted within 20 seconds");
    }
}

#[tokio::test]
async fn a_push_service_that_cannot_take_a_message_gets_it_again() {
    let (server, owner) = light_owner(options()).await;
    let (service, mut pushed) = PushService::start().await;
    service.subscribe(&server, &owner, "session as_owner").await;
    // The gateway waits for ten seconds anyway.
    service.answers.lock().unwrap().push_back((429, Some("0")));
    let before = Instant::now();
    message(&server, &owner, "hello").await;
    assert_eq!(next(&mut pushed).await.text["kind"], "inbox");
    assert!(before.elapsed() >= Duration::from_secs(10));
    assert_eq!(service.answered.lock().unwrap().as_slice(), [429, 201]);
    let kept = listed(&owner).await;
    assert_eq!(kept["subscriptions"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn an_answer_goes_only_to_browsers_that_took_the_question() {
    let (server, owner) = with_model_and(&[ALLOW_PRIVATE]).await;
    let (service, mut pushed) = PushService::start().await;
    let (second, mut second_pushed) = PushService::start().await;
    second.answers.lock().unwrap().push_back((400, None));
    let own = credential(&owner).await;
    service.subscribe(&server, &owner, &own).await;
    second.subscribe(&server, &owner, &own).await;
    let asked = json!({ "text": "calculate 1+1" });
    // The answer of the turn goes to another browser.
    let other = new_session(&server).await;
    other.rpc("chat.send", asked).await.unwrap();
    assert_eq!(next(&mut pushed).await.text["kind"], "approval");
    let waiting = owner.rpc("approval.list", json!({})).await.unwrap();
    let answer = json!({ "id": waiting["approvals"][0]["id"], "allow": false });
    owner.rpc("approval.resolve", answer).await.unwrap();
    assert_eq!(next(&mut pushed).await.text["kind"], "closed");
    message(&server, &owner, "hello").await;
    assert_eq!(next(&mut second_pushed).await.text["kind"], "inbox");
    assert_eq!(second.answered.lock().unwrap().as_slice(), [400, 201]);
}

#[tokio::test]
async fn a_message_is_kept_for_a_day_from_when_it_comes() {
    let clock = stopped_clock();
    let (server, owner) = light_owner(options().clock(Arc::clone(&clock))).await;
    let (service, mut pushed) = PushService::start().await;
    let device = json!({ "label": "phone", "only": ["inbox.list"] });
    let device = owner.rpc("pairing.create", device).await.unwrap();
    let own = format!("device {}", device["id"].as_str().unwrap());
    service.subscribe(&server, &owner, &own).await;
    clock.advance(Duration::from_hours(30));
    let hello = json!({ "id": "inbox", "text": "hello" });
    owner.rpc("channels.test", hello).await.unwrap();
    assert_eq!(next(&mut pushed).await.ttl, 86_400);
}

#[tokio::test]
async fn a_slow_push_service_does_not_delay_the_next_message_to_others() {
    let (server, owner) = light_owner(options()).await;
    let (service, mut pushed) = PushService::start().await;
    let (slow, _unused) = PushService::start().await;
    slow.answers.lock().unwrap().push_back((NEVER, None));
    for service in [&service, &slow] {
        service.subscribe(&server, &owner, "session as_owner").await;
    }
    message(&server, &owner, "1").await;
    next_is(&mut pushed, "1").await;
    message(&server, &owner, "2").await;
    // The time limit of a request is ten seconds.
    let second = tokio::time::timeout(Duration::from_secs(7), next_is(&mut pushed, "2"));
    second.await.expect("the second message within 7 seconds");
}

/// Sends two messages to the inbox, the second after the push of the first, and returns when `pushed` got both.
async fn two_messages(server: &TestServer, owner: &Actor, pushed: &mut Receiver<Pushed>) {
    for text in ["1", "2"] {
        message(server, owner, text).await;
        next_is(pushed, text).await;
    }
}

#[tokio::test]
async fn no_message_goes_to_a_browser_whose_session_ended() {
    let server = TestServer::start(options()).await;
    let owner = server.set_up().await;
    let other = new_session(&server).await;
    let (service, _pushed) = PushService::start().await;
    let ended = credential(&other).await;
    service.subscribe(&server, &owner, &ended).await;
    let (live, mut pushed) = PushService::start().await;
    let own = credential(&owner).await;
    live.subscribe(&server, &owner, &own).await;
    other.post("/api/auth/logout", json!({})).await.expect(200);
    two_messages(&server, &owner, &mut pushed).await;
    assert_eq!(service.answered.lock().unwrap().as_slice(), [0; 0]);
}

#[tokio::test]
async fn a_message_is_not_sent_again_after_the_session_ended() {
    let server = TestServer::start(options()).await;
    let owner = server.set_up().await;
    let other = new_session(&server).await;
    let (service, mut ended_pushed) = PushService::start().await;
    let ended = credential(&other).await;
    service.subscribe(&server, &owner, &ended).await;
    let (live, mut pushed) = PushService::start().await;
    let own = credential(&owner).await;
    live.subscribe(&server, &owner, &own).await;
    for busy in [&service, &live] {
        busy.answers.lock().unwrap().push_back((503, None));
    }
    message(&server, &owner, "busy").await;
    let refused = async {
        while service.answered.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    let refused = tokio::time::timeout(Duration::from_secs(20), refused).await;
    refused.expect("an attempt within 20 seconds");
    other.post("/api/auth/logout", json!({})).await.expect(200);
    // The other browser gets it again.
    next_is(&mut pushed, "busy").await;
    two_messages(&server, &owner, &mut pushed).await;
    assert_eq!(service.answered.lock().unwrap().as_slice(), [503]);
    assert!(ended_pushed.try_recv().is_err());
}

#[tokio::test]
async fn a_subscription_ends_with_its_session() {
    let (server, owner) = TestServer::with_owner().await;
    let other = new_session(&server).await;
    let (service, _pushed) = PushService::start().await;
    let new = new_subscription(&service.keys(), 1);
    let made = other.rpc("push.subscribe", new.clone()).await.unwrap();
    // Repeating it changes nothing.
    let again = other.rpc("push.subscribe", new.clone()).await.unwrap();
    assert_eq!(again, made);
    let all = listed(&owner).await;
    let one = &all["subscriptions"][0];
    assert_eq!(one["id"], made["id"]);
    assert_eq!(one["push_service"], "push.example");
    assert_ne!(one["credential"], all["credential"]);
    assert!(!all.to_string().contains("push.example/1"), "{all}");

    other.post("/api/auth/logout", json!({})).await.expect(200);
    assert_eq!(listed(&owner).await["subscriptions"], json!([]));
    // The same browser subscribes again with its next session.
    owner.rpc("push.subscribe", new).await.unwrap();
    let all = listed(&owner).await;
    assert_eq!(all["subscriptions"][0]["credential"], all["credential"]);
}

#[tokio::test]
async fn a_device_gets_what_it_may_read_until_it_is_revoked() {
    let (server, owner) = light_owner(options()).await;
    let pair = async |more: Value| {
        let mut params = json!({ "label": "phone" });
        let more = more.as_object().unwrap().clone();
        params.as_object_mut().unwrap().extend(more);
        let paired = owner.rpc("pairing.create", params).await.unwrap();
        DeviceId::from_text(paired["id"].as_str().unwrap())
    };
    let auth = &server.app().services().auth;
    let may = |id: &DeviceId| {
        let needs = [
            (Scope::Approvals, "approval.list"),
            (Scope::Read, "webhooks.deliveries"),
            (Scope::Read, "inbox.list"),
        ];
        needs.map(|(scope, method)| auth.device_may_receive(id, scope, method))
    };
    // A push service is outside the device's networks.
    let inside = pair(json!({ "allowed_cidrs": ["127.0.0.0/8"] })).await;
    assert_eq!(may(&inside), [false, false, false]);
    let writes = pair(json!({ "scopes": ["operator.write"] })).await;
    assert_eq!(may(&writes), [false, false, false]);
    let approves = pair(json!({ "scopes": ["operator.approvals"] })).await;
    assert_eq!(may(&approves), [true, false, false]);
    let id = pair(json!({ "only": ["inbox.list"] })).await;
    assert_eq!(may(&id), [false, false, true]);

    let (service, mut pushed) = PushService::start().await;
    let own = format!("device {id}");
    service.subscribe(&server, &owner, &own).await;
    message(&server, &owner, "hello").await;
    assert_eq!(next(&mut pushed).await.text["kind"], "inbox");
    let one = &listed(&owner).await["subscriptions"][0];
    assert_eq!(
        (&one["label"], &one["credential"]),
        (&json!("phone"), &json!(own))
    );
    let revoke = json!({ "id": id });
    owner.rpc("pairing.revoke", revoke).await.unwrap();
    assert_eq!(listed(&owner).await["subscriptions"], json!([]));
    assert_eq!(may(&id), [false, false, false]);
    let (live, mut live_pushed) = PushService::start().await;
    live.subscribe(&server, &owner, "session as_owner").await;
    two_messages(&server, &owner, &mut live_pushed).await;
    assert_eq!(service.answered.lock().unwrap().as_slice(), [201]);
}
