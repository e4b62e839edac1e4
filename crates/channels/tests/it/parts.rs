//! A message in several parts: another try sends only what is missing.

use crate::harness::{Room, give_up, retry, rooms};
use crate::vendor::{Seen, Vendor, answer};
use serde_json::json;

async fn start(room: &Room) -> Vendor {
    let vendor = Vendor::start(|_| answer(200, &json!({}))).await;
    let fields = json!({ "webhook_url": vendor.url("/w/secret") });
    room.create("discord", fields).await;
    vendor
}

/// Three parts.
fn text() -> String {
    format!("{}{}{}", "a".repeat(2000), "b".repeat(2000), "c".repeat(10))
}

fn firsts(seen: &[Seen]) -> String {
    seen.iter()
        .map(|part| {
            part.json()["content"]
                .as_str()
                .unwrap()
                .chars()
                .next()
                .unwrap()
        })
        .collect()
}

#[tokio::test]
async fn another_try_begins_where_the_last_one_ended() {
    for room in rooms().await {
        let vendor = start(&room).await;
        vendor.next(answer(200, &json!({})));
        vendor.next(answer(429, &json!({ "retry_after": 1 })));
        retry(room.send("discord", &text()).await);
        assert_eq!(firsts(&vendor.take()), "ab");
        vendor.next(answer(500, &json!({})));
        retry(room.send("discord", &text()).await);
        assert_eq!(firsts(&vendor.take()), "b");
        room.send("discord", &text()).await.unwrap();
        assert_eq!(firsts(&vendor.take()), "bc");
    }
}

#[tokio::test]
async fn a_message_that_was_sent_or_given_up_starts_anew() {
    for room in rooms().await {
        let vendor = start(&room).await;
        room.send("discord", &text()).await.unwrap();
        room.send("discord", &text()).await.unwrap();
        assert_eq!(firsts(&vendor.take()), "abcabc");
        vendor.next(answer(200, &json!({})));
        vendor.next(answer(403, &json!({})));
        give_up(room.send("discord", &text()).await);
        room.send("discord", &text()).await.unwrap();
        assert_eq!(firsts(&vendor.take()), "ababc");
    }
}

#[tokio::test]
async fn another_message_has_its_own_progress() {
    for room in rooms().await {
        let vendor = start(&room).await;
        vendor.next(answer(200, &json!({})));
        vendor.next(answer(500, &json!({})));
        retry(room.send("discord", &text()).await);
        vendor.take();
        room.send("discord", &format!("{}d", text())).await.unwrap();
        assert_eq!(firsts(&vendor.take()), "abc");
        room.send("discord", &text()).await.unwrap();
        assert_eq!(firsts(&vendor.take()), "bc");
    }
}
