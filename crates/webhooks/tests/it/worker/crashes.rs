//! Recovery of deliveries that a previous process left running.

use super::harness::{Harness, everywhere, leave_in_work, settings};
use gatehouse_domain::DeliveryStatus;
use gatehouse_store::Engine;
use gatehouse_store::testing::{run_sql, sqlite};
use gatehouse_webhooks::WebhooksSettings;
use serde_json::json;
use std::time::Duration;

use super::model;

/// Lets the lease expire. On a shared database, a dead process is detected only when its lease expires.
pub async fn let_the_lease_end(harness: &Harness) {
    if harness.store.engine() == Engine::Postgres {
        harness.worker_has_looked().await;
        harness.advance(Duration::from_mins(1));
    }
}

#[tokio::test]
async fn what_was_in_work_runs_again_and_is_counted() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let webhook = harness.webhook("a", json!({ "deliver_only": true })).await;
        harness
            .arrive(&webhook, &[(1, "a"), (2, "a"), (3, "b")])
            .await;
        leave_in_work(&database, 1, 1).await;
        harness.work();
        let_the_lease_end(&harness).await;
        let queued = harness.until(1, DeliveryStatus::Queued).await;
        assert!(queued.error.unwrap().contains("stopped while it worked"));
        let done = harness.until(1, DeliveryStatus::Completed).await;
        assert_eq!((done.attempts, done.error), (2, None));
        harness.until(2, DeliveryStatus::Completed).await;
        assert_eq!(harness.row(3).await.attempts, 1);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn what_was_received_and_never_queued_runs() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let webhook = harness.webhook("a", json!({ "deliver_only": true })).await;
        harness.arrive(&webhook, &[(1, "a")]).await;
        run_sql(
            &database.location,
            "UPDATE webhook_deliveries SET status = 'received', next_attempt_at = NULL",
        )
        .await;
        harness.work();
        harness.until(1, DeliveryStatus::Completed).await;
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_delivery_that_ends_the_process_each_time_is_given_up() {
    everywhere(|database, model| async move {
        let wanted = WebhooksSettings {
            section: gatehouse_config::Webhooks {
                max_attempts: 3,
                ..gatehouse_config::Webhooks::default()
            },
            ..settings()
        };
        let harness = Harness::open_with(&database, &model, wanted).await;
        let webhook = harness.webhook("a", json!({ "deliver_only": true })).await;
        harness
            .arrive(&webhook, &[(1, "a"), (2, "a"), (3, "c")])
            .await;
        leave_in_work(&database, 1, 3).await;
        leave_in_work(&database, 3, 2).await;
        harness.work();
        let_the_lease_end(&harness).await;
        let failed = harness.until(1, DeliveryStatus::Failed).await;
        let error = failed.error.unwrap();
        assert!(error.contains("stopped 3 times"), "{error}");
        assert_eq!(failed.attempts, 3);
        // The next delivery of the session runs. The delivery that was attempted twice waits briefly.
        harness.until(2, DeliveryStatus::Completed).await;
        let third = harness.row(3).await;
        assert_eq!((third.status, third.attempts), (DeliveryStatus::Queued, 2));
        harness.advance(Duration::from_secs(12));
        let third = harness.until(3, DeliveryStatus::Completed).await;
        assert_eq!(third.attempts, 3);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_configuration_or_payload_that_cannot_be_read_fails_its_delivery_alone() {
    let database = sqlite();
    let model = model::start().await;
    let harness = Harness::open(&database, &model).await;
    let webhook = harness.webhook("a", json!({ "deliver_only": true })).await;
    harness
        .arrive(&webhook, &[(1, "a"), (2, "b"), (3, "c")])
        .await;
    for (n, damage) in [(1, "config = '{'"), (2, "payload = '{'")] {
        let sql = format!("UPDATE webhook_deliveries SET {damage} WHERE id = 'del_{n:08}'");
        run_sql(&database.location, &sql).await;
    }
    harness.work();
    harness.until_all(&[1, 2], DeliveryStatus::Failed).await;
    assert!(
        harness
            .row(1)
            .await
            .error
            .unwrap()
            .contains("configuration")
    );
    assert!(harness.row(2).await.error.unwrap().contains("payload"));
    harness.stop().await;
}
