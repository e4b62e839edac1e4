//! Checks that the statements of a claim use their indexes on both engines. In a manual test with a million
//! rows on both engines, each statement read as few rows as with ten.

use super::HEAD;
use crate::delivery_claim::DUE;
use crate::delivery_lines::LINES;
use crate::dialect::Engine;
use crate::sql::{FromRow, Row, query};
use crate::testing::databases;
use crate::{Conn, StoreError};

struct Step(String);

impl FromRow for Step {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        // SQLite returns the plan in the fourth column, PostgreSQL in the only one.
        Ok(Self(row.try_get(3).or_else(|_| row.try_get(0))?))
    }
}

async fn plan(conn: &mut Conn, engine: Engine, sql: &str) -> String {
    let explain = match engine {
        Engine::Sqlite => "EXPLAIN QUERY PLAN",
        Engine::Postgres => {
            // Otherwise PostgreSQL scans a small table sequentially, which is correct.
            for setting in ["SET enable_seqscan = off", "SET enable_bitmapscan = off"] {
                conn.plain(setting).await.unwrap();
            }
            "EXPLAIN"
        }
    };
    let number = if sql == LINES { "64" } else { "5" };
    let sql = sql
        .replace("$1", "'a'")
        .replace("$2", "'b'")
        .replace("$3", number)
        .replace("$4", "64");
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
            (DUE, "webhook_deliveries_lines"),
            (LINES, "webhook_deliveries_lines"),
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
