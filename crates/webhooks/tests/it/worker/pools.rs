//! The slots for agents and channels, and how they are allocated.

use super::harness::{Harness, everywhere, settings};
use super::model;
use super::retries::Receiver;
use gatehouse_channels::{InboxFilter, NewAccount};
use gatehouse_domain::{Actor, DeliveryStatus};
use gatehouse_store::testing::postgres;
use gatehouse_store::{Store, WebhookRow};
use gatehouse_webhooks::WebhooksSettings;
use serde_json::json;
use std::time::Duration;
use tokio::net::TcpListener;

/// Creates a server that accepts connections but never responds, and an account that sends to it.
pub(super) async fn hanging_account(harness: &Harness, id: &str) -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let account = NewAccount {
        kind: "http".to_owned(),
        label: "Hanging".to_owned(),
        fields: json!({ "url": url }).as_object().cloned().unwrap(),
        id: Some(id.to_owned()),
        enabled: true,
    };
    let actor = Actor::cli();
    let made = harness.channels.create(&actor, true, account);
    made.await.unwrap();
    (listener, format!("http:{id}"))
}

/// Stores a range of deliveries, each in its own session.
async fn many(harness: &Harness, webhook: &WebhookRow, numbers: std::ops::Range<u32>) {
    let new = numbers.map(|n| harness.delivery(n, webhook, &n.to_string()));
    harness.insert(new.collect()).await;
}

async fn count(harness: &Harness, numbers: std::ops::Range<u32>, status: DeliveryStatus) -> usize {
    let mut count = 0;
    for n in numbers {
        count += usize::from(harness.row(n).await.status == status);
    }
    count
}

