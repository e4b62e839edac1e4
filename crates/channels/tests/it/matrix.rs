//! <https://spec.matrix.org/latest/client-server-api/#put_matrixclientv3roomsroomidsendeventtypetxnid>,
//! `#rate-limiting`, `#user-and-room-mentions`, `#size-limits`.

use crate::harness::{give_up, harness, retry};
use crate::vendor::{Answer, ReceivedRequest, Vendor, answer};
use gatehouse_channels::REPLY_TO;
use serde_json::json;
use std::time::Duration;

fn rule(seen: &ReceivedRequest) -> Answer {
    if seen.header("authorization") != "Bearer syt_1" {
        return answer(
            401,
            &json!({ "errcode": "M_UNKNOWN_TOKEN", "error": "Invalid access token" }),
        );
    }
    let body = seen.json();
    let plain = body["msgtype"] == "m.text"
        && body.get("format").is_none()
        && body["m.mentions"] == json!({});
    if seen.method != "PUT" || !plain || seen.body.len() > 65_536 {
        return answer(400, &json!({ "errcode": "M_BAD_JSON" }));
    }
    if !seen
        .target
        .starts_with("/_matrix/client/v3/rooms/!r:example.com/send/m.room.message/")
    {
        return answer(
            403,
            &json!({ "errcode": "M_FORBIDDEN", "error": "not in room" }),
        );
    }
    answer(200, &json!({ "event_id": "$1" }))
}

fn fields(vendor: &Vendor) -> serde_json::Value {
    json!({ "homeserver": vendor.url("/"), "access_token": "syt_1", "room_id": "!r:example.com" })
}

#[tokio::test]
async fn a_message_is_an_event_with_a_transaction_that_stays_the_same() {
    let (harness, vendor) = (harness().await, Vendor::start(rule).await);
    harness.create("matrix", fields(&vendor)).await;
    vendor.next(answer(502, &json!({})));
    retry(harness.send("matrix", "hi @room").await);
    harness.send("matrix", "hi @room").await.unwrap();
    harness.send("matrix", "something else").await.unwrap();
    let seen = vendor.take();
    assert_eq!(seen[0].target, seen[1].target);
    assert_ne!(seen[1].target, seen[2].target);
    assert_eq!(
        seen[1].json(),
        json!({ "msgtype": "m.text", "body": "hi @room", "m.mentions": {} })
    );
}

#[tokio::test]
async fn only_the_first_part_of_an_answer_is_a_reply_and_only_to_an_event() {
    let (harness, vendor) = (harness().await, Vendor::start(rule).await);
    harness.create("matrix", fields(&vendor)).await;
    let text = "x ".repeat(40_000);
    let event = [(REPLY_TO, "$7")];
    harness.send_with("matrix", &text, &event).await.unwrap();
    let seen = vendor.take();
    assert_eq!(seen.len(), 2);
    assert_eq!(
        seen[0].json()["m.relates_to"],
        json!({ "m.in_reply_to": { "event_id": "$7" } })
    );
    assert!(seen[1].json().get("m.relates_to").is_none());
    let edit = [(REPLY_TO, "$7|$8")];
    harness.send_with("matrix", "hi", &edit).await.unwrap();
    assert_eq!(
        vendor.take_one().json()["m.relates_to"],
        json!({ "m.in_reply_to": { "event_id": "$7" } }),
        "the original of an edit"
    );
    let room = [(REPLY_TO, "encrypted:!r:example.com")];
    harness.send_with("matrix", "hi", &room).await.unwrap();
    assert!(vendor.take_one().json().get("m.relates_to").is_none());
}

#[tokio::test]
async fn refusals_and_limits() {
    let (harness, vendor) = (harness().await, Vendor::start(rule).await);
    harness.create("matrix", fields(&vendor)).await;
    let limited = json!({ "errcode": "M_LIMIT_EXCEEDED", "retry_after_ms": 2500 });
    vendor.next(answer(429, &limited));
    assert_eq!(
        retry(harness.send("matrix", "x").await).0,
        Some(Duration::from_millis(2500))
    );
    vendor.next((
        429,
        vec![("retry-after", "3".to_owned())],
        json!({ "errcode": "M_LIMIT_EXCEEDED" }).to_string(),
    ));
    assert_eq!(
        retry(harness.send("matrix", "x").await).0,
        Some(Duration::from_secs(3))
    );
    let elsewhere = harness
        .send_with("matrix", "x", &[("room_id", "!other/../r:example.com")])
        .await;
    assert!(give_up(elsewhere).contains("has joined it"));
    let token = json!({ "errcode": "M_UNKNOWN_TOKEN" });
    vendor.next(answer(401, &token));
    assert!(give_up(harness.send("matrix", "x").await).contains("access token"));
}

#[tokio::test]
async fn a_text_that_no_event_can_hold_is_split() {
    let (harness, vendor) = (harness().await, Vendor::start(rule).await);
    harness.create("matrix", fields(&vendor)).await;
    for (text, parts) in [("\"".repeat(30_000), 1), ("\"".repeat(30_001), 2)] {
        harness.send("matrix", &text).await.unwrap();
        let seen = vendor.take();
        assert_eq!(seen.len(), parts);
        let whole: String = seen
            .iter()
            .map(|part| part.json()["body"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(whole, text);
    }
}
