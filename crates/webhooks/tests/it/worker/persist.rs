//! Results that the database refuses to store.

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
