//! Tests of the parent module.

use super::lists::list;
use crate::plan::plan_of;
use crate::testing::sqlite;

#[tokio::test]
async fn events_of_a_kind_are_listed_by_their_index() {
    let database = sqlite();
    let store = database.open().await;
    let sql = (1..=6).fold(list(true).to_owned(), |sql, place| {
        sql.replace(&format!("${place}"), "1")
    });
    let plan = plan_of(&store, &sql).await;
    assert!(
        plan.contains("audit_log_by_kind (kind=? AND seq<?)"),
        "{plan}"
    );
    assert!(!plan.contains("TEMP B-TREE"), "{plan}");
    store.close().await;
}
