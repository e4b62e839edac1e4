//! Results that the database refuses to store, and stored deliveries that cannot be read.

use super::harness::Harness;
use super::model;
use gatehouse_domain::DeliveryStatus;
use gatehouse_store::testing::{run_sql, sqlite};
use serde_json::json;

/// A result that can never be stored fails its delivery. The other results are stored unchanged.
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

/// PostgreSQL refuses a text in a column for numbers.
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
