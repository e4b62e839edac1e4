//! The store on every available engine: transactions, groups, migrations and damaged values.

use gatehouse_domain::{Actor, AuthSessionId, ErrorCode, Problem, SeededRandom};
use gatehouse_store::testing::rows::{at, auth_session};
use gatehouse_store::testing::{
    TestDatabase, empty_databases, empty_postgres, empty_sqlite, migrate, run_sql,
};
use gatehouse_store::{
    AuditEntry, AuditIntent, AuditIntentRow, AuthSessionRow, Conn, Guard, OpenError, Snapshot,
    Store, StoreError, inherit, intending, migration_versions, unguarded,
};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Barrier, watch};

async fn count(store: &Store) -> usize {
    let rows = store.read(|conn: &mut Conn| {
        Box::pin(async move { conn.list_auth_sessions(at(0), 100_000).await })
    });
    rows.await
        .map_or(usize::MAX, |rows: Vec<AuthSessionRow>| rows.len())
}

#[tokio::test]
async fn what_a_failed_write_did_is_undone_and_others_of_its_group_stand() {
    for database in empty_databases().await {
        let store = database.open().await;
        let jobs = (0..100).map(|n| {
            store.write(move |conn| {
                Box::pin(async move {
                    conn.insert_auth_session(&auth_session(n)).await?;
                    if n % 10 == 3 {
                        return Err(StoreError::Damaged { what: "test" });
                    }
                    // The second row of every tenth job already exists.
                    if n % 10 == 7 {
                        conn.insert_auth_session(&auth_session(n)).await?;
                    }
                    Ok(())
                })
            })
        });
        let outcomes = futures_util::future::join_all(jobs).await;
        let duplicates = outcomes
            .iter()
            .filter(|o| matches!(o, Err(StoreError::Duplicate(_))))
            .count();
        let failed = outcomes.iter().filter(|o| o.is_err()).count();
        assert_eq!((duplicates, failed), (10, 20), "{:?}", database.engine());
        assert_eq!(count(&store).await, 80);
        store.close().await;
    }
}

#[tokio::test]
async fn a_job_that_panics_takes_nobody_with_it() {
    let database = empty_sqlite();
    let store = database.open().await;
    let lost: Result<(), StoreError> = store
        .write(|conn| {
            Box::pin(async move {
                conn.insert_auth_session(&auth_session(1)).await?;
                panic!("a bug");
            })
        })
        .await;
    assert!(matches!(lost, Err(StoreError::NotCommitted(_))));
    store
        .write(|conn| Box::pin(async move { conn.insert_auth_session(&auth_session(2)).await }))
        .await
        .unwrap();
    assert_eq!(count(&store).await, 1);
}

#[tokio::test]
async fn every_earlier_schema_is_brought_up_to_date_and_keeps_its_rows() {
    for version in migration_versions() {
        for database in empty_databases().await {
            migrate(&database.location, Some(version)).await;
            let row =
                "INSERT INTO settings (key, value, updated_at) VALUES ('a.b', '[1,\"x\"]', 1)";
            run_sql(&database.location, row).await;
            let store = database.open().await;
            let kept = store
                .read(|conn| Box::pin(async move { conn.find_setting("a.b").await }))
                .await
                .unwrap();
            assert_eq!(
                kept,
                Some(json!([1, "x"])),
                "from {version} on {:?}",
                database.engine()
            );
            store.close().await;
        }
    }
}

#[tokio::test]
async fn a_database_from_a_newer_version_is_refused() {
    for database in empty_databases().await {
        let store = database.open().await;
        store.close().await;
        forge_newer_migration(&database).await;
        let refusal = Store::open(&database.location).await.unwrap_err();
        assert!(
            matches!(refusal, OpenError::NewerVersion { version: 9999 }),
            "{refusal:?}"
        );
    }
}

async fn forge_newer_migration(database: &TestDatabase) {
    gatehouse_store::testing::run_sql(
        &database.location,
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
         SELECT 9999, description, success, checksum, execution_time FROM _sqlx_migrations
         WHERE version = 1",
    )
    .await;
}

