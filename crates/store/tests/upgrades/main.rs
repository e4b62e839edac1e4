//! Upgrades from every version of the schema. Tests which versions may still use a newer schema.
//!
//! `landed.rs` and `real.rs` open stored databases. The databases in this file are created by the migrations
//! themselves, with a row in every table.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot continue has failed"
)]

mod killed;
mod landed;
mod real;
mod rows;

use crate::rows::{assert_kept, rows};
use data_encoding::HEXLOWER;
use gatehouse_domain::Timestamp;
use gatehouse_store::testing::{
    TestDatabase, empty_databases, empty_postgres, empty_sqlite, migrate, migrate_as_newer, number,
    run_sql,
};
use gatehouse_store::{
    ColumnKind, Engine, OpenError, Snapshot, Store, StoreError, Table, migration_versions,
};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// Returns a valid value of a column, in SQL. IDs are equal in all tables, so that references find their rows.
fn value(engine: Engine, table: &str, (column, kind): (&str, ColumnKind), number: i64) -> String {
    match kind {
        // A subscription has either a session or a device.
        ColumnKind::Text if (table, column) == ("push_subscriptions", "device_id") => {
            "NULL".to_owned()
        }
        ColumnKind::Text if column == "id" || column.ends_with("_id") => format!("'row_{number}'"),
        ColumnKind::Text if column == "direction" => "'inbound'".to_owned(),
        ColumnKind::Text => format!("'{column} {number}'"),
        ColumnKind::Blob => match engine {
            Engine::Sqlite => "X'01fe'".to_owned(),
            Engine::Postgres => "'\\x01fe'".to_owned(),
        },
        // At most one persona may be active.
        ColumnKind::Integer if (table, column) == ("voice_personas", "active") => "0".to_owned(),
        ColumnKind::Integer => match column {
            "seq" | "number" | "update_id" | "slot" | "day" | "hour" | "position" => {
                number.to_string()
            }
            _ => "1".to_owned(),
        },
    }
}

/// Adds a row to each table. A table with a numeric `id` has one row.
async fn fill(database: &TestDatabase, number: i64) {
    let mut snapshot = Snapshot::open(&database.location).await.unwrap();
    let tables = snapshot.tables().to_vec();
    let mut full = BTreeSet::new();
    for table in &tables {
        let is_single = |column: &gatehouse_store::TableColumn| {
            column.name == "id" && column.kind == ColumnKind::Integer
        };
        if table.columns.iter().any(is_single) && snapshot.count(table).await.unwrap() > 0 {
            full.insert(table.name.clone());
        }
    }
    drop(snapshot);
    let inserts = tables.iter().filter(|table| !full.contains(&table.name));
    let inserts: Vec<String> = inserts
        .map(|table| insert(database.engine(), table, number))
        .collect();
    run_sql(&database.location, &inserts.join(";\n")).await;
}

fn insert(engine: Engine, table: &Table, number: i64) -> String {
    let columns = table.columns.iter();
    let names: Vec<String> = columns
        .map(|column| format!("\"{}\"", column.name))
        .collect();
    let columns = table.columns.iter();
    let values: Vec<String> = columns
        .map(|column| value(engine, &table.name, (&column.name, column.kind), number))
        .collect();
    let (names, values) = (names.join(", "), values.join(", "));
    format!("INSERT INTO {} ({names}) VALUES ({values})", table.name)
}

/// Names and checksums of the migrations, as printed by `sha256sum *.sql`. Lines may only be added.
const CHECKSUMS: &str = include_str!("../../migrations/SHA256SUMS");

#[test]
#[expect(clippy::disallowed_methods, reason = "blocks no other task")]
fn no_landed_migration_changes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    let mut present = BTreeSet::new();
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|it| it == "sql") {
            let sum = HEXLOWER.encode(&Sha256::digest(std::fs::read(&path).unwrap()));
            let name = path.file_name().unwrap().to_str().unwrap();
            present.insert(format!("{sum}  {name}"));
        }
    }
    let listed: BTreeSet<String> = CHECKSUMS.lines().map(str::to_owned).collect();
    let changed: Vec<_> = listed.difference(&present).collect();
    assert!(
        changed.is_empty(),
        "changed or deleted migrations, which databases contain: {changed:#?}. Add another migration instead."
    );
    let new: Vec<_> = present.difference(&listed).collect();
    assert!(
        new.is_empty(),
        "add these lines to migrations/SHA256SUMS: {new:#?}"
    );
    // Each file must be in the list in `migrate.rs`.
    let versions: BTreeSet<i64> = listed
        .iter()
        .map(|line| line.get(66..70).unwrap().parse().unwrap())
        .collect();
    assert_eq!(versions, migration_versions().into_iter().collect());
}

#[tokio::test]
async fn a_database_of_every_version_opens_at_once() {
    let newest = migration_versions().last().copied();
    for version in migration_versions() {
        let database = empty_sqlite();
        migrate(&database.location, Some(version)).await;
        fill(&database, 1).await;
        let before = rows(&database).await;
        migrate(&database.location, None).await;
        assert_kept(&before, &rows(&database).await, &format!("from {version}"));
        let snapshot = Snapshot::open(&database.location).await.unwrap();
        assert_eq!(Some(snapshot.version()), newest);
    }
}

const EXPAND: &str = "-- expand\nALTER TABLE settings ADD COLUMN later BIGINT NOT NULL DEFAULT 0;";
const CONTRACT: &str = "-- contract 9000\nALTER TABLE settings ADD COLUMN other BIGINT;";

async fn write(store: &Store) -> Result<(), StoreError> {
    let now = Timestamp::from_millis(1);
    store
        .write(move |conn| Box::pin(async move { conn.insert_change("settings", now).await }))
        .await
}

