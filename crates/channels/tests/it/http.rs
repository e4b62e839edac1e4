//! A receiver that verifies signatures according to
//! <https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md>.

use crate::harness::{NOW_MS, actor, blame, give_up, harness, retry};
use crate::vendor::{Answer, ReceivedRequest, Vendor};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gatehouse_domain::ErrorCode;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::json;
use sha2::Sha256;
use std::time::Duration;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn takes_all(_: &ReceivedRequest) -> Answer {
    (204, Vec::new(), String::new())
}

fn assert_signed(seen: &ReceivedRequest) {
    let key = STANDARD
        .decode(SECRET.strip_prefix("whsec_").unwrap())
        .unwrap();
    let signed = format!(
        "{}.{}.{}",
        seen.header("webhook-id"),
        seen.header("webhook-timestamp"),
        seen.text()
    );
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
    mac.update(signed.as_bytes());
    let expected = format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()));
    assert_eq!(seen.header("webhook-signature"), expected);
}

#[tokio::test]
async fn the_message_is_json_and_extra_values_stand_beside_it() {
    let (harness, vendor) = (harness().await, Vendor::start(takes_all).await);
    harness
        .create("http", json!({ "url": vendor.url("/hook/?k=v") }))
        .await;
    harness
        .send_with(
            "http",
            "line 1\nline 2 <b>",
            &[("severity", "high"), ("url", "http://evil.example/")],
        )
        .await
        .unwrap();
    let seen = vendor.take_one();
    assert_eq!(
        (seen.method.as_str(), seen.target.as_str()),
        ("POST", "/hook/?k=v")
    );
    assert_eq!(seen.header("content-type"), "application/json");
    assert_eq!(
        seen.json(),
        json!({
            "text": "line 1\nline 2 <b>",
            "source": "deploys",
            "timestamp": "2026-11-18T11:06:40.123Z",
            "severity": "high",
            "url": "http://evil.example/",
        })
    );
    assert_eq!(seen.header("webhook-signature"), "");
}

#[tokio::test]
async fn a_secret_signs_and_the_id_stays_over_tries() {
    let (harness, vendor) = (harness().await, Vendor::start(takes_all).await);
    let headers = json!({ "Authorization": "Bearer t", "X-Team": "ops" });
    harness
        .create(
            "http",
            json!({ "url": vendor.url("/"), "secret": SECRET, "headers": headers }),
        )
        .await;
    vendor.next((503, vec![("retry-after", "9".to_owned())], String::new()));
    assert_eq!(
        retry(harness.send("http", "x").await).0,
        Some(Duration::from_secs(9))
    );
    harness.clock.advance(Duration::from_secs(10));
    harness.send("http", "x").await.unwrap();
    let seen = vendor.take();
    seen.iter().for_each(assert_signed);
    assert_eq!(seen[0].header("webhook-id"), seen[1].header("webhook-id"));
    assert!(seen[0].header("webhook-id").starts_with("msg_"));
    let times: Vec<i64> = seen
        .iter()
        .map(|s| s.header("webhook-timestamp").parse().unwrap())
        .collect();
    assert_eq!(times, [NOW_MS / 1000, NOW_MS / 1000 + 10]);
    assert_eq!(
        (seen[1].header("authorization"), seen[1].header("x-team")),
        ("Bearer t", "ops")
    );
}

#[tokio::test]
async fn each_message_has_an_id_of_its_own_with_and_without_a_secret() {
    let (harness, vendor) = (harness().await, Vendor::start(takes_all).await);
    for secret in [None, Some(SECRET)] {
        let mut fields = json!({ "url": vendor.url("/") });
        if let Some(secret) = secret {
            fields["secret"] = json!(secret);
        }
        harness.create("http", fields).await;
        // One delivery twice, and another delivery with the same text and time.
        for delivery in ["del_1", "del_1", "del_2"] {
            harness.send_of(delivery, "http", "x").await.unwrap();
        }
        for _ in 0..2 {
            harness.channels.test("http", Some("x")).await.unwrap();
        }
        let seen = vendor.take();
        let ids: Vec<_> = seen.iter().map(|seen| seen.header("webhook-id")).collect();
        assert!(ids.iter().all(|id| id.starts_with("msg_")), "{ids:?}");
        assert_eq!(ids[0], ids[1]);
        let mut different = ids[1..].to_vec();
        different.sort_unstable();
        different.dedup();
        assert_eq!(different.len(), 4, "{ids:?}");
        harness.channels.delete(actor(), "http").await.unwrap();
    }
}

