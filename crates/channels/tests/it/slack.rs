//! <https://docs.slack.dev/reference/methods/chat.postMessage>, incoming webhooks and rate limits.

use crate::harness::{Harness, give_up, harness, retry};
use crate::vendor::{Answer, ReceivedRequest, Vendor, answer};
use gatehouse_channels::{Channels, Markup};
use serde_json::json;
use std::time::Duration;

fn rule(seen: &ReceivedRequest) -> Answer {
    let body = seen.json();
    let fits = body["text"]
        .as_str()
        .is_some_and(|text| text.encode_utf16().count() <= 4000);
    match seen.target.as_str() {
        "/services/T0/B0/secret" => (if fits { 200 } else { 400 }, Vec::new(), "ok".to_owned()),
        "/api/chat.postMessage" if seen.header("authorization") != "Bearer xoxb-1" => {
            answer(200, &json!({ "ok": false, "error": "invalid_auth" }))
        }
        "/api/chat.postMessage" if body["channel"].as_str().is_none() => {
            answer(200, &json!({ "ok": false, "error": "channel_not_found" }))
        }
        "/api/chat.postMessage" if fits => answer(200, &json!({ "ok": true, "ts": "1.2" })),
        _ => answer(200, &json!({ "ok": false, "error": "msg_too_long" })),
    }
}

async fn bot() -> (Harness, Vendor) {
    let (harness, vendor) = (harness().await, Vendor::start(rule).await);
    let fields = json!({ "bot_token": "xoxb-1", "channel": "C1", "base_url": vendor.url("/api/") });
    harness.create("slack", fields).await;
    (harness, vendor)
}

#[tokio::test]
async fn a_bot_posts_to_its_channel_or_the_messages() {
    let (harness, vendor) = bot().await;
    harness.send("slack", "hello @channel").await.unwrap();
    assert_eq!(
        vendor.take_one().json(),
        json!({ "channel": "C1", "text": "hello @channel", "unfurl_links": false, "unfurl_media": false })
    );
    let extra = [
        ("channel", "C2\n"),
        ("thread_ts", "1.5"),
        ("webhook_url", "http://evil.example/"),
    ];
    harness.send_with("slack", "x", &extra).await.unwrap();
    let expected = json!({
        "channel": "C2", "text": "x", "thread_ts": "1.5", "unfurl_links": false, "unfurl_media": false,
    });
    assert_eq!(vendor.take_one().json(), expected);
}

#[tokio::test]
async fn a_webhook_posts_where_it_belongs() {
    let (harness, vendor) = (harness().await, Vendor::start(rule).await);
    let fields = json!({ "webhook_url": vendor.url("/services/T0/B0/secret") });
    harness.create("slack", fields).await;
    harness.send("slack", "hello").await.unwrap();
    let seen = vendor.take_one();
    let expected = json!({ "text": "hello", "unfurl_links": false, "unfurl_media": false });
    assert_eq!(seen.json(), expected);
    assert_eq!(seen.header("authorization"), "");
    vendor.next((404, Vec::new(), "no_service".to_owned()));
    let why = give_up(harness.send("slack", "x").await);
    assert!(
        !why.contains("secret") && !why.contains("no_service"),
        "{why}"
    );
}

#[tokio::test]
async fn temporary_errors_are_retried_and_others_are_named() {
    let (harness, vendor) = bot().await;
    vendor.next((429, vec![("retry-after", "30".to_owned())], String::new()));
    assert_eq!(
        retry(harness.send("slack", "x").await).0,
        Some(Duration::from_secs(30))
    );
    for code in ["ratelimited", "internal_error", "service_unavailable"] {
        vendor.next(answer(200, &json!({ "ok": false, "error": code })));
        retry(harness.send("slack", "x").await);
    }
    vendor.next(answer(
        200,
        &json!({ "ok": false, "error": "channel_not_found" }),
    ));
    assert_eq!(
        give_up(harness.send("slack", "x").await),
        "Slack refused the message: channel_not_found."
    );
    vendor.next(answer(
        200,
        &json!({ "ok": false, "error": "<html>token xoxb-1</html>" }),
    ));
    assert!(!give_up(harness.send("slack", "x").await).contains("xoxb"));
}

#[tokio::test]
async fn a_long_text_is_split_after_a_line() {
    let (harness, vendor) = bot().await;
    let fits = "x".repeat(4000);
    harness.send("slack", &fits).await.unwrap();
    vendor.take_one();
    let text = format!("{}\n{}", "a".repeat(3000), "b".repeat(3000));
    harness.send("slack", &text).await.unwrap();
    let parts: String = vendor
        .take()
        .iter()
        .map(|part| part.json()["text"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(parts, text);
}

#[test]
fn values_in_templates_are_escaped_for_slack() {
    assert_eq!(Channels::markup("slack:slack"), Markup::Slack);
    assert_eq!(Channels::markup("telegram"), Markup::None);
    assert_eq!(Channels::markup("nothing"), Markup::None);
}
