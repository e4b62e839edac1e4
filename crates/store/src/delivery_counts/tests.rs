//! Tests of the parent module.

use super::lists::{OPEN, of_webhook};
use crate::plan::plan_of;
use crate::testing::sqlite;

#[tokio::test]
async fn open_deliveries_are_counted_by_their_index() {
    let database = sqlite();
    let store = database.open().await;
    let plan = plan_of(&store, &of_webhook(OPEN, None, 1)).await;
    assert!(plan.contains("webhook_deliveries_open"), "{plan}");
    store.close().await;
}
