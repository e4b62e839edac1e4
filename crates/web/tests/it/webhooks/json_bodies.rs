//! Webhooks that send JSON of the owner's own form to an `http` channel, with a receiver that checks the signature
//! (<https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md>).

use super::{CreatedWebhook, deliveries, made, send};
use crate::steps::light_owner;
use aws_lc_rs::hmac;
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use data_encoding::BASE64;
use gatehouse_testkit::{Actor, Options};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

const KEY: &str = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const PAYLOAD: &str =
    r#"{ "n": 1.50, "title": "say \"hi\"", "labels": ["a", {"b": null}], "10": 1, "9": 2 }"#;
const TEMPLATE: &str = r##"{ "title": "#{n}: {title}", "n": "{n}", "labels": "{labels}", "gone": "{gone}", "x": "a {b}" }"##;
const BODY: &str =
    r##"{"title":"#1.50: say \"hi\"","n":1.50,"labels":["a",{"b":null}],"gone":null,"x":"a {b}"}"##;

type Request = (HeaderMap, String);

/// The requests that a channel sends.
struct Receiver(mpsc::Receiver<Request>);

async fn take(
    State(sender): State<mpsc::Sender<Request>>,
    headers: HeaderMap,
    body: String,
) -> StatusCode {
    sender.send((headers, body)).await.unwrap();
    StatusCode::OK
}

impl Receiver {
    /// Starts a receiver and creates the channel `http` for it.
    async fn start(owner: &Actor) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let (sender, requests) = mpsc::channel(16);
        let app = Router::new().route("/hook", post(take)).with_state(sender);
        tokio_util::task::TaskTracker::new().spawn(async move {
            axum::serve(listener, app).await.unwrap();
        });
        let fields = json!({ "url": url, "secret": format!("whsec_{KEY}") });
        let account = json!({ "type": "http", "label": "Receiver", "fields": fields });
        owner.rpc("channels.create", account).await.unwrap();
        Self(requests)
    }

    /// Returns the ID and the body of the next request, and checks its headers.
    async fn next(&mut self) -> (String, String) {
        let next = tokio::time::timeout(Duration::from_secs(20), self.0.recv()).await;
        let (headers, body) = next.unwrap().unwrap();
        let header = |name: &str| headers[name].to_str().unwrap().to_owned();
        let (id, time) = (header("webhook-id"), header("webhook-timestamp"));
        let key = hmac::Key::new(hmac::HMAC_SHA256, &BASE64.decode(KEY.as_bytes()).unwrap());
        let signature = hmac::sign(&key, format!("{id}.{time}.{body}").as_bytes());
        let expected = format!("v1,{}", BASE64.encode(signature.as_ref()));
        assert_eq!(header("webhook-signature"), expected);
        assert_eq!(header("content-type"), "application/json");
        (id, body)
    }
}

async fn json_webhook(owner: &Actor, template: &str) -> CreatedWebhook {
    let members = json!({
        "auth_mode": "none", "deliver_to": "http", "template_format": "json",
        "prompt_template": template,
    });
    made(owner, members).await
}

async fn preview(owner: &Actor, template: &str, of: Value) -> Result<Value, String> {
    let mut params = json!({
        "prompt_template": template, "template_format": "json", "deliver_to": "http",
    });
    let of = of.as_object().unwrap().clone();
    params.as_object_mut().unwrap().extend(of);
    call(owner, "webhooks.template.preview", params).await
}

/// Calls a method. An error is its whole object.
async fn call(owner: &Actor, method: &str, params: Value) -> Result<Value, String> {
    let reply = owner.rpc_reply(method, params).await.json();
    match reply.get("result") {
        Some(result) => Ok(result.clone()),
        None => Err(reply["error"].to_string()),
    }
}

#[tokio::test]
async fn the_body_is_the_one_of_the_preview_also_for_replays_and_samples() {
    let (server, owner) = light_owner(Options::default()).await;
    let mut receiver = Receiver::start(&owner).await;
    let hook = json_webhook(&owner, TEMPLATE).await;
    assert_eq!(hook.record["template_format"], "json");
    let sent = send(&server.remote(), &hook.path(), &[], PAYLOAD).await;
    sent.expect(202);
    let (id, body) = receiver.next().await;
    assert_eq!(body, BODY);

    let delivery = deliveries(&owner, &hook).await.remove(0);
    let expected = json!({ "text": BODY, "missing": ["gone", "b"] });
    for of in [
        json!({ "payload": PAYLOAD }),
        json!({ "delivery_id": delivery["id"] }),
    ] {
        assert_eq!(preview(&owner, TEMPLATE, of).await.unwrap(), expected);
    }

    let replay = json!({ "id": delivery["id"] });
    owner.rpc("webhooks.delivery.replay", replay).await.unwrap();
    let (other_id, body) = receiver.next().await;
    assert_eq!(body, BODY);
    assert_ne!(other_id, id);

    let tested = owner.rpc("webhooks.test", json!({ "id": hook.id() })).await;
    let of = json!({ "delivery_id": tested.unwrap()["delivery_id"] });
    let (_, body) = receiver.next().await;
    assert_eq!(preview(&owner, TEMPLATE, of).await.unwrap()["text"], body);
}

