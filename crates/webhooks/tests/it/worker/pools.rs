//! The slots for agents and channels, and how they are allocated.

use super::house::{House, everywhere, settings};
use super::model::FakeModel;
use super::retries::Receiver;
use gatehouse_channels::{InboxFilter, NewAccount};
use gatehouse_domain::{Actor, DeliveryStatus};
use gatehouse_store::testing::postgres;
use gatehouse_store::{Store, WebhookRow};
use gatehouse_webhooks::WebhooksSettings;
use serde_json::json;
use std::time::Duration;
use tokio::net::TcpListener;

/// A server that accepts connections but never responds, and an account that sends to it.
async fn hanging_account(house: &House, id: &str) -> (TcpListener, String) {
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
    let made = house.channels.create(&actor, true, account);
    made.await.unwrap();
    (listener, format!("http:{id}"))
}

/// Stores a range of deliveries, each in its own session.
async fn many(house: &House, webhook: &WebhookRow, numbers: std::ops::Range<u32>) {
    let new = numbers.map(|n| house.delivery(n, webhook, &n.to_string()));
    house.insert(new.collect()).await;
}

async fn count(house: &House, numbers: std::ops::Range<u32>, status: DeliveryStatus) -> usize {
    let mut count = 0;
    for n in numbers {
        count += usize::from(house.row(n).await.status == status);
    }
    count
}

#[tokio::test]
async fn a_channel_that_hangs_and_slow_agents_hold_up_no_other_webhook() {
    everywhere(|database, model| async move {
        let wanted = WebhooksSettings {
            drain_seconds: 0,
            ..settings()
        };
        let house = House::open_with(&database, &model, wanted).await;
        model.hold();
        let (_listener, hanging) = hanging_account(&house, "hanging").await;
        let slow = house.webhook("slow", json!({})).await;
        let stuck = json!({ "deliver_only": true, "deliver_to": hanging });
        let stuck = house.webhook("stuck", stuck).await;
        let receiver = Receiver::start().await;
        let target = receiver.account(&house, json!({})).await;
        let sends = json!({ "deliver_only": true, "deliver_to": target });
        let sends = house.webhook("sends", sends).await;
        let keeps = house
            .webhook("keeps", json!({ "deliver_only": true }))
            .await;
        many(&house, &slow, 1..11).await;
        many(&house, &stuck, 100..200).await;
        house.work();
        model.until_asked(4).await;
        house.worker_has_looked().await;
        for n in 300..310 {
            house.arrive(&sends, &[(n, &n.to_string())]).await;
            house.until(n, DeliveryStatus::Completed).await;
            house.arrive(&keeps, &[(n + 100, &n.to_string())]).await;
            house.until(n + 100, DeliveryStatus::Completed).await;
        }
        assert_eq!(receiver.count(), 10);
        let processing = DeliveryStatus::Processing;
        assert_eq!(count(&house, 1..11, processing).await, 4);
        assert_eq!(count(&house, 100..200, processing).await, 8);
        model.let_go(100);
        house.stop().await;
    })
    .await;
}

/// The limits per webhook and per account, with two webhooks for each of two accounts.
#[tokio::test]
async fn webhooks_and_accounts_have_limits() {
    everywhere(|database, model| async move {
        let wanted = WebhooksSettings {
            send_workers: 9,
            per_webhook_concurrency: 3,
            per_account_concurrency: 5,
            drain_seconds: 0,
            ..settings()
        };
        let house = House::open_with(&database, &model, wanted).await;
        let (_one, one) = hanging_account(&house, "one").await;
        let (_two, two) = hanging_account(&house, "two").await;
        let to = |target: &str| json!({ "deliver_only": true, "deliver_to": target });
        let a = house.webhook("a", to(&one)).await;
        let b = house.webhook("b", to(&one)).await;
        let c = house.webhook("c", to(&two)).await;
        let d = house.webhook("d", to(&two)).await;
        house.work();
        let processing = DeliveryStatus::Processing;
        many(&house, &a, 100..110).await;
        house.until_all(&[0; 3], processing).await;
        many(&house, &b, 200..210).await;
        house.until_all(&[0; 2], processing).await;
        many(&house, &c, 300..310).await;
        house.until_all(&[0; 3], processing).await;
        many(&house, &d, 400..410).await;
        house.until_all(&[0; 1], processing).await;
        house.worker_has_looked().await;
        let mut counts = Vec::new();
        for numbers in [100..110, 200..210, 300..310, 400..410] {
            counts.push(count(&house, numbers, processing).await);
        }
        assert_eq!(counts, [3, 2, 3, 1]);
        house.stop().await;
    })
    .await;
}

/// A thousand deliveries to the inbox complete, with each slot used more than once.
#[tokio::test]
async fn a_long_queue_ends_with_each_delivery_once() {
    everywhere(|database, model| async move {
        let house = House::open(&database, &model).await;
        let one = house.webhook(
            "a",
            json!({ "deliver_only": true, "prompt_template": "{n}" }),
        );
        let one = one.await;
        let two = house.webhook(
            "b",
            json!({ "deliver_only": true, "prompt_template": "{n}" }),
        );
        let two = two.await;
        many(&house, &one, 1..301).await;
        many(&house, &two, 301..401).await;
        house.work();
        house.until_all(&[0; 400], DeliveryStatus::Completed).await;
        let page = house
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
        assert_eq!(house.row(400).await.attempts, 1);
        house.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_node_without_free_slots_notifies_the_others() {
    let Some(database) = postgres().await else {
        return;
    };
    let model = FakeModel::start().await;
    let wanted = WebhooksSettings {
        drain_seconds: 0,
        send_workers: 1,
        ..settings()
    };
    let house = House::open_with(&database, &model, wanted).await;
    let (_listener, hanging) = hanging_account(&house, "hanging").await;
    let stuck = json!({ "deliver_only": true, "deliver_to": hanging });
    let stuck = house.webhook("stuck", stuck).await;
    let other = Store::open(&database.location).await.unwrap();
    let mut notified = other.notified();
    // The first change means that the connection listens.
    notified.changed().await.unwrap();
    house.work();
    house.worker_has_looked().await;
    many(&house, &stuck, 1..3).await;
    house.webhooks.wake();
    let heard = tokio::time::timeout(Duration::from_secs(10), notified.changed());
    heard.await.unwrap().unwrap();
    assert_eq!(count(&house, 1..3, DeliveryStatus::Queued).await, 1);
    other.close().await;
    house.stop().await;
}