#[tokio::test]
async fn numbers_of_changes_grow_and_never_start_again() {
    for database in empty_databases().await {
        let store = database.open().await;
        for n in 0..3 {
            let day = n * 86_400_000;
            store
                .write(move |conn| {
                    Box::pin(async move { conn.insert_change("settings", at(day)).await })
                })
                .await
                .unwrap();
        }
        let changes = store
            .read(|conn| Box::pin(async move { conn.list_changes(0).await }))
            .await
            .map_err(|e: StoreError| e)
            .unwrap();
        assert_eq!(changes.iter().map(|c| c.seq).collect::<Vec<_>>(), [3]);
    }
}

#[tokio::test]
async fn the_audit_chain_binds_each_row_to_its_predecessor() {
    for database in empty_databases().await {
        let store = database.open().await;
        for n in 0..3 {
            store
                .write(move |conn| {
                    Box::pin(async move {
                        let actor = Actor::system();
                        let entry = AuditEntry {
                            kind: "test",
                            actor: &actor,
                            detail: json!(n),
                        };
                        conn.append_audit(
                            &entry,
                            at(n),
                            &SeededRandom::new(u64::try_from(n).unwrap()),
                        )
                        .await
                    })
                })
                .await
                .map_err(|e: StoreError| e)
                .unwrap();
        }
        let rows = store
            .read(|conn| Box::pin(async move { conn.list_audit_chain(0, 10).await }))
            .await
            .map_err(|e: StoreError| e)
            .unwrap();
        assert_eq!(rows.len(), 3);
        let mut previous = String::new();
        for row in rows {
            assert_eq!(row.prev_hash, previous);
            assert_eq!(row.hash, row.expected_hash());
            previous = row.hash;
        }
    }
}

#[tokio::test]
async fn a_database_that_another_process_has_locked_is_unavailable_and_reads_go_on() {
    let database = empty_sqlite();
    let store = database.open().await;
    let lock = gatehouse_store::testing::hold_write_lock(&database.location).await;
    let refused: Result<(), StoreError> = store
        .write(|conn| Box::pin(async move { conn.insert_auth_session(&auth_session(1)).await }))
        .await;
    assert!(refused.unwrap_err().is_unavailable());
    assert_eq!(count(&store).await, 0);
    drop(lock);
}

#[tokio::test]
async fn nothing_that_was_deleted_stays_in_a_file_after_a_clean_stop() {
    let database = empty_sqlite();
    let store = database.open().await;
    let secret = "correct-horse-battery-staple-7731";
    store
        .write(move |conn| {
            Box::pin(async move { conn.update_setting("x", &json!(secret), at(1)).await })
        })
        .await
        .unwrap();
    store
        .write(|conn| Box::pin(async move { conn.delete_setting("x").await }))
        .await
        .unwrap();
    store.close().await;
    for entry in std::fs::read_dir(database.directory()).unwrap() {
        let path = entry.unwrap().path();
        #[expect(clippy::disallowed_methods, reason = "a test may block")]
        let bytes = std::fs::read(&path).unwrap();
        let found = bytes
            .windows(secret.len())
            .any(|window| window == secret.as_bytes());
        assert!(!found, "{}", path.display());
    }
}

#[tokio::test]
async fn slow_reads_do_not_hold_up_those_with_a_reserved_connection() {
    for database in empty_databases().await {
        let store = database.open().await;
        let (release, released) = watch::channel(false);
        let slow = (0..20).map(|_| {
            let mut released = released.clone();
            store.read(move |_| {
                Box::pin(async move {
                    drop(released.wait_for(|it| *it).await);
                    Ok::<_, StoreError>(())
                })
            })
        });
        let others = async {
            let reserved = store.with_reserved_reader();
            for _ in 0..20 {
                let read = tokio::time::timeout(Duration::from_secs(10), count(&reserved));
                assert_eq!(read.await, Ok(0), "{:?}", database.engine());
            }
            let ordinary = tokio::time::timeout(Duration::from_millis(100), count(&store));
            assert!(ordinary.await.is_err(), "these wait");
            release.send_replace(true);
        };
        let (slow, ()) = tokio::join!(futures_util::future::join_all(slow), others);
        assert!(slow.iter().all(Result::is_ok));
        assert_eq!(count(&store).await, 0);
        store.close().await;
    }
}

