//! Checks that no statement on deliveries reads all deliveries. The table has many rows and statistics.
//!
//! `GATEHOUSE_PLAN_ROWS` sets the number of rows. With a million:
//!
//! ```sh
//! GATEHOUSE_PLAN_ROWS=1000000 cargo xtask test --filter 'test(no_statement_reads_all_deliveries)'
//! ```

mod work;

use crate::dialect::Engine;
use crate::sql::{FromRow, Query, Row};
use crate::testing::{TestDatabase, databases, run_sql, wanted_rows};
use crate::{Conn, StoreError};
use futures_util::future::BoxFuture;
use gatehouse_domain::Timestamp;
use std::collections::HashSet;
use work::{claims, counts, lists, retention, waits};

/// When the first delivery was received.
const START: i64 = 1_795_000_000_000;
/// The period of the deliveries: 30 days.
const PERIOD_MS: i64 = 30 * 86_400_000;
const HOUR_MS: i64 = 3_600_000;

/// Indexes that contain few of the deliveries of this test.
const PARTIAL: [&str; 7] = [
    "webhook_deliveries_by_status",
    "webhook_deliveries_leases",
    "webhook_deliveries_lines",
    "webhook_deliveries_open",
    "webhook_deliveries_parked",
    "webhook_deliveries_refused",
    "webhook_deliveries_rejected",
];

/// A step of a plan.
struct Step(String);

impl FromRow for Step {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        // The plan is in the fourth column on SQLite and in the only column on PostgreSQL.
        Ok(Self(row.try_get(3).or_else(|_| row.try_get(0))?))
    }
}

/// A function that runs the statements to explain.
type Work = for<'c> fn(&'c mut Conn) -> BoxFuture<'c, Result<(), StoreError>>;

#[tokio::test]
async fn no_statement_reads_all_deliveries() {
    for database in databases().await {
        fill(&database).await;
        let store = database.open().await;
        let all: [(&str, Work); 5] = [
            ("lists", lists),
            ("counts", counts),
            ("retention", retention),
            ("claims", claims),
            ("waits", waits),
        ];
        for (name, work) in all {
            let plans = store.write_queue(move |conn| {
                Box::pin(async move {
                    conn.recorded = Some(Vec::new());
                    work(conn).await?;
                    let recorded = conn.recorded.take().unwrap_or_default();
                    explain_all(conn, recorded).await
                })
            });
            let plans: Result<Vec<(String, String)>, StoreError> = plans.await;
            let plans = plans.unwrap();
            assert!(!plans.is_empty(), "{name}");
            for (sql, plan) in plans {
                let reads_all = reads_all(database.engine(), &plan);
                assert!(!reads_all, "{name}: {sql}\n{plan}");
            }
        }
        store.close().await;
    }
}

/// Stores deliveries of 20 webhooks with 10 event types. Nearly all are completed.
async fn fill(database: &TestDatabase) {
    let (rows, hex, analyze) = match database.engine() {
        Engine::Sqlite => (20_000, "printf('%012x', ms)", "ANALYZE"),
        Engine::Postgres => (
            200_000,
            "lpad(to_hex(ms), 12, '0')",
            "VACUUM ANALYZE webhook_deliveries",
        ),
    };
    let rows = wanted_rows().unwrap_or(rows);
    let step = PERIOD_MS / rows;
    let sql = format!(
        "INSERT INTO webhook_deliveries (id, webhook_id, status, event_type, session_key, received_at,
             next_attempt_at, lease_until, lease_owner, attempts, headers, body_size, body_preview, payload,
             response_actions, target, error)
         WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {rows}),
             made (n, ms, status) AS (SELECT n, {START} + n * CAST({step} AS BIGINT), CASE
                 WHEN n % 1000 = 1 THEN 'queued' WHEN n % 20000 = 2 THEN 'processing'
                 WHEN n % 200 = 3 THEN 'failed' WHEN n % 500 = 4 THEN 'filtered'
                 WHEN n % 500 = 5 THEN 'rejected' WHEN n % 500 = 6 THEN 'deduplicated'
                 ELSE 'completed' END FROM numbers)
         SELECT 'del_' || {hex} || substr('00000000000000000000' || n, length('00000000000000000000' || n) - 19),
             'hook_' || (n % 20), status, 'push.' || (n % 10), 's' || n, ms,
             CASE WHEN status = 'queued' AND n % 10000 <> 1 THEN ms END,
             CASE WHEN status = 'processing' THEN ms END,
             CASE WHEN status = 'processing' THEN 'node' END, 0, '{{}}', 2, '', '{{}}', '[]', '',
             CASE WHEN status = 'rejected' THEN 'signature' END
         FROM made"
    );
    run_sql(&database.location, &sql).await;
    run_sql(&database.location, analyze).await;
}

/// Returns the statements on deliveries with their plans. Each distinct statement is returned once.
async fn explain_all(
    conn: &mut Conn,
    statements: Vec<Query<'static>>,
) -> Result<Vec<(String, String)>, StoreError> {
    let explain = match conn.engine() {
        Engine::Sqlite => "EXPLAIN QUERY PLAN",
        Engine::Postgres => "EXPLAIN",
    };
    let (mut plans, mut known) = (Vec::new(), HashSet::new());
    for Query { text, values } in statements {
        if !text.contains("webhook_deliveries") || !known.insert(text.clone()) {
            continue;
        }
        let query = Query {
            text: format!("{explain} {text}").into(),
            values,
        };
        let steps: Vec<Step> = conn.list(query).await?;
        let plan = steps.into_iter().map(|step| step.0 + "\n").collect();
        plans.push((text.into_owned(), plan));
    }
    Ok(plans)
}

/// Returns whether a plan reads the whole table, or a whole index of all deliveries.
fn reads_all(engine: Engine, plan: &str) -> bool {
    match engine {
        Engine::Sqlite => plan.lines().any(|step| {
            let tables = ["webhook_deliveries", "waiting", "older"];
            let scans = |table: &&str| step.starts_with(&format!("SCAN {table}"));
            tables.iter().any(scans) && !PARTIAL.iter().any(|index| step.contains(index))
        }),
        Engine::Postgres => plan.contains("Seq Scan on webhook_deliveries"),
    }
}

const fn at(hours: i64) -> Timestamp {
    Timestamp::from_millis(START + hours * HOUR_MS)
}