/// Servers refuse a prepared `SELECT *` after a column was added to its table.
#[tokio::test]
async fn statements_that_were_prepared_before_a_migration_are_prepared_again() {
    let Some(database) = empty_postgres().await else {
        return;
    };
    let store = database.open().await;
    let read = async || {
        let list =
            store.read(|conn| Box::pin(async move { conn.list_received_messages("a").await }));
        list.await.map(|rows| rows.len())
    };
    let write = async || {
        let list =
            store.write(|conn| Box::pin(async move { conn.list_received_messages("a").await }));
        list.await.map(|rows| rows.len())
    };
    for _ in 0..8 {
        assert_eq!(read().await.unwrap(), 0);
        assert_eq!(write().await.unwrap(), 0);
    }
    let expand = "-- expand\nALTER TABLE received_messages ADD COLUMN later BIGINT;";
    migrate_as_newer(&database.location, 9000, expand).await;
    for _ in 0..8 {
        assert_eq!(read().await.unwrap(), 0);
    }
    // The transaction is lost, but a retry succeeds.
    let refused = write().await.unwrap_err();
    assert!(matches!(refused, StoreError::Unavailable(_)), "{refused:?}");
    for _ in 0..8 {
        assert_eq!(write().await.unwrap(), 0);
    }
}

/// Counts the migrations that wait for a lock on the table of settings.
const WAITING: &str = "SELECT COUNT(*) FROM pg_locks WHERE NOT granted
     AND mode = 'AccessExclusiveLock' AND relation = 'settings'::regclass";

/// On PostgreSQL, every statement on a table waits behind a waiting `ALTER TABLE`.
#[tokio::test]
async fn a_migration_that_waits_for_a_backup_lets_other_nodes_work() {
    let Some(database) = empty_postgres().await else {
        return;
    };
    let store = database.open().await;
    let mut snapshot = Snapshot::open(&database.location).await.unwrap();
    let mut tables = snapshot.tables().iter();
    let settings = tables.find(|table| table.name == "settings").unwrap();
    let settings = settings.clone();
    snapshot.count(&settings).await.unwrap();
    let working = async {
        while number(&database.location, WAITING).await == 0 {
            tokio::task::yield_now().await;
        }
        let read = store.read(|conn| Box::pin(async move { conn.find_setting("none").await }));
        let read = tokio::time::timeout(Duration::from_secs(10), read).await;
        assert_eq!(read.unwrap().unwrap(), None);
        drop(snapshot);
    };
    tokio::join!(migrate_as_newer(&database.location, 9000, EXPAND), working);
    let applied = "SELECT COUNT(*) FROM _sqlx_migrations WHERE version = 9000";
    assert_eq!(number(&database.location, applied).await, 1);
}

/// Counts the migrations that earlier versions must detect.
async fn announced(database: &TestDatabase) -> i64 {
    let query = "SELECT COUNT(*) FROM changes WHERE subject = 'schema'";
    number(&database.location, query).await
}

#[tokio::test]
async fn the_version_before_uses_the_schema_of_a_newer_one_that_expands_it() {
    for database in empty_databases().await {
        let running = database.open().await;
        migrate_as_newer(&database.location, 9000, EXPAND).await;
        assert_eq!(announced(&database).await, 0);
        let started = database.open().await;
        for store in [running, started] {
            store.check_schema().await.unwrap();
            assert!(!store.is_outdated());
            write(&store).await.unwrap();
            store.close().await;
        }
        // A newer migration that this version may still write after.
        let newest = migration_versions().last().copied().unwrap();
        let allows = format!("-- contract {newest}\nALTER TABLE settings ADD COLUMN x BIGINT;");
        migrate_as_newer(&database.location, 9001, allows.leak()).await;
        let store = database.open().await;
        write(&store).await.unwrap();
    }
}

#[tokio::test]
async fn an_earlier_version_does_not_start_on_a_schema_that_needs_a_newer_one() {
    for database in empty_databases().await {
        database.open().await.close().await;
        migrate_as_newer(&database.location, 9000, EXPAND).await;
        migrate_as_newer(&database.location, 9001, CONTRACT).await;
        let refused = Store::open(&database.location).await.unwrap_err();
        assert!(
            matches!(refused, OpenError::NewerVersion { version: 9001 }),
            "{refused:?}"
        );
        let text = refused.to_string();
        assert!(text.contains("start that version"), "{text}");
    }
}

#[tokio::test]
async fn a_running_earlier_version_writes_nothing_after_a_migration_that_needs_a_newer_one() {
    for database in empty_databases().await {
        let store = database.open().await;
        store.check_schema().await.unwrap();
        write(&store).await.unwrap();
        migrate_as_newer(&database.location, 9000, EXPAND).await;
        migrate_as_newer(&database.location, 9001, CONTRACT).await;
        assert_eq!(announced(&database).await, 1);
        store.check_schema().await.unwrap();
        assert!(store.is_outdated());
        let query = "SELECT COUNT(*) FROM changes";
        let before = number(&database.location, query).await;
        let now = Timestamp::from_millis(1);
        let refused = [
            write(&store).await,
            store
                .write_queue(move |conn| Box::pin(conn.insert_change("a", now)))
                .await,
            store
                .write_arrivals(move |conn| Box::pin(conn.insert_change("a", now)))
                .await,
            store
                .write_limits(move |conn| Box::pin(conn.insert_change("a", now)))
                .await,
        ];
        for outcome in refused {
            assert!(matches!(outcome, Err(StoreError::Outdated)), "{outcome:?}");
        }
        assert_eq!(number(&database.location, query).await, before);
        store.ping().await.unwrap();
        store.close().await;
    }
}
