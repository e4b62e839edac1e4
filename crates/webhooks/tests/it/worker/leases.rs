//! Tests for which node may record the end of a delivery.

use super::harness::{Harness, everywhere, leave_in_work, settings};
use gatehouse_domain::DeliveryStatus;
use gatehouse_store::testing::run_sql;
use gatehouse_webhooks::WebhooksSettings;
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn a_lease_is_renewed_while_the_run_goes_on() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        model.hold();
        let webhook = harness.webhook("a", json!({})).await;
        harness.work();
        harness.arrive(&webhook, &[(1, "a")]).await;
        model.until(1).await;
        let first = harness.row(1).await.lease_until.unwrap();
        for _ in 0..10 {
            harness.advance(Duration::from_secs(20));
            harness.worker_has_looked().await;
        }
        let row = harness.row(1).await;
        assert_eq!((row.status, row.attempts), (DeliveryStatus::Processing, 1));
        assert!(row.lease_until.unwrap() >= first.after(Duration::from_mins(3)));
        model.release(1);
        let done = harness.until(1, DeliveryStatus::Completed).await;
        assert_eq!((done.attempts, done.duration_ms), (1, Some(200_000)));
        harness.stop().await;
    })
    .await;
}

/// A run whose lease another node took over writes nothing; the other node's result is kept.
#[tokio::test]
async fn who_lost_the_lease_writes_nothing_and_stops() {
    everywhere(|database, model| async move {
        let wanted = WebhooksSettings {
            section: gatehouse_config::Webhooks {
                agent_workers: 1,
                send_workers: 1,
                ..gatehouse_config::Webhooks::default()
            },
            ..settings()
        };
        let harness = Harness::open_with(&database, &model, wanted).await;
        model.hold();
        let webhook = harness.webhook("a", json!({})).await;
        let other = harness.webhook("b", json!({ "deliver_only": true })).await;
        harness.work();
        harness.arrive(&webhook, &[(1, "a")]).await;
        model.until(1).await;
        run_sql(
            &database.location,
            "UPDATE webhook_deliveries SET lease_owner = 'another node', attempts = 2",
        )
        .await;
        harness.advance(Duration::from_secs(20));
        // The only slot is free again.
        harness.arrive(&other, &[(2, "b")]).await;
        harness.until(2, DeliveryStatus::Completed).await;
        let row = harness.row(1).await;
        assert_eq!(row.status, DeliveryStatus::Processing);
        assert_eq!(row.lease_owner.as_deref(), Some("another node"));
        // The other node dies too: after a full lease without renewal, its delivery is taken over.
        model.release(10);
        harness.advance(Duration::from_mins(1));
        let queued = harness.until(1, DeliveryStatus::Queued).await;
        assert_eq!(queued.attempts, 2);
        harness.advance(Duration::from_secs(12));
        let done = harness.until(1, DeliveryStatus::Completed).await;
        assert_eq!(done.attempts, 3);
        harness.stop().await;
    })
    .await;
}

/// A clock jump does not make a live node lose its leases.
#[tokio::test]
async fn a_jump_of_the_clock_neither_loses_nor_doubles() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        model.hold();
        let webhook = harness.webhook("a", json!({})).await;
        harness.work();
        harness.arrive(&webhook, &[(1, "a")]).await;
        model.until(1).await;
        for days in [400, -400] {
            harness.jump_days(days);
            harness.webhooks.wake();
            harness.worker_has_looked().await;
        }
        assert_eq!(harness.row(1).await.attempts, 1);
        model.release(10);
        harness.until(1, DeliveryStatus::Completed).await;
        assert_eq!(model.seen().len(), 1);
        harness.jump_days(800);
        harness.arrive(&webhook, &[(2, "b")]).await;
        harness.until(2, DeliveryStatus::Completed).await;
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn what_was_stored_before_the_clock_was_set_back_runs_now() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let webhook = harness.webhook("a", json!({ "deliver_only": true })).await;
        harness.arrive(&webhook, &[(1, "a")]).await;
        harness.jump_days(-30);
        harness.work();
        harness.until(1, DeliveryStatus::Completed).await;
        harness.stop().await;
    })
    .await;
}

/// A live node keeps its deliveries, no matter how long they take.
#[tokio::test]
async fn a_lease_that_is_renewed_elsewhere_holds() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let webhook = harness.webhook("a", json!({ "deliver_only": true })).await;
        harness.work();
        harness.worker_has_looked().await;
        harness.arrive_parked(&webhook, 1, "a").await;
        leave_in_work(&database, 1, 1).await;
        for step in 0..10 {
            let sql = format!("UPDATE webhook_deliveries SET lease_until = {step}");
            run_sql(&database.location, &sql).await;
            harness.advance(Duration::from_secs(40));
            harness.worker_has_looked().await;
        }
        assert_eq!(harness.row(1).await.attempts, 1);
        harness.advance(Duration::from_mins(1));
        harness.until(1, DeliveryStatus::Completed).await;
        assert_eq!(harness.row(1).await.attempts, 2);
        harness.stop().await;
    })
    .await;
}
