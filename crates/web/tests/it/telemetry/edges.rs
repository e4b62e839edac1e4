//! Spans of channels and of several nodes, and collectors that accept less or nothing.

use super::collector::Collector;
use super::{SECRET, SENDER};
use super::{
    attribute, completed, deliver, inbox_hook, is_one_trace, named, only, started, with_model,
};
use crate::chat::telegram::{TOKEN, Telegram};
use crate::incidents::logs::Log;
use crate::webhooks::made;
use gatehouse_store::testing::postgres;
use gatehouse_testkit::{Actor, PASSWORD, TestServer};
use serde_json::json;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;

async fn add_telegram(owner: &Actor, telegram: &Telegram, enabled: bool) {
    let fields = json!({ "bot_token": TOKEN, "base_url": telegram.url(), "inbound": true });
    let account =
        json!({ "type": "telegram", "label": "Bot", "enabled": enabled, "fields": fields });
    owner.rpc("channels.create", account).await.unwrap();
}

#[tokio::test]
async fn a_message_of_a_channel_is_one_trace_with_its_turn_and_answer() {
    let collector = Collector::start().await;
    let telegram = Telegram::start().await;
    let (mut server, owner) = started(&collector).await;
    add_telegram(&owner, &telegram, true).await;
    telegram.write(42, json!({ "text": "/start" }));
    telegram.wait_for(1).await;
    let people = owner.rpc("pairing.people", json!({})).await.unwrap();
    let code = json!({ "code": people["people"][0]["code"], "trusted": true });
    owner.rpc("pairing.approve", code).await.unwrap();
    telegram.write(42, json!({ "text": "how many okapis?" }));
    telegram.wait_for(2).await;
    drop(server.stop().await);

    let seen = collector.seen();
    assert_eq!(seen.faults, [""; 0]);
    let message = only(&seen, "channel.message");
    is_one_trace(&seen, &message["traceId"], None);
    assert_eq!(message.get("parentSpanId"), None);
    assert_eq!(attribute(message, "gatehouse.channel.type"), "telegram");
    assert_eq!(attribute(message, "gatehouse.message.outcome"), "ended");
    let turn = only(&seen, "agent.turn");
    assert_eq!(turn["parentSpanId"], message["spanId"]);
    let sent = only(&seen, "channel.send");
    assert_eq!(sent["parentSpanId"], message["spanId"]);
    assert_eq!(attribute(sent, "gatehouse.channel.type"), "telegram");
    for text in ["okapi", "quagga", "Person", TOKEN] {
        assert!(!seen.texts.contains(text), "{text} was sent");
    }
}

#[tokio::test]
async fn a_delivery_that_one_node_accepts_and_another_sends_is_one_trace() {
    let Some(database) = postgres().await else {
        return;
    };
    let there = database.for_another_node();
    let collector = Collector::start().await;
    let telegram = Telegram::start().await;
    let node = async |database| {
        let options = with_model(&collector.url).await;
        TestServer::start(options.database(database)).await
    };
    let mut one = node(database).await;
    let owner = one.set_up().await;
    // Deliveries for a disabled channel wait.
    add_telegram(&owner, &telegram, false).await;
    let members = json!({ "auth_mode": "bearer", "secret": SECRET, "deliver_to": "telegram:telegram",
        "deliver_extra": { "chat_id": "42" } });
    let hook = made(&owner, members).await;
    deliver(&one, &hook, &[("traceparent", SENDER)], "{}").await;
    drop(one.stop().await);

    let mut two = node(there).await;
    let owner = owner.at(two.address());
    let unlock = json!({ "password": PASSWORD });
    owner
        .post("/api/auth/vault/unlock", unlock)
        .await
        .expect(200);
    let enable = json!({ "id": "telegram", "enabled": true });
    owner.rpc("channels.update", enable).await.unwrap();
    completed(&owner, &hook, 1).await;
    drop(two.stop().await);

    let seen = collector.seen();
    assert_eq!(seen.faults, [""; 0]);
    let receive = only(&seen, "webhook.receive");
    is_one_trace(&seen, &receive["traceId"], receive["parentSpanId"].as_str());
    let sent = only(&seen, "channel.send");
    let attempts = named(&seen, "webhook.attempt");
    let attempt = attempts
        .iter()
        .find(|it| it["spanId"] == sent["parentSpanId"]);
    assert_eq!(attempt.unwrap()["parentSpanId"], receive["spanId"]);
}

#[tokio::test]
async fn what_a_collector_rejects_in_part_is_logged_once() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_writer(log.clone())
        .finish();
    // The runtime of a test has one thread.
    let _guard = tracing::subscriber::set_default(subscriber);
    let collector = Collector::start().await;
    let (mut server, owner) = started(&collector).await;
    let hook = inbox_hook(&owner).await;
    for _ in 0..2 {
        collector.reject(2, "the spans are\ntoo old");
    }
    deliver(&server, &hook, &[], "1").await;
    collector.until(|seen| seen.traces_at.len() == 1).await;
    deliver(&server, &hook, &[], "2").await;
    completed(&owner, &hook, 2).await;
    drop(server.stop().await);
    assert_eq!(collector.seen().partial.len(), 0);
    let text = log.text();
    let lines: Vec<_> = text
        .lines()
        .filter(|line| line.contains("the telemetry collector warns"))
        .collect();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("rejected=2") && lines[0].contains("the spans aretoo old"));
    assert!(!text.contains("accepts no data"));
}

#[tokio::test]
async fn a_collector_that_never_answers_does_not_hold_up_a_stop() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let mut server = TestServer::start(with_model(&url).await).await;
    let owner = server.set_up().await;
    let hook = inbox_hook(&owner).await;
    deliver(&server, &hook, &[], "1").await;
    // A request is in progress, and more spans wait.
    let _hanging = listener.accept().await.unwrap();
    deliver(&server, &hook, &[], "2").await;
    completed(&owner, &hook, 2).await;
    let begun = Instant::now();
    drop(server.stop().await);
    // Without a limit, the stop would wait as long as the request to the collector may take.
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}");
}