#[tokio::test]
async fn without_a_template_the_whole_payload_is_the_body() {
    let (server, owner) = light_owner(Options::default()).await;
    let mut receiver = Receiver::start(&owner).await;
    let members = json!({ "auth_mode": "none", "deliver_to": "http", "template_format": "json" });
    let hook = made(&owner, members).await;
    let body = r#"{"b":1.0,"a":[1e400,"é"],"2":0,"1":0}"#;
    let sent = send(&server.remote(), &hook.path(), &[], body).await;
    sent.expect(202);
    assert_eq!(receiver.next().await.1, body);
}

#[tokio::test]
async fn a_schedule_sends_a_json_body_too() {
    let (_server, owner) = light_owner(Options::default()).await;
    let mut receiver = Receiver::start(&owner).await;
    let members = json!({
        "source_profile": "schedule", "schedule": { "every_seconds": 60 }, "deliver_to": "http",
        "template_format": "json", "prompt_template": r#"{"kind":"{type}","missed":"{missed}"}"#,
    });
    let hook = made(&owner, members).await;
    let tested = owner.rpc("webhooks.test", json!({ "id": hook.id() })).await;
    tested.unwrap();
    let body: Value = serde_json::from_str(&receiver.next().await.1).unwrap();
    assert_eq!(body["kind"], "schedule.run");
    assert!(body["missed"].is_number(), "{body}");
}

#[tokio::test]
async fn a_body_at_its_limit_is_sent_and_one_byte_more_fails_the_delivery() {
    let (server, owner) = light_owner(Options::default()).await;
    let mut receiver = Receiver::start(&owner).await;
    // The brackets are two bytes.
    let template = r#"["{__raw__}"]"#;
    let hook = json_webhook(&owner, template).await;
    let payload = |bytes: usize| format!("\"{}\"", "x".repeat(bytes - 2));
    let most = 1024 * 1024 - 2;
    let over = preview(&owner, template, json!({ "payload": payload(most + 1) })).await;
    assert!(over.unwrap_err().contains("larger than 1 MiB"));
    let sent = send(&server.remote(), &hook.path(), &[], payload(most + 1)).await;
    sent.expect(202);
    let failed = async {
        loop {
            let found = deliveries(&owner, &hook).await.remove(0);
            if found["status"] == "failed" {
                return found;
            }
        }
    };
    let failed = tokio::time::timeout(Duration::from_secs(20), failed).await;
    let failed = failed.unwrap();
    let error = failed["error"].as_str().unwrap();
    assert!(
        error.contains("larger than 1 MiB. Nothing was sent."),
        "{error}"
    );
    assert_eq!(failed["attempts"], 1);
    let sent = send(&server.remote(), &hook.path(), &[], payload(most)).await;
    sent.expect(202);
    assert_eq!(receiver.next().await.1.len(), 1024 * 1024);
}

#[tokio::test]
async fn a_template_that_is_not_json_is_refused_with_its_place() {
    let (_server, owner) = light_owner(Options::default()).await;
    let _receiver = Receiver::start(&owner).await;
    let members = json!({
        "name": "n", "deliver_only": true, "deliver_to": "http", "template_format": "json",
        "prompt_template": "{\n  \"a\": {b}\n}",
    });
    let refused = call(&owner, "webhooks.create", members).await.unwrap_err();
    assert!(
        refused.contains("prompt_template") && refused.contains("line 2, column"),
        "{refused}"
    );
    let neither = preview(&owner, "1", json!({})).await.unwrap_err();
    assert!(
        neither.contains("either payload or delivery_id"),
        "{neither}"
    );
    let types = owner.rpc("channels.types", json!({})).await.unwrap();
    let taking = types["types"].as_array().unwrap().iter();
    let taking: Vec<_> = taking.filter(|it| it["takes_json"] == true).collect();
    assert_eq!((taking.len(), &taking[0]["type"]), (1, &json!("http")));
}