#[tokio::test]
async fn json_of_the_owner_is_the_body_and_only_here() {
    let (harness, vendor) = (harness().await, Vendor::start(takes_all).await);
    harness
        .create(
            "http",
            json!({ "url": vendor.url("/"), "secret": SECRET, "headers": { "X-Team": "ops" } }),
        )
        .await;
    let body = r#"{"a":1.50,"b":[null,"  "]}"#;
    vendor.next((503, Vec::new(), String::new()));
    retry(harness.send_json("http", body).await);
    harness.send_json("http", body).await.unwrap();
    let seen = vendor.take();
    assert_eq!(seen.len(), 2);
    for request in &seen {
        assert_signed(request);
        assert_eq!(request.text(), body);
        assert_eq!(request.header("content-type"), "application/json");
        assert_eq!(request.header("x-team"), "ops");
        assert_eq!(request.header("webhook-id"), seen[0].header("webhook-id"));
    }
    let why = give_up(harness.send_json("inbox", body).await);
    assert!(why.contains("does not accept JSON"), "{why}");
}

#[tokio::test]
async fn redirects_and_metadata_addresses_are_refused() {
    let (harness, vendor) = (harness().await, Vendor::start(takes_all).await);
    harness
        .create("http", json!({ "url": vendor.url("/") }))
        .await;
    let away = vec![("location", vendor.url("/elsewhere"))];
    vendor.next((307, away, String::new()));
    let why = give_up(harness.send("http", "x").await);
    assert!(
        why.starts_with("The channel “My http” answered with a redirect"),
        "{why}"
    );
    assert_eq!(vendor.take().len(), 1);
    for url in [
        "http://169.254.169.254/latest",
        "http://[fd00:ec2::254]/",
        "http://2852039166/",
    ] {
        let refused = harness
            .try_create("http", Some("meta"), json!({ "url": url }))
            .await;
        assert_eq!(
            blame(refused),
            (ErrorCode::InvalidParams, "url".to_owned()),
            "{url}"
        );
    }
}

#[tokio::test]
async fn an_empty_text_is_a_message_here() {
    let (harness, vendor) = (harness().await, Vendor::start(takes_all).await);
    harness
        .create("http", json!({ "url": vendor.url("/") }))
        .await;
    harness.send_with("http", "", &[("a", "b")]).await.unwrap();
    assert_eq!(vendor.take_one().json()["text"], "");
}

#[tokio::test]
async fn secrets_do_not_follow_another_address() {
    let harness = harness().await;
    let (own, other) = (
        Vendor::start(takes_all).await,
        Vendor::start(takes_all).await,
    );
    let headers = json!({ "Authorization": "Bearer of-the-owner" });
    let account = harness
        .create("http", json!({ "url": own.url("/"), "headers": headers }))
        .await;
    let to = async |url: String, fields: serde_json::Value| {
        let mut fields = fields.as_object().unwrap().clone();
        fields.insert("url".to_owned(), url.into());
        let change = gatehouse_channels::AccountChange {
            fields,
            ..Default::default()
        };
        let update = harness
            .channels
            .update(crate::harness::actor(), true, &account.id, change);
        update.await.unwrap()
    };
    harness.send("http", "x").await.unwrap();
    assert_eq!(own.take().len(), 1);
    to(other.url("/"), json!({})).await;
    let refused = harness.send("http", "x").await;
    assert_eq!(other.take().len(), 0, "the secret went to another address");
    assert!(give_up(refused).contains("again"));
    // A different path of the same server counts as the same address.
    to(own.url("/other"), json!({})).await;
    harness.send("http", "x").await.unwrap();
    assert_eq!(own.take().len(), 1);
    // A secret that is entered again is bound to the new address.
    to(other.url("/"), json!({ "headers": headers })).await;
    harness.send("http", "x").await.unwrap();
    let seen = other.take();
    assert_eq!(seen[0].header("authorization"), "Bearer of-the-owner");
    to(own.url("/"), json!({})).await;
    give_up(harness.send("http", "x").await);
    assert_eq!(own.take().len(), 0);
}
