//! Messages with several parts. A retry sends only the missing parts.

use crate::harness::{Harness, give_up, harness, harnesses, retry};
use crate::vendor::{ReceivedRequest, Vendor, answer};
use futures_util::future::join_all;
use gatehouse_channels::SendError;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

async fn start(harness: &Harness) -> Vendor {
    let vendor = Vendor::start(|_| answer(200, &json!({}))).await;
    let fields = json!({ "webhook_url": vendor.url("/w/secret") });
    harness.create("discord", fields).await;
    vendor
}

fn text() -> String {
    format!("{}{}{}", "a".repeat(2000), "b".repeat(2000), "c".repeat(10))
}

fn firsts(seen: &[ReceivedRequest]) -> String {
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
    for harness in harnesses().await {
        let vendor = start(&harness).await;
        vendor.next(answer(200, &json!({})));
        vendor.next(answer(429, &json!({ "retry_after": 1 })));
        retry(harness.send("discord", &text()).await);
        assert_eq!(firsts(&vendor.take()), "ab");
        vendor.next(answer(500, &json!({})));
        retry(harness.send("discord", &text()).await);
        assert_eq!(firsts(&vendor.take()), "b");
        harness.send("discord", &text()).await.unwrap();
        assert_eq!(firsts(&vendor.take()), "bc");
    }
}

#[tokio::test]
async fn no_part_ends_inside_a_code_block() {
    let harness = harness().await;
    let vendor = start(&harness).await;
    let code = "    let value = compute(1, 2, 3);\n".repeat(150);
    for (text, opening, close) in [
        (
            format!("Look:\n```rust\n{code}```\nDone."),
            "```rust\n",
            "```",
        ),
        (
            format!("1. Look:\n    ```rust\n{code}    ```\n2. Done."),
            "    ```rust\n",
            "    ```",
        ),
    ] {
        harness.send("discord", &text).await.unwrap();
        let parts = vendor.take();
        let parts: Vec<_> = parts.iter().map(ReceivedRequest::json).collect();
        assert_eq!(parts.len(), 3);
        for (number, part) in parts.iter().enumerate() {
            let part = part["content"].as_str().unwrap();
            assert_eq!(part.matches("```").count(), 2, "{part}");
            assert!(number == 0 || part.starts_with(opening), "{part}");
            assert!(number == 2 || part.ends_with(close), "{part}");
        }
    }
}

#[tokio::test]
async fn a_message_that_was_sent_or_abandoned_restarts_at_its_first_part() {
    for harness in harnesses().await {
        let vendor = start(&harness).await;
        harness.send("discord", &text()).await.unwrap();
        harness.send("discord", &text()).await.unwrap();
        assert_eq!(firsts(&vendor.take()), "abcabc");
        vendor.next(answer(200, &json!({})));
        vendor.next(answer(403, &json!({})));
        give_up(harness.send("discord", &text()).await);
        harness.send("discord", &text()).await.unwrap();
        assert_eq!(firsts(&vendor.take()), "ababc");
    }
}

/// The process can end after the last part was accepted and before the end of the delivery was stored.
#[tokio::test]
async fn another_attempt_at_a_delivery_sends_no_part_again() {
    for harness in harnesses().await {
        let vendor = start(&harness).await;
        for (delivery, parts) in [("del_1", "abc"), ("del_1", ""), ("del_2", "abc")] {
            let sent = harness.send_of(delivery, "discord", &text()).await;
            sent.unwrap();
            assert_eq!(firsts(&vendor.take()), parts, "{delivery}");
        }
    }
}

#[tokio::test]
async fn another_message_has_its_own_progress() {
    for harness in harnesses().await {
        let vendor = start(&harness).await;
        vendor.next(answer(200, &json!({})));
        vendor.next(answer(500, &json!({})));
        retry(harness.send("discord", &text()).await);
        vendor.take();
        harness
            .send("discord", &format!("{}d", text()))
            .await
            .unwrap();
        assert_eq!(firsts(&vendor.take()), "abc");
        harness.send("discord", &text()).await.unwrap();
        assert_eq!(firsts(&vendor.take()), "bc");
    }
}

/// Sixteen deliveries with five parts each. Every third request is refused temporarily, so each message is
/// retried several times while the others are in progress.
#[tokio::test]
async fn equal_texts_of_one_millisecond_lose_no_part() {
    const DELIVERIES: usize = 16;
    let harness = harness().await;
    let requests = AtomicUsize::new(0);
    let vendor = Vendor::start(move |_| {
        if requests.fetch_add(1, Ordering::Relaxed) % 3 == 2 {
            return answer(429, &json!({ "parameters": { "retry_after": 1 } }));
        }
        answer(200, &json!({ "ok": true }))
    })
    .await;
    let fields = json!({ "bot_token": "1:a", "chat_id": "1", "base_url": vendor.url("") });
    harness.create("telegram", fields).await;
    let text: String = ["a", "b", "c", "d", "e"].map(|it| it.repeat(4096)).concat();
    let (harness, text) = (&harness, &text);
    let deliver = |number: usize| async move {
        let delivery = format!("del_{number}");
        let mut refused = 0;
        loop {
            match harness.send_of(&delivery, "telegram", text).await {
                Ok(()) => return refused,
                Err(SendError::Retry { .. }) => refused += 1,
                Err(other) => panic!("{other}"),
            }
        }
    };
    let refused: usize = join_all((0..DELIVERIES).map(deliver)).await.iter().sum();
    let mut taken: BTreeMap<char, usize> = BTreeMap::new();
    for seen in vendor.take() {
        let text = seen.json()["text"].as_str().unwrap().to_owned();
        *taken.entry(text.chars().next().unwrap()).or_default() += 1;
    }
    let total: usize = taken.values().sum();
    assert_eq!(
        total - refused,
        DELIVERIES * 5,
        "{taken:?}, {refused} refused"
    );
}
