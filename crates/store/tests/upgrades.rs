//! Upgrades from every version of the schema: rows are kept, and a process that dies at any migration can start again.
//! The old databases are built by the migrations themselves, because landed migrations never change.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

use gatehouse_store::testing::{TestDatabase, migrate, postgres, run_sql, sqlite};
use gatehouse_store::{ColumnKind, Engine, Snapshot, Store, Table, migration_versions};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The columns of a row, by name.
type Row = BTreeMap<String, String>;
/// The rows of each table.
type Rows = BTreeMap<String, Vec<Row>>;

/// Reads all rows of all tables but `_sqlx_migrations`.
async fn rows(database: &TestDatabase) -> Rows {
    let mut snapshot = Snapshot::open(&database.location).await.unwrap();
    let mut all = Rows::new();
    for table in snapshot.tables().to_vec() {
        let mut rows = Vec::new();
        let mut next = None;
        loop {
            let page = snapshot.read(&table, next).await.unwrap();
            rows.extend(page.rows.iter().map(|cells| {
                let named = table.columns.iter().zip(cells);
                named
                    .map(|(column, cell)| (column.name.clone(), format!("{cell:?}")))
                    .collect()
            }));
            next = page.next;
            if next.is_none() {
                break;
            }
        }
        all.insert(table.name.clone(), rows);
    }
    all
}

/// A valid value of a column, in SQL. Ids are equal in all tables, so that references find their rows.
fn value(engine: Engine, table: &str, (column, kind): (&str, ColumnKind), number: i64) -> String {
    match kind {
        // A subscription has a session or a device.
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
        // At most one persona is active.
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

/// Checks that every row is still there, with the same values in the columns that still exist.
fn assert_kept(before: &Rows, after: &Rows, what: &str) {
    for (table, rows) in before {
        // Migration 68 moves its rows.
        let is_moved = table == "inbound_messages" && !before.contains_key("received_messages");
        let is_moved = is_moved && after.contains_key("received_messages");
        let table = if is_moved { "received_messages" } else { table };
        let now = after
            .get(table)
            .unwrap_or_else(|| panic!("{what}: {table} is gone"));
        let (Some(old), Some(new)) = (rows.first(), now.first()) else {
            assert!(rows.is_empty(), "{what}: {table} is empty");
            continue;
        };
        let same: Vec<&String> = old.keys().filter(|it| new.contains_key(*it)).collect();
        let values =
            |row: &Row| -> Vec<String> { same.iter().map(|it| row[*it].clone()).collect() };
        let now: BTreeSet<_> = now.iter().map(values).collect();
        for row in rows {
            assert!(
                now.contains(&values(row)),
                "{what}: {table} has lost {row:?}"
            );
        }
    }
}

/// Runs the statements of a migration without a commit, like a process that dies in it.
async fn die_in(database: &TestDatabase, version: i64) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    let prefix = format!("{version:04}_");
    let mut files = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let file = files.find(|file| file.file_name().to_string_lossy().starts_with(&prefix));
    let sql = tokio::fs::read_to_string(file.unwrap().path()).await;
    let sql = format!("BEGIN;\n{}", sql.unwrap());
    run_sql(&database.location, &sql).await;
}

async fn keeps_the_rows_of_every_version(database: &TestDatabase) {
    let mut before = Rows::new();
    for (number, version) in (1..).zip(migration_versions()) {
        die_in(database, version).await;
        if number > 1 {
            assert_eq!(rows(database).await, before, "dead in {version}");
        }
        migrate(&database.location, Some(version)).await;
        assert_kept(
            &before,
            &rows(database).await,
            &format!("version {version}"),
        );
        fill(database, number).await;
        before = rows(database).await;
    }
    let store = Store::open(&database.location).await.unwrap();
    assert_eq!(store.check_integrity().await.unwrap(), [""; 0]);
    assert_kept(&before, &rows(database).await, "opened");
    store.close().await;
}

#[tokio::test]
async fn rows_of_every_version_are_kept_by_a_process_that_dies_at_every_migration() {
    keeps_the_rows_of_every_version(&sqlite()).await;
}

#[tokio::test]
async fn postgresql_keeps_the_rows_of_every_version_when_a_process_dies_at_every_migration() {
    if let Some(database) = postgres().await {
        keeps_the_rows_of_every_version(&database).await;
    }
}

#[tokio::test]
async fn a_database_of_every_version_opens_at_once() {
    let newest = migration_versions().last().copied();
    for version in migration_versions() {
        let database = sqlite();
        migrate(&database.location, Some(version)).await;
        fill(&database, 1).await;
        let before = rows(&database).await;
        migrate(&database.location, None).await;
        assert_kept(&before, &rows(&database).await, &format!("from {version}"));
        let snapshot = Snapshot::open(&database.location).await.unwrap();
        assert_eq!(Some(snapshot.version()), newest);
    }
}
