//! Deliveries that wait for a channel or a webhook.

use super::house::{House, everywhere, id, settings};
use super::retries::Receiver;
use gatehouse_channels::{AccountChange, ChannelsError};
use gatehouse_domain::{Actor, DeliveryStatus, ErrorCode, Problem};
use gatehouse_webhooks::WebhooksSettings;
use serde_json::json;
use std::time::Duration;

async fn enable(house: &House, enabled: bool) {
    let change = AccountChange {
        enabled: Some(enabled),
        ..AccountChange::default()
    };
    let actor = Actor::cli();
    let updated = house.channels.update(&actor, true, "there", change);
    updated.await.unwrap();
}

async fn error_of(house: &House, n: u32) -> Option<String> {
    let delivery = house.webhooks.delivery(id(n).as_str()).await.unwrap();
    assert_eq!(delivery.status, DeliveryStatus::Queued, "{n}");
    delivery.error
}

#[tokio::test]
async fn what_a_disabled_channel_gets_waits_without_an_attempt_and_goes_in_order() {
    everywhere(|database, model| async move {
        let house = House::open(&database, &model).await;
        let receiver = Receiver::start().await;
        let target = receiver.account(&house, json!({})).await;
        let more = json!({ "deliver_only": true, "deliver_to": target });
        let webhook = house.webhook("a", more).await;
        let inbox = house.webhook("b", json!({ "deliver_only": true })).await;
        enable(&house, false).await;
        house.work();
        let all: Vec<_> = (1..=5).map(|n| (n, "s")).collect();
        house.arrive(&webhook, &all).await;
        house.arrive(&inbox, &[(9, "t")]).await;
        house.until(9, DeliveryStatus::Completed).await;
        house.worker_has_looked().await;
        for n in 1..=5 {
            let error = error_of(&house, n).await.unwrap();
            assert!(error.contains("`there` is enabled"), "{error}");
            assert_eq!(house.row(n).await.attempts, 0);
        }
        assert_eq!(receiver.count(), 0);
        enable(&house, true).await;
        let order = house.until_all(&[1, 2, 3, 4, 5], DeliveryStatus::Completed);
        assert_eq!(order.await, [1, 2, 3, 4, 5]);
        let row = house.row(1).await;
        assert_eq!((row.attempts, row.error), (1, None));
        house.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_disabled_webhook_holds_its_queue() {
    everywhere(|database, model| async move {
        let house = House::open(&database, &model).await;
        let webhook = house.webhook("a", json!({ "deliver_only": true })).await;
        let other = house.webhook("b", json!({ "deliver_only": true })).await;
        house.switch(&webhook, false).await;
        house.work();
        house.arrive(&webhook, &[(1, "a"), (2, "b")]).await;
        house.arrive(&other, &[(3, "c")]).await;
        house.until(3, DeliveryStatus::Completed).await;
        house.worker_has_looked().await;
        let error = error_of(&house, 1).await.unwrap();
        assert_eq!(error, "Waits until the webhook is enabled.");
        assert_eq!(house.row(2).await.attempts, 0);
        house.switch(&webhook, true).await;
        house.until_all(&[1, 2], DeliveryStatus::Completed).await;
        house.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_channel_that_does_not_answer_is_tried_with_one_delivery_now_and_then() {
    everywhere(|database, model| async move {
        let wanted = WebhooksSettings {
            per_webhook_concurrency: 1,
            ..settings()
        };
        let house = House::open_with(&database, &model, wanted).await;
        let receiver = Receiver::start().await;
        let target = receiver.account(&house, json!({})).await;
        receiver.hang_up(true);
        let more = json!({ "deliver_only": true, "deliver_to": target });
        let webhook = house.webhook("a", more).await;
        let all = [(1, "a"), (2, "b"), (3, "c"), (4, "d"), (5, "e"), (6, "f")];
        house.arrive(&webhook, &all).await;
        house.work();
        let failed = house.until_all(&[1, 2, 3], DeliveryStatus::Queued).await;
        assert_eq!(failed, [1, 2, 3]);
        house.worker_has_looked().await;
        for n in 4..=6 {
            let error = error_of(&house, n).await.unwrap();
            assert!(error.contains("`there` does not answer"), "{error}");
            assert_eq!(house.row(n).await.attempts, 0, "{n}");
        }
        house.advance(Duration::from_millis(4999));
        house.worker_has_looked().await;
        assert_eq!(house.row(4).await.attempts, 0);
        // The first probe gets no response, so the second waits twice as long.
        house.advance(Duration::from_millis(1));
        let probed = house.until(4, DeliveryStatus::Queued).await;
        assert_eq!(probed.attempts, 1);
        receiver.hang_up(false);
        house.advance(Duration::from_millis(9999));
        house.worker_has_looked().await;
        assert_eq!((house.row(5).await.attempts, receiver.count()), (0, 0));
        house.advance(Duration::from_millis(1));
        house.until(5, DeliveryStatus::Completed).await;
        house.advance(Duration::from_mins(1));
        house.until_all(&[0; 5], DeliveryStatus::Completed).await;
        assert_eq!((house.row(6).await.attempts, receiver.count()), (1, 6));
        house.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_channel_in_use_is_deleted_only_by_force_and_then_its_deliveries_fail() {
    everywhere(|database, model| async move {
        let house = House::open(&database, &model).await;
        let receiver = Receiver::start().await;
        let target = receiver.account(&house, json!({})).await;
        let more = json!({ "deliver_only": true, "deliver_to": target });
        let webhook = house.webhook("a", more).await;
        // `http` refers to any account of that type, and this is the last one.
        let any = json!({ "deliver_only": true, "deliver_to": "http" });
        let any = house.webhook("b", any).await;
        enable(&house, false).await;
        house.work();
        house
            .arrive(&webhook, &[(1, "a"), (2, "a"), (3, "b")])
            .await;
        house.arrive(&any, &[(4, "c")]).await;
        house.worker_has_looked().await;
        let actor = Actor::cli();
        let refused = house.webhooks.delete_channel(&actor, "there", false).await;
        let problem = match refused {
            Err(error @ ChannelsError::InUse(_)) => Problem::from(error),
            other => panic!("{other:?}"),
        };
        assert_eq!(problem.code, ErrorCode::Conflict);
        assert_eq!(problem.details["deliveries"], json!(4));
        assert_eq!(problem.details["webhooks"], json!(2));
        assert_eq!(house.row(1).await.status, DeliveryStatus::Queued);
        let deleted = house.webhooks.delete_channel(&actor, "there", true).await;
        deleted.unwrap();
        house.until_all(&[0; 4], DeliveryStatus::Failed).await;
        let error = house.row(1).await.error.unwrap();
        assert!(error.contains("no such http channel"), "{error}");
        assert_eq!(receiver.count(), 0);
        house.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_channel_that_nothing_names_is_deleted_without_force() {
    everywhere(|database, model| async move {
        let house = House::open(&database, &model).await;
        let receiver = Receiver::start().await;
        receiver.account(&house, json!({})).await;
        let inbox = house.webhook("a", json!({ "deliver_only": true })).await;
        house.arrive(&inbox, &[(1, "a")]).await;
        let actor = Actor::cli();
        let deleted = house.webhooks.delete_channel(&actor, "there", false);
        deleted.await.unwrap();
        house.stop().await;
    })
    .await;
}
