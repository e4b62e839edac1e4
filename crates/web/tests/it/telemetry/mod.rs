//! `telemetry.otlp_endpoint`: traces and metrics at a collector.

pub mod collector;
mod edges;

use crate::webhooks::{CreatedWebhook, made, send, until};
use collector::{Collector, Seen};
use gatehouse_doubles::openai::{FakeModel, Reaction, call, has_result, say};
use gatehouse_testkit::{Actor, Options, PASSWORD, TestServer};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::time::Duration;
use tokio::net::TcpListener;

const SENDER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const SENDERS_TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const SENDERS_SPAN: &str = "00f067aa0ba902b7";
const SECRET: &str = "a-secret-of-mine-0123";
const MODEL_KEY: &str = "sk-test-4711";

/// Calls `calc` first, and answers with the words of the conversation.
fn answer(request: &Value) -> Reaction {
    if has_result(request) {
        say("the quagga is a secret zebra")
    } else {
        call("calc", &json!({ "expression": "6*7111" }))
    }
}

async fn with_model(endpoint: &str) -> Options {
    let model = FakeModel::answering(answer).await;
    Options::default()
        .env("SERVICE_TELEMETRY__OTLP_ENDPOINT", endpoint)
        .env(
            "SERVICE_MODELS__PROVIDERS__FAKE__BASE_URL",
            model.url.as_str(),
        )
        .env("SERVICE_MODELS__PROVIDERS__FAKE__API_KEY", MODEL_KEY)
        .env("SERVICE_MODELS__DEFAULT", "fake/m1")
}

async fn started(collector: &Collector) -> (TestServer, Actor) {
    let server = TestServer::start(with_model(&collector.url).await).await;
    let owner = server.set_up().await;
    (server, owner)
}

/// Sends a delivery that is verified by a token.
async fn deliver(server: &TestServer, hook: &CreatedWebhook, headers: &[(&str, &str)], body: &str) {
    let token = format!("Bearer {SECRET}");
    let mut all = vec![("authorization", token.as_str())];
    all.extend_from_slice(headers);
    let sent = send(&server.remote(), &hook.path(), &all, body).await;
    sent.expect(202);
}

/// Waits until the last delivery has completed.
async fn completed(owner: &Actor, hook: &CreatedWebhook, count: usize) -> Value {
    loop {
        let found = until(owner, hook, count).await;
        let last = found[0].clone();
        assert_ne!(last["status"], "failed", "{last}");
        if last["status"] == "completed" {
            return last;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Returns a webhook that sends to the inbox and verifies a token.
async fn inbox_hook(owner: &Actor) -> CreatedWebhook {
    made(owner, json!({ "auth_mode": "bearer", "secret": SECRET })).await
}

pub fn named<'s>(seen: &'s Seen, name: &str) -> Vec<&'s Value> {
    let spans = seen.spans.iter();
    spans.filter(|span| span["name"] == name).collect()
}

pub fn only<'s>(seen: &'s Seen, name: &str) -> &'s Value {
    let found = named(seen, name);
    assert_eq!(found.len(), 1, "{name}: {:#?}", seen.spans);
    found[0]
}

pub fn attribute<'s>(span: &'s Value, key: &str) -> &'s Value {
    let attributes = span["attributes"].as_array().unwrap().iter();
    let mut found = attributes.filter(|attribute| attribute["key"] == key);
    let Some(found) = found.next() else {
        panic!("no {key} in {span}")
    };
    let value = found["value"].as_object().unwrap();
    value.values().next().unwrap()
}

/// Checks that each span is in this trace and that its parent exists, except `outside`.
pub fn is_one_trace(seen: &Seen, trace: &Value, outside: Option<&str>) {
    let ids: HashSet<&str> = seen
        .spans
        .iter()
        .map(|span| span["spanId"].as_str().unwrap())
        .collect();
    assert_eq!(ids.len(), seen.spans.len(), "an id is used twice");
    let mut roots = 0;
    for span in &seen.spans {
        assert_eq!(&span["traceId"], trace, "{span}");
        match span.get("parentSpanId").and_then(Value::as_str) {
            Some(parent) if ids.contains(parent) => {}
            parent => {
                assert_eq!(parent, outside, "{span}");
                roots += 1;
            }
        }
    }
    assert_eq!(roots, 1, "{:#?}", seen.spans);
}