#[tokio::test]
async fn a_log_that_a_reader_needs_is_reported_and_emptied_later() {
    let database = empty_sqlite();
    let store = database.open().await;
    let snapshot = Snapshot::open(&database.location).await.unwrap();
    insert(&store, 1).await.unwrap();
    let busy = store.checkpoint().await;
    assert!(matches!(busy, Err(StoreError::Unavailable(_))), "{busy:?}");
    insert(&store, 2).await.unwrap();
    drop(snapshot);
    store.checkpoint().await.unwrap();
    let log = database.directory().join("gatehouse.db-wal");
    assert_eq!(tokio::fs::metadata(log).await.unwrap().len(), 0);
    assert_eq!(count(&store).await, 2);
}

/// The order in which the connections close depends on the scheduler, so the test closes many times.
#[tokio::test]
async fn a_clean_stop_leaves_only_the_database_file() {
    let database = empty_sqlite();
    for _ in 0..200 {
        let store = database.open().await;
        // Each connection must be used. Closing an unused connection does nothing.
        futures_util::future::join_all((0..20).map(|_| count(&store))).await;
        store.close().await;
        let left: Vec<_> = std::fs::read_dir(database.directory())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(left, ["gatehouse.db"]);
    }
}

/// Inserts two sessions in one transaction. Waits for the other transaction in between.
async fn insert_both(
    store: Store,
    (first, second): (i64, i64),
    barrier: Arc<Barrier>,
) -> Result<(), StoreError> {
    let write = store.write_arrivals(move |conn| {
        Box::pin(async move {
            conn.insert_auth_session(&auth_session(first)).await?;
            barrier.wait().await;
            conn.insert_auth_session(&auth_session(second)).await
        })
    });
    write.await
}

#[tokio::test]
async fn a_deadlock_is_reported_as_one() {
    let Some(database) = empty_postgres().await else {
        return;
    };
    let (one, other) = (database.open().await, database.open().await);
    let barrier = Arc::new(Barrier::new(2));
    let (first, second) = tokio::join!(
        insert_both(one.clone(), (1, 2), Arc::clone(&barrier)),
        insert_both(other, (2, 1), barrier),
    );
    let is_deadlock = |outcome: &Result<(), StoreError>| {
        outcome
            .as_ref()
            .is_err_and(|error| matches!(error, StoreError::Deadlock(_)) && error.is_unavailable())
    };
    assert_eq!(
        [&first, &second]
            .map(is_deadlock)
            .iter()
            .filter(|it| **it)
            .count(),
        1,
        "{first:?} {second:?}"
    );
    assert_eq!(count(&one).await, 2, "the other transaction was not stored");
}

/// Returns a guard that permits writes while this session exists.
fn while_there(n: i64) -> Guard {
    Guard::new(move |conn| {
        Box::pin(async move {
            match conn.find_auth_session(&format!("hash{n}")).await? {
                Some(_) => Ok(()),
                None => Err(StoreError::Refused(Box::new(Problem::new(
                    ErrorCode::NotAuthenticated,
                    "ended",
                )))),
            }
        })
    })
}

async fn insert(store: &Store, n: i64) -> Result<(), StoreError> {
    let write = store.write(move |conn| {
        Box::pin(async move { conn.insert_auth_session(&auth_session(n)).await })
    });
    write.await
}

fn is_refused(outcome: &Result<(), StoreError>) -> bool {
    matches!(outcome, Err(StoreError::Refused(_)))
}

fn intent() -> AuditIntent {
    let (actor, random) = (Actor::system(), SeededRandom::new(1));
    let detail = json!({ "id": "a" });
    AuditIntent::new("agent.created", &actor, &detail, at(5), &random)
}

async fn intents(store: &Store) -> Result<Vec<AuditIntentRow>, StoreError> {
    let before = at(6);
    let read =
        store.read(move |conn| Box::pin(async move { conn.list_audit_intents(before, 10).await }));
    read.await
}