/// The slot is first assigned to the line of `busy`, whose delivery must wait for an older one of its session.
#[tokio::test]
async fn a_slot_that_a_line_cannot_use_goes_to_another_at_once() {
    everywhere(|database, model| async move {
        let wanted = WebhooksSettings {
            drain_seconds: 0,
            section: gatehouse_config::Webhooks {
                send_workers: 2,
                ..settings().section
            },
            ..settings()
        };
        let harness = Harness::open_with(&database, &model, wanted).await;
        let (_listener, hanging) = hanging_account(&harness, "hanging").await;
        let busy = json!({ "deliver_only": true, "deliver_to": hanging });
        let busy = harness.webhook("busy", busy).await;
        let free = harness
            .webhook("free", json!({ "deliver_only": true }))
            .await;
        harness.work();
        harness.arrive(&busy, &[(1, "one")]).await;
        harness.until(1, DeliveryStatus::Processing).await;
        // The line that was served last is served last in the next round.
        harness.arrive(&free, &[(2, "two")]).await;
        harness.until(2, DeliveryStatus::Completed).await;
        let together = vec![
            harness.delivery(3, &busy, "one"),
            harness.delivery(4, &free, "three"),
        ];
        harness.insert(together).await;
        // Long before the worker polls the queue.
        let done = harness.until(4, DeliveryStatus::Completed);
        tokio::time::timeout(Duration::from_secs(8), done)
            .await
            .unwrap();
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_channel_that_hangs_and_slow_agents_hold_up_no_other_webhook() {
    everywhere(|database, model| async move {
        let wanted = WebhooksSettings {
            drain_seconds: 0,
            ..settings()
        };
        let harness = Harness::open_with(&database, &model, wanted).await;
        model.hold();
        let (_listener, hanging) = hanging_account(&harness, "hanging").await;
        let slow = harness.webhook("slow", json!({})).await;
        let stuck = json!({ "deliver_only": true, "deliver_to": hanging });
        let stuck = harness.webhook("stuck", stuck).await;
        let receiver = Receiver::start().await;
        let target = receiver.account(&harness, json!({})).await;
        let sends = json!({ "deliver_only": true, "deliver_to": target });
        let sends = harness.webhook("sends", sends).await;
        let keeps = harness
            .webhook("keeps", json!({ "deliver_only": true }))
            .await;
        many(&harness, &slow, 1..11).await;
        many(&harness, &stuck, 100..200).await;
        harness.work();
        model.until(4).await;
        harness.worker_has_looked().await;
        for n in 300..310 {
            harness.arrive(&sends, &[(n, &n.to_string())]).await;
            harness.until(n, DeliveryStatus::Completed).await;
            harness.arrive(&keeps, &[(n + 100, &n.to_string())]).await;
            harness.until(n + 100, DeliveryStatus::Completed).await;
        }
        assert_eq!(receiver.count(), 10);
        let processing = DeliveryStatus::Processing;
        assert_eq!(count(&harness, 1..11, processing).await, 4);
        assert_eq!(count(&harness, 100..200, processing).await, 8);
        model.release(100);
        harness.stop().await;
    })
    .await;
}

/// The limits per webhook and per account, with two webhooks for each of two accounts.
#[tokio::test]
async fn webhooks_and_accounts_have_limits() {
    everywhere(|database, model| async move {
        let wanted = WebhooksSettings {
            section: gatehouse_config::Webhooks {
                send_workers: 9,
                per_webhook_concurrency: 3,
                per_account_concurrency: 5,
                ..gatehouse_config::Webhooks::default()
            },
            drain_seconds: 0,
            ..settings()
        };
        let harness = Harness::open_with(&database, &model, wanted).await;
        let (_one, one) = hanging_account(&harness, "one").await;
        let (_two, two) = hanging_account(&harness, "two").await;
        let to = |target: &str| json!({ "deliver_only": true, "deliver_to": target });
        let a = harness.webhook("a", to(&one)).await;
        let b = harness.webhook("b", to(&one)).await;
        let c = harness.webhook("c", to(&two)).await;
        let d = harness.webhook("d", to(&two)).await;
        harness.work();
        let processing = DeliveryStatus::Processing;
        many(&harness, &a, 100..110).await;
        harness.until_all(&[0; 3], processing).await;
        many(&harness, &b, 200..210).await;
        harness.until_all(&[0; 2], processing).await;
        many(&harness, &c, 300..310).await;
        harness.until_all(&[0; 3], processing).await;
        many(&harness, &d, 400..410).await;
        harness.until_all(&[0; 1], processing).await;
        harness.worker_has_looked().await;
        let mut counts = Vec::new();
        for numbers in [100..110, 200..210, 300..310, 400..410] {
            counts.push(count(&harness, numbers, processing).await);
        }
        assert_eq!(counts, [3, 2, 3, 1]);
        harness.stop().await;
    })
    .await;
}

/// A thousand deliveries to the inbox complete, with each slot used more than once.
#[tokio::test]
async fn a_long_queue_ends_with_each_delivery_once() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let one = harness.webhook(
            "a",
            json!({ "deliver_only": true, "prompt_template": "{n}" }),
        );
        let one = one.await;
        let two = harness.webhook(
            "b",
            json!({ "deliver_only": true, "prompt_template": "{n}" }),
        );
        let two = two.await;
        many(&harness, &one, 1..301).await;
        many(&harness, &two, 301..401).await;
        harness.work();
        harness
            .until_all(&[0; 400], DeliveryStatus::Completed)
            .await;
        let page = harness
            .channels
            .list_inbox(&InboxFilter::default(), 1000, None)
            .await
            .unwrap();
        let mut texts: Vec<u32> = page
            .messages
            .iter()
            .map(|it| it.text.parse().unwrap())
            .collect();
        texts.sort_unstable();
        assert_eq!(texts, (1..401).collect::<Vec<_>>());
        assert_eq!(harness.row(400).await.attempts, 1);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_node_without_free_slots_notifies_the_others() {
    let Some(database) = postgres().await else {
        return;
    };
    let model = model::start().await;
    let wanted = WebhooksSettings {
        section: gatehouse_config::Webhooks {
            send_workers: 1,
            ..gatehouse_config::Webhooks::default()
        },
        drain_seconds: 0,
        ..settings()
    };
    let harness = Harness::open_with(&database, &model, wanted).await;
    let (_listener, hanging) = hanging_account(&harness, "hanging").await;
    let stuck = json!({ "deliver_only": true, "deliver_to": hanging });
    let stuck = harness.webhook("stuck", stuck).await;
    let other = Store::open(&database.location).await.unwrap();
    let mut notified = other.notified();
    // The first change shows that the connection is listening.
    notified.changed().await.unwrap();
    harness.work();
    harness.worker_has_looked().await;
    many(&harness, &stuck, 1..3).await;
    harness.webhooks.wake();
    let heard = tokio::time::timeout(Duration::from_secs(10), notified.changed());
    heard.await.unwrap().unwrap();
    assert_eq!(count(&harness, 1..3, DeliveryStatus::Queued).await, 1);
    other.close().await;
    harness.stop().await;
}