#[tokio::test]
async fn a_delivery_is_one_trace_from_the_request_to_the_last_message() {
    let collector = Collector::start().await;
    let (mut server, owner) = started(&collector).await;
    let hook = made(
        &owner,
        json!({ "name": "Zoo of Berlin", "auth_mode": "bearer", "secret": SECRET, "deliver_only": false,
            "tool_policy": { "allow": ["calc"] } }),
    )
    .await;
    let body = json!({ "animal": "okapi 815" }).to_string();
    deliver(&server, &hook, &[("traceparent", SENDER)], &body).await;
    let delivery = completed(&owner, &hook, 1).await;
    assert_eq!(delivery["headers"]["traceparent"], SENDER);
    drop(server.stop().await);

    let seen = collector.seen();
    assert_eq!(seen.faults, [""; 0]);
    is_one_trace(&seen, &json!(SENDERS_TRACE), Some(SENDERS_SPAN));
    let receive = only(&seen, "webhook.receive");
    assert_eq!(receive["parentSpanId"], SENDERS_SPAN);
    for name in ["webhook.verify", "webhook.queue"] {
        assert_eq!(only(&seen, name)["parentSpanId"], receive["spanId"]);
    }
    let attempts = named(&seen, "webhook.attempt");
    let outcomes: Vec<&Value> = attempts
        .iter()
        .map(|attempt| attribute(attempt, "gatehouse.attempt.outcome"))
        .collect();
    assert_eq!(outcomes, ["answered", "sent"]);
    for attempt in &attempts {
        assert_eq!(attempt["parentSpanId"], receive["spanId"]);
        assert_eq!(attribute(attempt, "gatehouse.delivery.id"), &delivery["id"]);
        assert_eq!(attribute(attempt, "gatehouse.webhook.id"), hook.id());
    }
    let turn = only(&seen, "agent.turn");
    assert_eq!(turn["parentSpanId"], attempts[0]["spanId"]);
    assert_eq!(attribute(turn, "gen_ai.usage.input_tokens"), "20");
    let calls = named(&seen, "model.call");
    assert_eq!(calls.len(), 2);
    for call in calls {
        assert_eq!(call["parentSpanId"], turn["spanId"]);
        assert_eq!(attribute(call, "gen_ai.request.model"), "m1");
        assert_eq!(attribute(call, "gen_ai.usage.output_tokens"), "3");
    }
    let tool = only(&seen, "tool.call");
    assert_eq!(tool["parentSpanId"], turn["spanId"]);
    assert_eq!(attribute(tool, "gen_ai.tool.name"), "calc");
    let sent = only(&seen, "channel.send");
    assert_eq!(sent["parentSpanId"], attempts[1]["spanId"]);
    assert_eq!(attribute(sent, "gatehouse.channel.type"), "inbox");
    assert!(seen.spans.iter().all(|span| span.get("status").is_none()));

    // No text of a sender, a person or a model travels, and no secret.
    let public_id = hook.record["public_id"].as_str().unwrap();
    for text in [
        "okapi", "quagga", "7111", "Zoo", SECRET, MODEL_KEY, public_id,
    ] {
        assert!(!seen.texts.contains(text), "{text} was sent");
    }
    let names: HashSet<&str> = seen
        .metrics
        .iter()
        .map(|metric| metric["name"].as_str().unwrap())
        .collect();
    for name in [
        "http_requests_total",
        "http_request_duration_seconds",
        "webhooks_worker_queue_depth",
        "webhooks_deliveries_total",
        "model_tokens_total",
    ] {
        assert!(names.contains(name), "{name}: {names:?}");
    }
}

