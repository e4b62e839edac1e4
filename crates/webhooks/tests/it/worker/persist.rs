//! Results that the database refuses to store, and stored deliveries that cannot be read.

use super::harness::{Harness, START, at, everywhere, id};
use super::model;
use gatehouse_domain::DeliveryStatus;
use gatehouse_store::testing::rows::{MAKE_READABLE, make_unreadable};
use gatehouse_store::testing::{run_sql, sqlite};
use serde_json::json;
use std::time::Duration;

/// A result that can never be stored fails its delivery. Other results are stored unchanged.
#[tokio::test]
async fn an_end_that_the_database_refuses_is_stored_as_failed_and_holds_up_no_other() {
    let database = sqlite();
    let model = model::start().await;
    let harness = Harness::open(&database, &model).await;
    let webhook = harness.webhook("a", json!({ "deliver_only": true })).await;
    run_sql(
        &database.location,
        "CREATE TRIGGER refuses BEFORE UPDATE ON webhook_deliveries
         WHEN NEW.status = 'completed' AND NEW.id = 'del_00000001'
         BEGIN SELECT RAISE(ABORT, 'never'); END",
    )
    .await;
    harness
        .arrive(&webhook, &[(1, "a"), (2, "b"), (3, "a")])
        .await;
    harness.work();
    harness.until_all(&[2, 3], DeliveryStatus::Completed).await;
    let failed = harness.row(1).await;
    assert_eq!(failed.status, DeliveryStatus::Failed);
    assert!(failed.error.unwrap().contains("could not be stored"));
    assert_eq!(failed.attempts, 1);
    assert_eq!(
        harness.inbox().await.len(),
        2,
        "its message went with its end"
    );
    harness.stop().await;
}

/// PostgreSQL refuses text in a numeric column, so this test needs SQLite.
#[tokio::test]
async fn a_delivery_that_cannot_be_read_fails_and_its_line_and_session_continue() {
    let database = sqlite();
    let model = model::start().await;
    let harness = Harness::open(&database, &model).await;
    let webhook = harness.webhook("a", json!({ "deliver_only": true })).await;
    harness
        .arrive(&webhook, &[(1, "a"), (2, "b"), (3, "a"), (4, "c")])
        .await;
    for (n, column) in [(1, "body_size"), (4, "received_at")] {
        let sql =
            format!("UPDATE webhook_deliveries SET {column} = 'text' WHERE id = 'del_{n:08}'");
        run_sql(&database.location, &sql).await;
    }
    let mut last_failure = harness.webhooks.last_failure();
    harness.work();
    harness.until_all(&[2, 3], DeliveryStatus::Completed).await;
    last_failure
        .wait_for(|last| {
            last.as_ref()
                .is_some_and(|it| it.id.as_str() == "del_00000004")
        })
        .await
        .unwrap();
    for n in [1, 4] {
        let failed = harness.row(n).await;
        assert_eq!(failed.status, DeliveryStatus::Failed);
        assert!(failed.error.unwrap().contains("damaged"));
        assert_eq!((failed.attempts, failed.lease_until), (1, None));
    }
    assert_eq!(harness.inbox().await.len(), 2);
    assert_eq!(harness.webhooks.queue_depth().await.unwrap(), 0);
    harness.stop().await;
}

#[tokio::test]
async fn a_delivery_that_may_be_from_a_newer_version_waits_and_its_line_continues() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let webhook = harness.webhook("a", json!({ "deliver_only": true })).await;
        let all = [(1, "a"), (2, "b"), (3, "a"), (4, "c"), (5, "c"), (6, "d")];
        harness.arrive(&webhook, &all).await;
        for n in [1, 4] {
            let sql = make_unreadable(database.engine(), &id(n));
            run_sql(&database.location, &sql).await;
        }
        harness.work();
        harness.until_all(&[2, 6], DeliveryStatus::Completed).await;
        harness.worker_has_looked().await;
        let waiting = harness.webhooks.delivery(id(1).as_str()).await.unwrap();
        assert_eq!(waiting.status, DeliveryStatus::Queued);
        assert!(waiting.error.unwrap().contains("newer version"));
        for n in [3, 5] {
            assert_eq!(harness.row(n).await.attempts, 0, "{n}");
        }
        // A canceled delivery no longer delays its session.
        let canceled = harness.webhooks.cancel_delivery(id(4).as_str()).await;
        assert_eq!(canceled.unwrap().status, DeliveryStatus::Failed);
        harness.until(5, DeliveryStatus::Completed).await;
        harness.advance(Duration::from_mins(1));
        harness.worker_has_looked().await;
        let oldest = harness.webhooks.oldest_unreadable().await.unwrap();
        assert_eq!(oldest, Some(at(START)));

        run_sql(&database.location, MAKE_READABLE).await;
        let waiting = harness.row(1).await;
        assert_eq!(
            (waiting.attempts, waiting.next_attempt_at),
            (0, Some(at(START + 120_000)))
        );
        harness.advance(Duration::from_mins(1));
        let order = harness.until_all(&[1, 3], DeliveryStatus::Completed);
        assert_eq!(order.await, [1, 3]);
        let ended = harness.row(1).await;
        assert_eq!((ended.attempts, ended.error), (1, None));
        assert_eq!(harness.webhooks.oldest_unreadable().await.unwrap(), None);
        harness.stop().await;
    })
    .await;
}
