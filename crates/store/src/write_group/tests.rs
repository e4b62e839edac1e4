//! How the writes of a group are divided among transactions.

use super::jobs::BeginTime;
use super::*;
use crate::Store;
use crate::dialect::Role;
use crate::testing::{TestDatabase, databases};
use crate::write_job::Ran;
use gatehouse_domain::Timestamp;
use metrics::{
    Counter, Gauge, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder, SharedString, Unit,
};
use serde_json::{Value, json};
use std::sync::Mutex;
use tokio::time::Instant;

type Log = Arc<Mutex<Vec<String>>>;

fn note(log: &Log, text: String) {
    log.lock().unwrap().push(text);
}

/// Logs the recorded sizes of groups.
struct Sizes(Log);

impl HistogramFn for Sizes {
    fn record(&self, value: f64) {
        note(&self.0, format!("size {value}"));
    }
}

impl Recorder for Sizes {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, _: &Key, _: &Metadata<'_>) -> Counter {
        Counter::noop()
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        if key.name() == "store_group_size" {
            return Histogram::from_arc(Arc::new(Self(Arc::clone(&self.0))));
        }
        Histogram::noop()
    }
}

/// Whether the statements of a write on PostgreSQL wait until the write has ended.
#[derive(Clone, Copy, Debug)]
enum Statements {
    Wait,
    Run,
}

/// A group of three writes.
#[derive(Clone, Copy, Debug)]
struct Case {
    group_time: Duration,
    statements: Statements,
    /// The number of the write that fails after its statements.
    failing: Option<u32>,
}

fn job(log: &Log, number: u32, case: Case) -> Job {
    let log = Arc::clone(log);
    Box::new(move |conn| {
        Box::pin(async move {
            let (key, value) = (format!("test.{number}"), number.to_string());
            match case.statements {
                Statements::Wait => {
                    let insert =
                        "INSERT INTO settings (key, value, updated_at) VALUES ($1, $2, $3)";
                    let values = vec![key.as_str().into(), value.as_str().into(), 1_i64.into()];
                    conn.run_later(insert, values).unwrap();
                }
                Statements::Run => {
                    let at = Timestamp::from_millis(1);
                    conn.update_setting(&key, &json!(number), at).await.unwrap();
                }
            }
            note(&log, format!("{number} ran"));
            if case.failing == Some(number) {
                return Ran::Undo(Box::new(|_| ()));
            }
            Ran::Keep(Box::new(move |commit| {
                assert!(commit.is_ok(), "{number}: {commit:?}");
                note(&log, format!("{number} committed"));
            }))
        })
    })
}

fn writer_of(database: &TestDatabase, group_time: Duration) -> GroupWriter {
    let shared = Shared {
        changed: broadcast::Sender::new(1),
        busy: Busy::default(),
        health: WriteHealth::default(),
        file: None,
    };
    let source = database.location.source(Role::Writer, 2).unwrap();
    let mut writer = GroupWriter::new(database.engine(), Lane::Rules, source, shared);
    writer.group_time = group_time;
    writer
}

/// Returns the value that a write has stored.
async fn stored(store: &Store, number: u32) -> Option<Value> {
    let key = format!("test.{number}");
    let found = store.read(move |conn| Box::pin(async move { conn.find_setting(&key).await }));
    let found: Result<_, StoreError> = found.await;
    found.unwrap()
}

/// Runs three writes that wait together, on each engine. Returns the events in order.
async fn three_writes(case: Case) -> Vec<Vec<String>> {
    let mut logs = Vec::new();
    for database in databases().await {
        let store = database.open().await;
        let writer = writer_of(&database, case.group_time);
        let (orders, inbox) = mpsc::channel(4);
        let log = Log::default();
        for number in 1..=3 {
            let order = Order::Run(job(&log, number, case));
            assert!(orders.send(order).await.is_ok());
        }
        assert!(orders.send(Order::Stop).await.is_ok());
        let sizes = Sizes(Arc::clone(&log));
        // The runtime of a test has one thread, so a thread-local recorder receives all metrics.
        let local = metrics::set_default_local_recorder(&sizes);
        writer.serve(inbox).await;
        drop(local);
        for number in 1..=3 {
            let expected = (case.failing != Some(number)).then(|| json!(number));
            let found = stored(&store, number).await;
            assert_eq!(found, expected, "{number}: {case:?}");
        }
        store.close().await;
        logs.push(std::mem::take(&mut *log.lock().unwrap()));
    }
    logs
}

