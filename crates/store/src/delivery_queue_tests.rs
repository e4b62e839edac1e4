//! Checks that the statements of a claim use their indexes on both engines, and that a long line costs no more
//! than a short one.

use super::{HEAD, HEAD_OF_SAME};
use crate::delivery_claim::{BARRED, DUE};
use crate::delivery_lines::LINES;
use crate::dialect::Engine;
use crate::sql::{FromRow, Row, query};
use crate::testing::databases;
use crate::{Conn, StoreError};

struct Step(String);

impl FromRow for Step {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        // The plan is in the fourth column on SQLite and in the only column on PostgreSQL.
        Ok(Self(row.try_get(3).or_else(|_| row.try_get(0))?))
    }
}

async fn plan(conn: &mut Conn, engine: Engine, sql: &str) -> String {
    let explain = match engine {
        Engine::Sqlite => "EXPLAIN QUERY PLAN",
        Engine::Postgres => {
            // By default, PostgreSQL scans a small table sequentially.
            for setting in ["SET enable_seqscan = off", "SET enable_bitmapscan = off"] {
                conn.plain(setting).await.unwrap();
            }
            "EXPLAIN"
        }
    };
    let number = if sql == LINES.as_str() { "64" } else { "5" };
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
    for database in databases().await {
        let store = database.open().await;
        let engine = database.engine();
        for (sql, index) in [
            (DUE, "webhook_deliveries_lines"),
            (LINES.as_str(), "webhook_deliveries_lines"),
            (HEAD, "webhook_deliveries_open"),
            (HEAD_OF_SAME, "webhook_deliveries_open"),
            (BARRED, "webhook_deliveries_leases"),
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

/// Returns the number of instructions that SQLite's virtual machine runs to list the lines.
async fn steps_for_lines(store: &crate::Store) -> i32 {
    let counted = store.read(|conn| {
        Box::pin(async move {
            let crate::conn::Raw::Sqlite(db) = &conn.raw else {
                return Err(StoreError::Damaged { what: "engine" });
            };
            let mut statement = db.prepare(&LINES.replace('$', "?"))?;
            let lines = statement.query_map(("", "", 64), |_| Ok(()))?.count();
            assert_eq!(lines, 2);
            Ok(statement.get_status(rusqlite::StatementStatus::VmStep))
        })
    });
    counted.await.unwrap()
}

#[tokio::test]
async fn a_long_line_costs_no_more_than_a_short_one() {
    let database = crate::testing::sqlite();
    let store = database.open().await;
    let insert = |from: u32, to: u32| {
        format!(
            "WITH RECURSIVE n (n) AS (SELECT {from} UNION ALL SELECT n + 1 FROM n WHERE n < {to})
             INSERT INTO webhook_deliveries (id, webhook_id, status, session_key, received_at,
                 next_attempt_at, headers, body_size, body_preview, payload, target)
             SELECT printf('del_%08d', n), 'hook_' || (n % 2), 'queued', n, 1, n, '', 2, '', '{{}}', 'inbox:a'
             FROM n"
        )
    };
    crate::testing::run_sql(&database.location, &insert(1, 2)).await;
    let short = steps_for_lines(&store).await;
    crate::testing::run_sql(&database.location, &insert(3, 5000)).await;
    assert_eq!(steps_for_lines(&store).await, short);
    store.close().await;
}

/// An operation of SQLite's virtual machine.
struct Operation(String);

impl FromRow for Operation {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self(row.try_get(1)?))
    }
}

/// SQLite evaluates the conditions of partial indexes for each row that is written. For a list of more than two
/// values, it creates a temporary table, which takes longer than writing the rest of the row.
#[tokio::test]
async fn a_delivery_is_written_without_temporary_tables() {
    let database = crate::testing::sqlite();
    let store = database.open().await;
    for sql in [
        "INSERT INTO webhook_deliveries (id, webhook_id, status, session_key, received_at, headers, body_size,
             body_preview)
         VALUES ('a', 'b', 'queued', '', 1, '', 2, '') ON CONFLICT DO NOTHING",
        "UPDATE webhook_deliveries SET status = 'completed' WHERE id = 'a'",
    ] {
        let explain = query(format!("EXPLAIN {sql}"));
        let program =
            store.read(|conn| Box::pin(async move { conn.list::<Operation>(explain).await }));
        let program: Vec<String> = program.await.unwrap().into_iter().map(|it| it.0).collect();
        assert!(program.iter().any(|it| it == "OpenWrite"), "{program:?}");
        assert!(!program.iter().any(|it| it == "OpenEphemeral"), "{program:?}");
    }
    store.close().await;
}