#[tokio::test]
async fn a_turn_of_a_chat_is_a_trace_with_the_wait_for_its_approval() {
    let collector = Collector::start().await;
    let options = with_model(&collector.url).await;
    let options = options.env("SERVICE_TOOLS__REQUIRE_APPROVAL", "calc");
    let mut server = TestServer::start(options).await;
    let owner = server.set_up().await;
    let mut socket = server.socket(&owner, "/ws/chat").await;
    let text = json!({ "text": "how many okapis?" });
    socket.call("chat.send", text).await.unwrap();
    let asked = socket.event("approval.requested").await.unwrap();
    let no = json!({ "id": asked["id"], "allow": false });
    owner.rpc("approval.resolve", no).await.unwrap();
    socket.event("chat.done").await.unwrap();
    drop(server.stop().await);

    let seen = collector.seen();
    assert_eq!(seen.faults, [""; 0]);
    let turn = only(&seen, "agent.turn");
    is_one_trace(&seen, &turn["traceId"], None);
    assert_eq!(attribute(turn, "gatehouse.turn.origin"), "chat");
    assert_eq!(attribute(turn, "gatehouse.turn.outcome"), "ok");
    let approval = only(&seen, "approval.wait");
    assert_eq!(approval["parentSpanId"], turn["spanId"]);
    assert_eq!(attribute(approval, "gatehouse.approval.answer"), "denied");
    assert!(named(&seen, "tool.call").is_empty());
    assert!(!seen.texts.contains("okapi"));
}

#[tokio::test]
async fn an_invalid_traceparent_is_ignored_and_a_stranger_only_gets_a_link() {
    let collector = Collector::start().await;
    let (mut server, owner) = started(&collector).await;
    let hook = inbox_hook(&owner).await;
    let invalid = SENDER.to_ascii_uppercase();
    deliver(&server, &hook, &[("traceparent", &invalid)], "{}").await;
    let delivery = completed(&owner, &hook, 1).await;
    assert_eq!(delivery["headers"].get("traceparent"), None);
    let open = made(&owner, json!({ "auth_mode": "none" })).await;
    deliver(&server, &open, &[("traceparent", SENDER)], "{}").await;
    let strange = completed(&owner, &open, 1).await;
    assert_eq!(strange["headers"].get("traceparent"), None);
    drop(server.stop().await);

    let seen = collector.seen();
    assert_eq!(seen.faults, [""; 0]);
    let of = |delivery: &Value| {
        let received = named(&seen, "webhook.receive").into_iter();
        let mut found =
            received.filter(|span| attribute(span, "gatehouse.delivery.id") == &delivery["id"]);
        found.next().unwrap()
    };
    for span in [of(&delivery), of(&strange)] {
        assert_eq!(span.get("parentSpanId"), None);
        assert_ne!(span["traceId"], SENDERS_TRACE);
    }
    assert_eq!(of(&delivery).get("links"), None);
    let link = json!([{ "traceId": SENDERS_TRACE, "spanId": SENDERS_SPAN }]);
    assert_eq!(of(&strange)["links"], link);
}

#[tokio::test]
async fn work_after_a_restart_belongs_to_the_trace_of_the_request() {
    let collector = Collector::start().await;
    let (server, owner) = started(&collector).await;
    let hook = inbox_hook(&owner).await;
    let pause = json!({ "id": hook.id(), "enabled": false });
    deliver(&server, &hook, &[], "{\"a\":1}").await;
    completed(&owner, &hook, 1).await;
    let original = until(&owner, &hook, 1).await.remove(0);
    // A replay of a disabled webhook waits until it is enabled.
    owner.rpc("webhooks.update", pause).await.unwrap();
    let replay = json!({ "id": original["id"] });
    owner.rpc("webhooks.delivery.replay", replay).await.unwrap();
    let mut server = server.restart().await;
    let owner = owner.at(server.address());
    let unlock = json!({ "password": PASSWORD });
    owner
        .post("/api/auth/vault/unlock", unlock)
        .await
        .expect(200);
    let resume = json!({ "id": hook.id(), "enabled": true });
    owner.rpc("webhooks.update", resume).await.unwrap();
    let replayed = completed(&owner, &hook, 2).await;
    drop(server.stop().await);

    let seen = collector.seen();
    assert_eq!(seen.faults, [""; 0]);
    let made = only(&seen, "webhook.make");
    assert_eq!(attribute(made, "gatehouse.delivery.id"), &replayed["id"]);
    let receive = only(&seen, "webhook.receive");
    assert_eq!(made["links"][0]["spanId"], receive["spanId"]);
    let attempts = named(&seen, "webhook.attempt");
    assert_eq!(attempts.len(), 2);
    for (attempt, first) in attempts.iter().zip([receive, made]) {
        assert_eq!(attempt["traceId"], first["traceId"]);
        assert_eq!(attempt["parentSpanId"], first["spanId"]);
    }
    assert_ne!(made["traceId"], receive["traceId"]);
}