#[tokio::test]
async fn writes_that_wait_together_share_a_transaction() {
    let expected = [
        "1 ran",
        "2 ran",
        "3 ran",
        "size 3",
        "1 committed",
        "2 committed",
        "3 committed",
    ];
    for statements in [Statements::Wait, Statements::Run] {
        let case = Case {
            group_time: Duration::from_mins(1),
            statements,
            failing: None,
        };
        for log in three_writes(case).await {
            assert_eq!(log, expected, "{case:?}");
        }
    }
}

#[tokio::test]
async fn a_write_that_fails_is_undone_alone_wherever_it_is_in_its_group() {
    for statements in [Statements::Wait, Statements::Run] {
        for failing in 1..=3 {
            let case = Case {
                group_time: Duration::from_mins(1),
                statements,
                failing: Some(failing),
            };
            let others = (1..=3).filter(|number| *number != failing);
            let committed: Vec<String> = others.map(|n| format!("{n} committed")).collect();
            for log in three_writes(case).await {
                assert_eq!(log[..4], ["1 ran", "2 ran", "3 ran", "size 3"], "{case:?}");
                assert_eq!(log[4..], committed, "{case:?}");
            }
        }
    }
}

/// Returns a write that ignores an error after which SQLite has rolled back the transaction.
fn job_that_hides_a_rollback(log: &Log) -> Job {
    let log = Arc::clone(log);
    Box::new(move |conn| {
        Box::pin(async move {
            conn.plain("ROLLBACK").await.unwrap();
            Ran::Keep(Box::new(move |commit| {
                assert!(commit.is_err(), "{commit:?}");
                note(&log, "1 refused".to_owned());
            }))
        })
    })
}

#[tokio::test]
async fn nothing_of_a_group_is_written_if_sqlite_has_rolled_it_back() {
    let database = crate::testing::sqlite();
    let mut writer = writer_of(&database, GROUP_TIME);
    let case = Case {
        group_time: GROUP_TIME,
        statements: Statements::Run,
        failing: None,
    };
    let log = Log::default();
    let group = vec![job_that_hides_a_rollback(&log), job(&log, 2, case)];
    assert!(writer.run_group(group).await.is_empty());
    // The next group gets a new connection.
    assert!(writer.run_group(vec![job(&log, 3, case)]).await.is_empty());
    let happened = std::mem::take(&mut *log.lock().unwrap());
    assert_eq!(happened, ["1 refused", "3 ran", "3 committed"]);
    let store = database.open().await;
    assert_eq!(stored(&store, 2).await, None);
    assert_eq!(stored(&store, 3).await, Some(json!(3)));
    store.close().await;
}

#[tokio::test]
async fn writes_that_do_not_begin_in_time_run_in_further_transactions_in_order() {
    let expected = [
        "1 ran",
        "size 1",
        "1 committed",
        "2 ran",
        "size 1",
        "2 committed",
        "3 ran",
        "size 1",
        "3 committed",
    ];
    for statements in [Statements::Wait, Statements::Run] {
        let case = Case {
            group_time: Duration::ZERO,
            statements,
            failing: None,
        };
        for log in three_writes(case).await {
            assert_eq!(log, expected, "{case:?}");
        }
    }
}

#[test]
fn a_write_begins_within_three_seconds_after_the_first() {
    let mut time = BeginTime {
        limit: GROUP_TIME,
        until: None,
    };
    let first = Instant::now();
    assert!(!time.is_over(first + Duration::from_mins(1)));
    time.start(first);
    // Later writes do not change the start time.
    time.start(first + Duration::from_secs(1));
    let limit = first + Duration::from_secs(3);
    assert!(!time.is_over(limit.checked_sub(Duration::from_nanos(1)).unwrap()));
    assert!(time.is_over(limit));
}
