//! <https://core.telegram.org/bots/api#sendmessage> and `#responseparameters`.

use crate::harness::{Harness, give_up, harness, retry};
use crate::vendor::{Answer, ReceivedRequest, Vendor, answer};
use gatehouse_channels::REPLY_TO;
use serde_json::{Value, json};
use std::time::Duration;

const TOKEN: &str = "123456:ABC-DEF_ghi";

/// Rejects requests that the Bot API rejects.
fn rule(seen: &ReceivedRequest) -> Answer {
    if seen.target != format!("/bot{TOKEN}/sendMessage") {
        return answer(
            404,
            &json!({ "ok": false, "error_code": 404, "description": "Not Found" }),
        );
    }
    let body = seen.json();
    let known = [
        "chat_id",
        "text",
        "message_thread_id",
        "disable_notification",
        "link_preview_options",
        "reply_parameters",
    ];
    let all_known = body
        .as_object()
        .unwrap()
        .keys()
        .all(|key| known.contains(&key.as_str()));
    let length = body["text"]
        .as_str()
        .map_or(0, |text| text.encode_utf16().count());
    if seen.method != "POST" || !all_known || !(1..=4096).contains(&length) {
        return answer(
            400,
            &json!({ "ok": false, "error_code": 400, "description": "Bad Request: message is too long" }),
        );
    }
    answer(200, &json!({ "ok": true, "result": { "message_id": 1 } }))
}

async fn start() -> (Harness, Vendor) {
    let (harness, vendor) = (harness().await, Vendor::start(rule).await);
    let fields = json!({ "bot_token": TOKEN, "chat_id": "-100123", "base_url": vendor.url("") });
    harness.create("telegram", fields).await;
    (harness, vendor)
}

#[tokio::test]
async fn a_message_is_plain_text_to_a_chat() {
    let (harness, vendor) = start().await;
    harness
        .send("telegram", "*not bold* <b> & @everyone")
        .await
        .unwrap();
    let expected = json!({
        "chat_id": -100_123, "text": "*not bold* <b> & @everyone", "link_preview_options": { "is_disabled": true },
    });
    assert_eq!(vendor.take_one().json(), expected);
}

#[tokio::test]
async fn a_message_may_name_chat_topic_and_silence_but_no_address() {
    let (harness, vendor) = start().await;
    let extra = [
        ("chat_id", "@my\r\nchannel"),
        ("message_thread_id", "7"),
        ("disable_notification", "true"),
        ("base_url", "http://169.254.169.254/"),
        ("parse_mode", "HTML"),
    ];
    harness
        .send_with("telegram:telegram", "x", &extra)
        .await
        .unwrap();
    let expected = json!({
        "chat_id": "@mychannel", "text": "x", "message_thread_id": 7, "disable_notification": true,
        "link_preview_options": { "is_disabled": true },
    });
    assert_eq!(vendor.take_one().json(), expected);
}

#[tokio::test]
async fn only_the_first_part_of_an_answer_is_a_reply_and_none_in_a_topic() {
    let (harness, vendor) = start().await;
    let text = "x ".repeat(3000);
    let reply = (REPLY_TO, "100:5");
    harness
        .send_with("telegram", &text, &[reply])
        .await
        .unwrap();
    let seen = vendor.take();
    assert_eq!(seen.len(), 2);
    assert_eq!(
        seen[0].json()["reply_parameters"],
        json!({ "message_id": 5, "allow_sending_without_reply": true })
    );
    assert!(seen[1].json().get("reply_parameters").is_none());
    // Messages stored by an earlier version have only the ID of the update.
    for extra in [
        [reply, ("message_thread_id", "7")],
        [(REPLY_TO, "100"), ("chat_id", "1")],
    ] {
        harness.send_with("telegram", "x", &extra).await.unwrap();
        assert!(vendor.take_one().json().get("reply_parameters").is_none());
    }
}

#[tokio::test]
async fn a_long_text_is_split_at_4096_utf16_units_and_nothing_is_lost() {
    let (harness, vendor) = start().await;
    let fits = "😀".repeat(2048);
    harness.send("telegram", &fits).await.unwrap();
    assert_eq!(vendor.take_one().json()["text"], fits);
    let over = format!("{fits}!");
    harness.send("telegram", &over).await.unwrap();
    let parts = vendor.take();
    assert_eq!(parts.len(), 2);
    let texts: Vec<Value> = parts
        .iter()
        .map(|part| part.json()["text"].clone())
        .collect();
    assert_eq!(texts, [json!(fits), json!("!")]);
}

#[tokio::test]
async fn flood_control_says_when_to_come_back() {
    let (harness, vendor) = start().await;
    let body = json!({
        "ok": false, "error_code": 429, "description": "Too Many Requests: retry after 35",
        "parameters": { "retry_after": 35 },
    });
    vendor.next(answer(429, &body));
    let (after, _) = retry(harness.send("telegram", "x").await);
    assert_eq!(after, Some(Duration::from_secs(35)));
    vendor.next(answer(502, &json!({})));
    assert_eq!(retry(harness.send("telegram", "x").await).0, None);
}

#[tokio::test]
async fn a_refusal_is_a_sentence_without_the_token() {
    let (harness, vendor) = start().await;
    let refusals = [
        (
            400,
            json!({ "description": "Bad Request: chat not found" }),
            "has no such chat",
        ),
        (
            403,
            json!({ "description": "Forbidden: bot was blocked by the user" }),
            "blocked the bot",
        ),
        (
            401,
            json!({ "description": "Unauthorized" }),
            "refused the credentials",
        ),
        (
            400,
            json!({ "description": "migrated", "parameters": { "migrate_to_chat_id": -100_999 } }),
            "-100999",
        ),
        (302, json!({}), "redirect"),
        (200, json!({ "hello": "world" }), "not the Bot API"),
    ];
    for (status, body, expected) in refusals {
        vendor.next(answer(status, &body));
        let why = give_up(harness.send("telegram", "x").await);
        assert!(why.contains(expected), "{why}");
        assert!(!why.contains("ABC-DEF") && !why.contains("http"), "{why}");
    }
}

#[tokio::test]
async fn nobody_there_is_no_reason_to_show_the_url() {
    let harness = harness().await;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let fields = json!({ "bot_token": TOKEN, "chat_id": "1", "base_url": base });
    harness.create("telegram", fields).await;
    let (_, why) = retry(harness.send("telegram", "x").await);
    assert_eq!(why, "Telegram could not be reached.");
}

#[tokio::test]
async fn without_a_chat_there_is_nobody_to_send_to() {
    let (harness, vendor) = (harness().await, Vendor::start(rule).await);
    let fields = json!({ "bot_token": TOKEN, "base_url": vendor.url("/") });
    harness.create("telegram", fields).await;
    assert!(give_up(harness.send("telegram", "x").await).contains("chat_id"));
    harness
        .send_with("telegram", "x", &[("chat_id", "5")])
        .await
        .unwrap();
    assert_eq!(vendor.take_one().json()["chat_id"], 5);
}
