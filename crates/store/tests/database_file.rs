//! The file of a SQLite database that is moved, deleted or replaced while a store uses it.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

use gatehouse_domain::{ErrorCode, Problem, Timestamp};
use gatehouse_store::testing::{empty_sqlite, number, sqlite};
use gatehouse_store::{OpenError, Snapshot, Store, StoreError};
use serde_json::json;

async fn write(store: &Store, key: &'static str) -> Result<(), StoreError> {
    let at = Timestamp::from_millis(1);
    store
        .write(move |conn| {
            Box::pin(async move { conn.update_setting(key, &json!(1), at).await.map(drop) })
        })
        .await
}

async fn has(store: &Store, key: &'static str) -> bool {
    let read = store.read(move |conn| Box::pin(async move { conn.find_setting(key).await }));
    let found: Result<_, StoreError> = read.await;
    found.unwrap().is_some()
}

#[tokio::test]
async fn nothing_is_written_to_a_file_that_the_next_start_would_not_find() {
    let database = sqlite();
    let path = database.directory().join("gatehouse.db");
    let moved = database.directory().join("moved.db");
    let store = database.open().await;
    write(&store, "before").await.unwrap();
    assert!(!store.file_is_replaced().await);

    tokio::fs::rename(&path, &moved).await.unwrap();
    for is_replaced in [false, true] {
        if is_replaced {
            tokio::fs::write(&path, "another database").await.unwrap();
        }
        assert!(store.file_is_replaced().await);
        let (one, two) = tokio::join!(write(&store, "lost"), write(&store, "also lost"));
        for refused in [one, two] {
            assert!(
                matches!(refused, Err(StoreError::FileReplaced)),
                "{refused:?}"
            );
        }
        assert!(store.has_failed_to_write());
        assert!(store.try_writing().await.is_err());
        assert!(has(&store, "before").await);
        assert!(!has(&store, "lost").await);
    }

    tokio::fs::rename(&moved, &path).await.unwrap();
    assert!(!store.file_is_replaced().await);
    store.try_writing().await.unwrap();
    assert!(!store.has_failed_to_write());
    write(&store, "after").await.unwrap();
    store.close().await;
    let store = database.open().await;
    assert!(has(&store, "after").await);
    store.close().await;
}

#[tokio::test]
async fn a_first_write_while_the_file_is_away_opens_no_other_file() {
    let database = sqlite();
    let path = database.directory().join("gatehouse.db");
    let moved = database.directory().join("moved.db");
    let store = database.open().await;
    tokio::fs::rename(&path, &moved).await.unwrap();
    // The writer connects at its first write.
    write(&store, "lost").await.unwrap_err();
    assert!(!path.exists());
    assert!(store.has_failed_to_write());
    tokio::fs::rename(&moved, &path).await.unwrap();
    write(&store, "after").await.unwrap();
    store.close().await;
    let store = database.open().await;
    assert!(has(&store, "after").await);
    assert!(!has(&store, "lost").await);
    store.close().await;
}

#[tokio::test]
async fn a_log_that_is_deleted_before_the_first_write_is_noticed() {
    let database = sqlite();
    let store = database.open().await;
    let log = database.directory().join("gatehouse.db-wal");
    tokio::fs::remove_file(&log).await.unwrap();
    assert!(store.file_is_replaced().await);
    write(&store, "lost").await.unwrap_err();
    assert!(!has(&store, "lost").await);
    assert!(!log.exists());
    store.close().await;
}

#[tokio::test]
async fn nothing_is_written_to_a_deleted_file() {
    let database = sqlite();
    let store = database.open().await;
    write(&store, "before").await.unwrap();
    let path = database.directory().join("gatehouse.db");
    tokio::fs::remove_file(&path).await.unwrap();
    let refused = write(&store, "lost").await.unwrap_err();
    assert!(matches!(refused, StoreError::FileReplaced), "{refused:?}");
    assert_eq!(Problem::from(refused).code, ErrorCode::StorageUnavailable);
    assert!(!path.exists());
    store.close().await;
}

#[tokio::test]
async fn nothing_is_written_to_a_log_that_the_next_start_would_not_find() {
    let database = sqlite();
    let store = database.open().await;
    write(&store, "before").await.unwrap();
    let log = database.directory().join("gatehouse.db-wal");
    let moved = database.directory().join("moved");
    tokio::fs::rename(&log, &moved).await.unwrap();
    let refused = write(&store, "lost").await;
    assert!(
        matches!(refused, Err(StoreError::FileReplaced)),
        "{refused:?}"
    );
    assert!(store.file_is_replaced().await);
    tokio::fs::rename(&moved, &log).await.unwrap();
    write(&store, "after").await.unwrap();
    // Neither a checkpoint nor a connection that opens and closes deletes the log.
    assert!(has(&store, "after").await);
    store.checkpoint().await.unwrap();
    assert_eq!(
        number(&database.location, "SELECT COUNT(*) FROM settings").await,
        2
    );
    write(&store, "last").await.unwrap();
    store.close().await;
    assert!(!store.file_is_replaced().await);
}

#[tokio::test]
async fn a_log_without_its_database_is_not_deleted() {
    for is_empty in [false, true] {
        let database = empty_sqlite();
        let path = database.directory().join("gatehouse.db");
        let log = database.directory().join("gatehouse.db-wal");
        if is_empty {
            tokio::fs::write(&path, "").await.unwrap();
        }
        tokio::fs::write(&log, "changes").await.unwrap();
        let refused = Store::open(&database.location).await.unwrap_err();
        assert!(
            matches!(refused, OpenError::LogWithoutDatabase),
            "{refused:?}"
        );
        let refused = Snapshot::open(&database.location).await.unwrap_err();
        assert!(
            matches!(refused, OpenError::LogWithoutDatabase),
            "{refused:?}"
        );
        assert_eq!(tokio::fs::read(&log).await.unwrap(), b"changes");
        assert_eq!(path.exists(), is_empty);
        // An empty log contains no changes.
        tokio::fs::write(&log, "").await.unwrap();
        database.open().await.close().await;
    }
}
