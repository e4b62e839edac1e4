//! How the writes of a group are divided among transactions.

use super::*;
use crate::dialect::Role;
use crate::testing::databases;
use gatehouse_domain::Timestamp;
use serde_json::json;
use std::sync::Mutex;

type Log = Arc<Mutex<Vec<String>>>;

fn note(log: &Log, text: String) {
    log.lock().unwrap().push(text);
}

fn job(log: &Log, number: u32) -> Order {
    let log = Arc::clone(log);
    let job: Job = Box::new(move |conn| {
        Box::pin(async move {
            let (key, at) = (format!("test.{number}"), Timestamp::from_millis(1));
            conn.update_setting(&key, &json!(number), at).await.unwrap();
            note(&log, format!("{number} ran"));
            Ran::Keep(Box::new(move |commit| {
                assert!(commit.is_ok(), "{number}: {commit:?}");
                note(&log, format!("{number} committed"));
            }))
        })
    });
    Order::Run(job)
}

/// Runs three writes that wait together, on each engine. Returns what happened, in order.
async fn three_writes(group_time: Duration) -> Vec<Vec<String>> {
    let mut logs = Vec::new();
    for database in databases().await {
        let store = database.open().await;
        let engine = database.engine();
        let shared = Shared {
            changed: broadcast::Sender::new(1),
            busy: Busy::default(),
            health: WriteHealth::default(),
        };
        let source = database.location.source(Role::Writer, 2).unwrap();
        let mut writer = GroupWriter::new(engine, Lane::Rules, source, shared);
        writer.group_time = group_time;
        let (orders, inbox) = mpsc::channel(4);
        let log = Log::default();
        for number in 1..=3 {
            assert!(orders.send(job(&log, number)).await.is_ok());
        }
        assert!(orders.send(Order::Stop).await.is_ok());
        writer.serve(inbox).await;
        for number in 1..=3 {
            let key = format!("test.{number}");
            let found =
                store.read(move |conn| Box::pin(async move { conn.find_setting(&key).await }));
            let found: Result<_, StoreError> = found.await;
            assert_eq!(found.unwrap(), Some(json!(number)));
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
        "1 committed",
        "2 committed",
        "3 committed",
    ];
    for log in three_writes(Duration::from_mins(1)).await {
        assert_eq!(log, expected);
    }
}

#[tokio::test]
async fn writes_that_do_not_begin_in_time_run_in_further_transactions_in_order() {
    let expected = [
        "1 ran",
        "1 committed",
        "2 ran",
        "2 committed",
        "3 ran",
        "3 committed",
    ];
    for log in three_writes(Duration::ZERO).await {
        assert_eq!(log, expected);
    }
}