#[tokio::test]
async fn an_intent_is_stored_with_the_writes_of_its_task_and_undone_with_them() {
    for database in empty_databases().await {
        let store = database.open().await;
        let intent = intent();
        // A refused write, a failed write, and a write outside the task.
        let refused = async { intending(intent.clone(), insert(&store, 1)).await };
        assert!(is_refused(&while_there(1).over(refused).await));
        insert(&store, 1).await.unwrap();
        let twice = intending(intent.clone(), insert(&store, 1)).await;
        assert!(twice.is_err(), "the row exists");
        let outside = intending(intent.clone(), unguarded(insert(&store, 2)));
        outside.await.unwrap();
        assert_eq!(intents(&store).await.unwrap(), []);
        // Several writes of one task, in both kinds of transactions.
        let work = async {
            insert(&store, 3).await?;
            let queued = store.write_queue(|conn| {
                Box::pin(async move { conn.insert_auth_session(&auth_session(4)).await })
            });
            queued.await
        };
        intending(intent.clone(), work).await.unwrap();
        assert_eq!(intents(&store).await.unwrap(), [intent.row().clone()]);
        assert!(intent.close());
        intending(intent.clone(), insert(&store, 5)).await.unwrap();
        let id = intent.row().id.clone();
        let delete =
            store.write(move |conn| Box::pin(async move { conn.delete_audit_intent(&id).await }));
        let was_there: Result<bool, StoreError> = delete.await;
        assert!(was_there.unwrap());
        assert_eq!(intents(&store).await.unwrap(), []);
    }
}

#[tokio::test]
async fn a_guard_is_checked_in_the_transaction_behind_earlier_writes_of_the_same_group() {
    for database in empty_databases().await {
        let store = database.open().await;
        insert(&store, 1).await.unwrap();
        // All writes wait for the same commit. The writes after the deletion see the deletion.
        let (first, ended, second) = tokio::join!(
            while_there(1).over(insert(&store, 2)),
            store.write(|conn| {
                Box::pin(async move {
                    conn.delete_auth_session(&AuthSessionId::from_text("as_1"))
                        .await
                })
            }),
            while_there(1).over(insert(&store, 3)),
        );
        first.unwrap();
        assert!(ended.is_ok_and(|deleted: bool| deleted));
        assert!(is_refused(&second));
        assert_eq!(count(&store).await, 1, "the third is not there");
        assert!(is_refused(&while_there(1).over(store.check_guard()).await));
        while_there(2).over(store.check_guard()).await.unwrap();
        store.check_guard().await.unwrap();
    }
}

#[tokio::test]
async fn a_task_has_the_guard_only_where_it_inherits_it() {
    let database = empty_sqlite();
    let store = database.open().await;
    let tasks = tokio_util::task::TaskTracker::new();
    let (bare, inheriting) = (store.clone(), store.clone());
    while_there(9)
        .over(async {
            assert!(is_refused(&insert(&store, 1).await));
            unguarded(insert(&store, 2)).await.unwrap();
            let task = tasks.spawn(async move { insert(&bare, 3).await });
            task.await.unwrap().unwrap();
            let task = tasks.spawn(inherit(async move { insert(&inheriting, 4).await }));
            assert!(is_refused(&task.await.unwrap()));
        })
        .await;
    insert(&store, 5).await.unwrap();
    assert_eq!(count(&store).await, 3);
}

#[tokio::test]
async fn a_write_that_does_not_end_is_seen() {
    for database in empty_databases().await {
        let store = database.open().await;
        assert_eq!(store.busy_for(), Duration::ZERO);
        let (go, wait) = tokio::sync::oneshot::channel::<()>();
        let writing = store.write(move |_| {
            Box::pin(async move {
                let _ = wait.await;
                Ok::<_, StoreError>(())
            })
        });
        let seen = async {
            while store.busy_for() < Duration::from_millis(20) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            go.send(()).unwrap();
        };
        let (written, ()) = tokio::join!(writing, seen);
        written.unwrap();
        while store.busy_for() > Duration::ZERO {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        store.close().await;
    }
}