#[tokio::test]
async fn a_busy_collector_is_asked_again_after_the_wait_that_it_wants() {
    let collector = Collector::start().await;
    let (mut server, owner) = started(&collector).await;
    let hook = inbox_hook(&owner).await;
    collector.refuse(429, Some("2"));
    collector.refuse(503, None);
    deliver(&server, &hook, &[], "{}").await;
    collector.until(|seen| !seen.spans.is_empty()).await;
    drop(server.stop().await);
    let seen = collector.seen();
    assert_eq!(seen.faults, [""; 0]);
    let waited = seen.traces_at[1].duration_since(seen.traces_at[0]);
    assert!(waited >= Duration::from_secs(2), "{waited:?}");
    only(&seen, "webhook.receive");
}

#[tokio::test]
async fn what_a_collector_finally_refuses_is_not_sent_again() {
    let collector = Collector::start().await;
    let (mut server, owner) = started(&collector).await;
    let hook = inbox_hook(&owner).await;
    collector.refuse(400, None);
    deliver(&server, &hook, &[], "{\"a\":1}").await;
    completed(&owner, &hook, 1).await;
    collector.until(|seen| seen.traces_at.len() == 1).await;
    let doctor = || async {
        let report = owner.rpc("system.doctor", json!({})).await.unwrap();
        let checks = report["checks"].as_array().unwrap().clone();
        let mut found = checks
            .into_iter()
            .filter(|check| check["id"] == "telemetry");
        found.next().unwrap()
    };
    let refused = loop {
        let check = doctor().await;
        if check["ok"] == false {
            break check;
        }
    };
    assert!(
        refused["message"].as_str().unwrap().contains("400"),
        "{refused}"
    );
    assert!(refused["hint"].as_str().unwrap().contains("4318"));
    deliver(&server, &hook, &[], "{\"a\":2}").await;
    let second = completed(&owner, &hook, 2).await;
    collector.until(|seen| !seen.spans.is_empty()).await;
    while doctor().await["ok"] == false {}
    drop(server.stop().await);
    let seen = collector.seen();
    assert_eq!(seen.faults, [""; 0]);
    let receive = only(&seen, "webhook.receive");
    assert_eq!(attribute(receive, "gatehouse.delivery.id"), &second["id"]);
}

#[tokio::test]
async fn nothing_is_sent_without_an_endpoint_and_a_dead_collector_stops_nothing() {
    let collector = Collector::start().await;
    let server = TestServer::start(Options::default()).await;
    let owner = server.set_up().await;
    let hook = inbox_hook(&owner).await;
    deliver(&server, &hook, &[], "{}").await;
    completed(&owner, &hook, 1).await;
    let report = owner.rpc("system.doctor", json!({})).await.unwrap();
    assert!(!report["checks"].to_string().contains("telemetry"));
    let mut server = server;
    drop(server.stop().await);
    assert_eq!(collector.seen().requests, 0);

    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    let mut server = TestServer::start(with_model(&url).await).await;
    let owner = server.set_up().await;
    let hook = inbox_hook(&owner).await;
    deliver(&server, &hook, &[], "{}").await;
    completed(&owner, &hook, 1).await;
    drop(server.stop().await);
}

#[tokio::test]
async fn a_programs_call_of_a_model_is_a_trace() {
    let collector = Collector::start().await;
    let (mut server, owner) = started(&collector).await;
    let program = server.api_key(&owner, &["operator.write"]).await;
    let messages = json!([{ "role": "user", "content": "how many okapis?" }]);
    let call = json!({ "model": "fake/m1", "messages": messages });
    let answer = program.post("/v1/chat/completions", call).await;
    answer.expect(200);
    drop(server.stop().await);

    let seen = collector.seen();
    assert_eq!(seen.faults, [""; 0]);
    let request = only(&seen, "api.model_call");
    is_one_trace(&seen, &request["traceId"], None);
    assert_eq!(only(&seen, "model.call")["parentSpanId"], request["spanId"]);
    assert!(!seen.texts.contains("okapi"));
}
