//! <https://discord.com/developers/docs/resources/webhook#execute-webhook>, `resources/message`,
//! `topics/rate-limits`, `reference#user-agent`.

use crate::harness::{give_up, harness, retry};
use crate::vendor::{Answer, ReceivedRequest, Vendor, answer};
use gatehouse_channels::REPLY_TO;
use serde_json::json;
use std::time::Duration;

fn rule(seen: &ReceivedRequest) -> Answer {
    let body = seen.json();
    let fits = body["content"]
        .as_str()
        .is_some_and(|text| (1..=2000).contains(&text.chars().count()));
    let silent = body["allowed_mentions"] == json!({ "parse": [] });
    if !fits || !silent || !seen.header("user-agent").starts_with("DiscordBot (") {
        return answer(
            400,
            &json!({ "code": 50_035, "message": "Invalid Form Body" }),
        );
    }
    let path = seen.target.split('?').next().unwrap();
    match (path, seen.header("authorization")) {
        ("/api/webhooks/1/secret", "") | ("/api/v10/channels/42/messages", "Bot abc.def") => {
            answer(200, &json!({ "id": "1" }))
        }
        _ => answer(401, &json!({ "message": "401: Unauthorized", "code": 0 })),
    }
}

#[tokio::test]
async fn a_webhook_waits_for_the_answer_and_pings_nobody() {
    let (harness, vendor) = (harness().await, Vendor::start(rule).await);
    harness
        .create(
            "discord",
            json!({ "webhook_url": vendor.url("/api/webhooks/1/secret") }),
        )
        .await;
    harness.send("discord", "@everyone hi").await.unwrap();
    let seen = vendor.take_one();
    assert_eq!(seen.target, "/api/webhooks/1/secret?wait=true");
    assert_eq!(
        seen.json(),
        json!({ "content": "@everyone hi", "allowed_mentions": { "parse": [] } })
    );
    harness
        .send_with("discord", "x", &[("thread_id", "9&a=b")])
        .await
        .unwrap();
    assert_eq!(
        vendor.take_one().target,
        "/api/webhooks/1/secret?wait=true&thread_id=9%26a%3Db"
    );
}

#[tokio::test]
async fn only_the_first_part_of_an_answer_is_a_reply() {
    let (harness, vendor) = (harness().await, Vendor::start(rule).await);
    let fields =
        json!({ "bot_token": "abc.def", "channel_id": "42", "base_url": vendor.url("/api/v10") });
    harness.create("discord", fields).await;
    // An edit has the time of the edit in its ID.
    let extra = [(REPLY_TO, "77:2026-01-01T00:00:00Z")];
    let text = "x ".repeat(1500);
    harness.send_with("discord", &text, &extra).await.unwrap();
    let seen = vendor.take();
    assert_eq!(seen.len(), 2);
    assert_eq!(
        seen[0].json()["message_reference"],
        json!({ "message_id": "77", "fail_if_not_exists": false })
    );
    assert!(seen[1].json().get("message_reference").is_none());
}

#[tokio::test]
async fn a_bot_posts_to_a_channel_with_a_nonce_that_stays_the_same() {
    let (harness, vendor) = (harness().await, Vendor::start(rule).await);
    let fields =
        json!({ "bot_token": "abc.def", "channel_id": "42", "base_url": vendor.url("/api/v10") });
    harness.create("discord", fields).await;
    vendor.next(answer(500, &json!({})));
    retry(harness.send("discord", "x").await);
    harness.send("discord", "x").await.unwrap();
    harness.send("discord", "y").await.unwrap();
    let nonces: Vec<_> = vendor
        .take()
        .iter()
        .map(|seen| {
            let body = seen.json();
            assert_eq!(body["enforce_nonce"], true);
            let nonce = body["nonce"].as_str().unwrap().to_owned();
            assert!(nonce.len() <= 25);
            nonce
        })
        .collect();
    assert_eq!(nonces[0], nonces[1]);
    assert_ne!(nonces[1], nonces[2]);
    let why = give_up(
        harness
            .send_with("discord", "x", &[("channel_id", "../../users/@me")])
            .await,
    );
    assert!(why.contains("refused the credentials"), "{why}");
    assert_eq!(
        vendor.take_one().target,
        "/api/v10/channels/..%2F..%2Fusers%2F@me/messages"
    );
}

#[tokio::test]
async fn the_wait_is_the_bodys() {
    let (harness, vendor) = (harness().await, Vendor::start(rule).await);
    harness
        .create(
            "discord",
            json!({ "webhook_url": vendor.url("/api/webhooks/1/secret") }),
        )
        .await;
    let body =
        json!({ "message": "You are being rate limited.", "retry_after": 1.337, "global": false });
    vendor.next((429, vec![("retry-after", "2".to_owned())], body.to_string()));
    assert_eq!(
        retry(harness.send("discord", "x").await).0,
        Some(Duration::from_millis(1337))
    );
    vendor.next(answer(
        404,
        &json!({ "message": "Unknown Webhook", "code": 10_015 }),
    ));
    assert!(!give_up(harness.send("discord", "x").await).contains("secret"));
}

#[tokio::test]
async fn a_long_text_is_split_at_2000() {
    let (harness, vendor) = (harness().await, Vendor::start(rule).await);
    harness
        .create(
            "discord",
            json!({ "webhook_url": vendor.url("/api/webhooks/1/secret") }),
        )
        .await;
    for (length, parts) in [(2000, 1), (2001, 2)] {
        harness.send("discord", &"x".repeat(length)).await.unwrap();
        assert_eq!(vendor.take().len(), parts);
    }
}
