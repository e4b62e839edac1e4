//! The statements of a claim use the indexes that were made for them, on either engine. With a million
//! rows in the table (by hand, both engines) each of them reads as few as with ten.

use super::{DUE, HEAD, NEXT_DUE};
use crate::dialect::Engine;
use crate::sql::{FromRow, Row, query};
use crate::testing::databases;
use crate::{Conn, StoreError};

struct Step(String);

impl FromRow for Step {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        // SQLite has the text in its fourth column, PostgreSQL in its only one.
        Ok(Self(row.try_get(3).or_else(|_| row.try_get(0))?))
    }
}

async fn plan(conn: &mut Conn, engine: Engine, sql: &str) -> String {
    let explain = match engine {
        Engine::Sqlite => "EXPLAIN QUERY PLAN",
        Engine::Postgres => {
            // A table with few rows is read as a whole otherwise, and rightly so.
            for setting in ["SET enable_seqscan = off", "SET enable_bitmapscan = off"] {
                conn.plain(setting).await.unwrap();
            }
            "EXPLAIN"
        }
    };
    let sql = sql
        .replace(
            "$1",
            if sql.contains("session_key = $1") {
                "'a'"
            } else {
                "5"
            },
        )
        .replace("$2", "64");
    let query = query(format!("{explain} {sql}"));
    let steps: Vec<Step> = conn.list(query).await.unwrap();
    steps.into_iter().map(|step| step.0 + "\n").collect()
}

#[tokio::test]
async fn a_claim_reads_indexes_of_open_deliveries_only() {
    let busy = "SELECT session_key FROM webhook_deliveries WHERE status = 'processing'";
    for database in databases().await {
        let store = database.open().await;
        let engine = database.engine();
        for (sql, index) in [
            (DUE, "webhook_deliveries_queue"),
            (NEXT_DUE, "webhook_deliveries_queue"),
            (HEAD, "webhook_deliveries_open"),
            (busy, "webhook_deliveries_leases"),
        ] {
            let plan = store
                .read(move |conn| {
                    Box::pin(async move { Ok::<_, StoreError>(plan(conn, engine, sql).await) })
                })
                .await
                .unwrap();
            assert!(plan.contains(index), "{engine:?} {sql}\n{plan}");
            assert!(
                !plan.contains("TEMP B-TREE") && !plan.contains("Sort"),
                "{plan}"
            );
        }
        store.close().await;
    }
}
