//! Tests for the retention sweep.

use super::harness::{Harness, START, at, everywhere, settings};
use gatehouse_domain::{DeliveryId, DeliveryStatus, ManualClock, SeededRandom};
use gatehouse_store::{NewDelivery, StoreError};
use gatehouse_webhooks::WebhooksSettings;
use gatehouse_webhooks::retention::REFUSED_KEPT;
use serde_json::json;
use tokio::sync::oneshot;

const DAY_MS: i64 = 86_400_000;

fn real_id(millis: i64, seed: u64) -> DeliveryId {
    DeliveryId::generate(&ManualClock::at(at(millis)), &SeededRandom::new(seed))
}

#[tokio::test]
async fn deliveries_go_when_their_days_are_over() {
    everywhere(|database, model| async move {
        let wanted = WebhooksSettings {
            section: gatehouse_config::Webhooks {
                retention_days: 2,
                ..gatehouse_config::Webhooks::default()
            },
            ..settings()
        };
        let harness = Harness::open_with(&database, &model, wanted).await;
        let webhook = harness.webhook("a", json!({})).await;
        let limit = START - 2 * DAY_MS;
        let with = |millis, seed, status| NewDelivery {
            id: real_id(millis, seed),
            received_at: at(millis),
            status,
            ..harness.delivery(1, &webhook, "a")
        };
        harness
            .insert(vec![
                with(limit - 1, 1, DeliveryStatus::Completed),
                with(limit, 2, DeliveryStatus::Completed),
                with(limit - 1, 3, DeliveryStatus::Queued),
                with(limit - 1, 4, DeliveryStatus::Failed),
            ])
            .await;
        assert_eq!(harness.webhooks.sweep().await.unwrap(), 2);
        let exists = async |millis, seed| {
            let found = harness
                .webhooks
                .delivery(real_id(millis, seed).as_str())
                .await;
            found.is_ok()
        };
        assert!(!exists(limit - 1, 1).await);
        assert!(exists(limit, 2).await);
        assert!(exists(limit - 1, 3).await, "an open one stays");
        assert_eq!(harness.webhooks.sweep().await.unwrap(), 0);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn of_refused_deliveries_the_newest_thousand_of_each_kind_stay() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let webhook = harness.webhook("a", json!({})).await;
        let kept = u32::try_from(REFUSED_KEPT).unwrap();
        let with = |n: u32, status| NewDelivery {
            status,
            ..harness.delivery(n, &webhook, "")
        };
        let mut all: Vec<_> = (1..=kept)
            .map(|n| with(n, DeliveryStatus::Rejected))
            .collect();
        let beyond = 2 * kept + 601;
        all.extend((kept + 1..=beyond).map(|n| with(n, DeliveryStatus::Filtered)));
        harness.insert(all).await;
        assert_eq!(
            harness.webhooks.sweep().await.unwrap(),
            601,
            "more than one write removes"
        );
        assert!(
            harness.find(1).await.is_some(),
            "a thousand rejected ones are not too many"
        );
        assert!(harness.find(kept + 601).await.is_none());
        assert!(harness.find(kept + 602).await.is_some(), "the newest stay");
        assert_eq!(harness.webhooks.sweep().await.unwrap(), 0);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_flood_of_one_reason_does_not_push_out_the_record_of_another() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let webhook = harness.webhook("a", json!({})).await;
        let kept = u32::try_from(REFUSED_KEPT).unwrap();
        let with = |n: u32, reason: &str| NewDelivery {
            status: DeliveryStatus::Rejected,
            error: Some(reason.to_owned()),
            payload: None,
            ..harness.delivery(n, &webhook, "")
        };
        let mut all = vec![with(1, "wrong_signature"), with(2, "wrong_signature")];
        let beyond = 2 + 2 * kept;
        all.extend((3..=beyond).map(|n| with(n, "address_not_allowed")));
        all.extend((beyond + 1..=beyond + kept).map(|n| with(n, "body_too_large")));
        harness.insert(all).await;
        assert_eq!(harness.webhooks.sweep().await.unwrap(), u64::from(kept));
        assert!(
            harness.find(1).await.is_some(),
            "an old wrong signature stays"
        );
        assert!(harness.find(2 + kept).await.is_none());
        assert!(
            harness.find(3 + kept).await.is_some(),
            "the newest of the flood stay"
        );
        assert!(
            harness.find(beyond + 1).await.is_some(),
            "a thousand are not too many"
        );
        assert_eq!(harness.webhooks.sweep().await.unwrap(), 0);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_clock_that_jumps_ahead_removes_nothing() {
    everywhere(|database, model| async move {
        let wanted = || WebhooksSettings {
            section: gatehouse_config::Webhooks {
                retention_days: 2,
                ..gatehouse_config::Webhooks::default()
            },
            ..settings()
        };
        let harness = Harness::open_with(&database, &model, wanted()).await;
        let webhook = harness.webhook("a", json!({})).await;
        let young = NewDelivery {
            id: real_id(START, 1),
            status: DeliveryStatus::Completed,
            ..harness.delivery(1, &webhook, "a")
        };
        harness.insert(vec![young]).await;
        assert_eq!(harness.webhooks.sweep().await.unwrap(), 0);
        harness.jump_days(1000);
        assert_eq!(harness.webhooks.sweep().await.unwrap(), 0);
        harness.stop().await;
        // After a restart with the wrong time, still nothing is deleted.
        let harness = Harness::open_with(&database, &model, wanted()).await;
        harness.jump_days(1000);
        assert_eq!(harness.webhooks.sweep().await.unwrap(), 0);
        // After a day, the clock is trusted.
        harness.advance(std::time::Duration::from_hours(24));
        assert_eq!(harness.webhooks.sweep().await.unwrap(), 1);
        harness.stop().await;
    })
    .await;
}

/// The IDs of both deliveries contain the time from before the clock was set back.
#[tokio::test]
async fn what_came_before_and_after_the_clock_was_set_back_goes_at_its_age() {
    everywhere(|database, model| async move {
        let wanted = WebhooksSettings {
            section: gatehouse_config::Webhooks {
                retention_days: 2,
                ..gatehouse_config::Webhooks::default()
            },
            ..settings()
        };
        let harness = Harness::open_with(&database, &model, wanted).await;
        let hook = crate::requests::open_webhook(&harness, json!({ "events": ["push"] })).await;
        let come = async |body: &str| {
            let event = [("x-event-type", "fork")];
            drop(
                crate::requests::post(&harness, &hook, &event, body)
                    .await
                    .unwrap(),
            );
        };
        harness.jump_days(1000);
        come("1").await;
        harness.jump_days(-1000);
        come("2").await;
        crate::requests::until_rows(&harness, 2).await;
        assert_eq!(harness.webhooks.sweep().await.unwrap(), 0);
        harness.advance(std::time::Duration::from_hours(48));
        assert_eq!(harness.webhooks.sweep().await.unwrap(), 0);
        harness.advance(std::time::Duration::from_millis(1));
        assert_eq!(harness.webhooks.sweep().await.unwrap(), 1);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_sweep_does_not_wait_for_other_writes_to_a_shared_database() {
    everywhere(|database, model| async move {
        if !database.engine().is_shared() {
            return;
        }
        let harness = Harness::open(&database, &model).await;
        let webhook = harness.webhook("a", json!({})).await;
        let old = START - 1000 * DAY_MS;
        let ended = NewDelivery {
            id: real_id(old, 1),
            received_at: at(old),
            status: DeliveryStatus::Completed,
            ..harness.delivery(1, &webhook, "a")
        };
        // The first sweep stores the time.
        assert_eq!(harness.webhooks.sweep().await.unwrap(), 0);
        harness.insert(vec![ended]).await;
        let (hold, is_held) = oneshot::channel();
        let (release, released) = oneshot::channel::<()>();
        let holding = harness.store.write(move |conn| {
            Box::pin(async move {
                // Takes the lock.
                conn.find_last_change().await?;
                hold.send(()).unwrap();
                // An error means that `release` was dropped.
                drop(released.await);
                Ok::<_, StoreError>(())
            })
        });
        let sweep = async {
            is_held.await.unwrap();
            assert_eq!(harness.webhooks.sweep().await.unwrap(), 1);
            drop(release);
        };
        let (ended, ()) = tokio::join!(holding, sweep);
        ended.unwrap();
        harness.stop().await;
    })
    .await;
}
