//! Upgrades from every version of the schema: rows are kept, and a process that is killed in any migration can start
//! again. Versions that may still use a newer schema, and those that may not.
//!
//! The old databases are built by the migrations themselves. They equal stored copies of old databases: a schema is what
//! the files of its migrations did, in order, and each file is compared with its checksum in `migrations/SHA256SUMS`. A
//! database stores the checksums, too, and is refused if one differs.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

use data_encoding::HEXLOWER;
use gatehouse_domain::Timestamp;
use gatehouse_store::testing::{
    TestDatabase, empty_databases, empty_postgres, empty_sqlite, migrate, migrate_as_newer, number,
    run_sql,
};
use gatehouse_store::{
    ColumnKind, Engine, Location, OpenError, Snapshot, Store, StoreError, Table, fault,
    migration_versions,
};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

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

/// Names and checksums of the migrations, as `sha256sum *.sql` prints them. Lines are only added.
const CHECKSUMS: &str = include_str!("../migrations/SHA256SUMS");

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
    // Each file belongs to the list in `migrate.rs`.
    let versions: BTreeSet<i64> = listed
        .iter()
        .map(|line| line.get(66..70).unwrap().parse().unwrap())
        .collect();
    assert_eq!(versions, migration_versions().into_iter().collect());
}

const URL: &str = "GATEHOUSE_UPGRADE_URL";
const FROM: &str = "GATEHOUSE_UPGRADE_FROM";
const TO: &str = "GATEHOUSE_UPGRADE_TO";
const AT: &str = "GATEHOUSE_UPGRADE_AT";
/// What the other process prints before it waits to be killed.
const AT_POINT: &str = "at the point";
const MIGRATED: &str = "migrated";

/// Prints a line to the parent, and waits to be killed.
fn wait_for_death(line: &str) -> ! {
    // After the name of the test, which has no line end.
    println!("\n{line}");
    loop {
        std::thread::park();
    }
}

#[tokio::test]
#[ignore = "run by the tests below, as another process"]
async fn victim() {
    #[expect(
        clippy::disallowed_methods,
        reason = "parameters of the parent process"
    )]
    let parameter = |name| std::env::var(name).ok();
    let Some(url) = parameter(URL) else {
        return;
    };
    let number = |name| parameter(name).and_then(|text| text.parse::<i64>().ok());
    let location = Location::from_url(&url).unwrap();
    // Counts the points before those of the migration.
    fault::abort_at(-1);
    migrate(&location, Some(number(FROM).unwrap())).await;
    // The next two are before its transaction and before its statements.
    let at = fault::seen() + 2 + number(AT).unwrap();
    fault::call_at(at, || wait_for_death(AT_POINT));
    migrate(&location, number(TO)).await;
    wait_for_death(MIGRATED);
}

/// Migrates in another process, which is killed at the n-th write after the statements of the migration, or at the end.
/// Returns whether it finished the migration.
fn is_migrated_by_killed_process(url: &str, from: i64, to: i64, at: i64) -> bool {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "victim", "--ignored", "--nocapture"])
        .env(URL, url)
        .env(FROM, from.to_string())
        .env(TO, to.to_string())
        .env(AT, at.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut lines = lines.map(Result::unwrap);
    let last = lines.find(|line| [AT_POINT, MIGRATED].contains(&line.as_str()));
    // SIGKILL.
    child.kill().unwrap();
    child.wait().unwrap();
    last.unwrap_or_else(|| panic!("the process ended in migration {to}")) == MIGRATED
}

async fn keeps_the_rows_of_every_version(database: &TestDatabase) {
    let mut before = Rows::new();
    let mut from = 0;
    for (number, version) in (1..).zip(migration_versions()) {
        let mut kills = 0;
        loop {
            let url = database.location.url();
            // Not on this thread, which closes the connections that the process would wait for.
            let migrate = move || is_migrated_by_killed_process(&url, from, version, kills);
            if tokio::task::spawn_blocking(migrate).await.unwrap() {
                break;
            }
            if number > 1 {
                assert_eq!(rows(database).await, before, "{version}, {kills}");
            }
            kills += 1;
        }
        assert!((2..6).contains(&kills), "{version}: {kills}");
        assert_kept(
            &before,
            &rows(database).await,
            &format!("version {version}"),
        );
        fill(database, number).await;
        before = rows(database).await;
        from = version;
    }
    let store = Store::open(&database.location).await.unwrap();
    assert_eq!(store.check_integrity().await.unwrap(), [""; 0]);
    assert_kept(&before, &rows(database).await, "opened");
    store.close().await;
}

#[tokio::test]
async fn rows_of_every_version_are_kept_by_a_process_that_is_killed_in_every_migration() {
    keeps_the_rows_of_every_version(&empty_sqlite()).await;
}

#[tokio::test]
async fn postgresql_keeps_the_rows_of_every_version_when_a_process_is_killed_in_every_migration() {
    if let Some(database) = empty_postgres().await {
        keeps_the_rows_of_every_version(&database).await;
    }
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

/// Servers refuse a prepared `SELECT *` whose table has got a column.
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
    // The transaction is lost; a repeated one succeeds.
    let refused = write().await.unwrap_err();
    assert!(matches!(refused, StoreError::Unavailable(_)), "{refused:?}");
    for _ in 0..8 {
        assert_eq!(write().await.unwrap(), 0);
    }
}

/// The migrations that earlier versions must notice.
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
        // A migration that this version's newest allows.
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
