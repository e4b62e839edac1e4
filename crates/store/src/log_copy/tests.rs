use super::*;
use crate::dialect::{Engine, Role};
use crate::testing::TestDatabase;
use std::path::{Path, PathBuf};

const SMALL: Bounds = Bounds {
    start: 20,
    limit: 60,
};
/// A page and its header in the log.
const FRAME: u64 = 4096 + 24;
/// Pages that a commit of a test adds at most.
const COMMIT: u64 = 12;

fn log_of(database: &Path) -> PathBuf {
    database.with_extension("db-wal")
}

fn length(file: &Path) -> u64 {
    std::fs::metadata(file).map_or(0, |found| found.len())
}

/// The longest log that [`SMALL`] allows.
fn longest() -> u64 {
    u64::try_from(SMALL.limit).unwrap().saturating_add(COMMIT) * FRAME
}

struct Fixture {
    _database: TestDatabase,
    path: PathBuf,
    file: SqliteFile,
    db: Connection,
}

fn fixture() -> Fixture {
    let database = crate::testing::sqlite();
    let path = database.directory().join("gatehouse.db");
    let file = SqliteFile::at(&path);
    let mut db = file
        .open(Engine::Sqlite.on_connect(Role::Writer))
        .unwrap();
    start_within(&mut db, &file, SMALL).unwrap();
    db.execute_batch("CREATE TABLE texts (text TEXT)").unwrap();
    Fixture {
        _database: database,
        path,
        file,
        db,
    }
}

/// Stores a text of two pages.
fn add(db: &Connection) {
    let text = "x".repeat(8192);
    db.execute("INSERT INTO texts (text) VALUES (?1)", [text])
        .unwrap();
}

fn count(db: &Connection) -> u32 {
    db.query_row("SELECT COUNT(*) FROM texts", (), |row| row.get(0))
        .unwrap()
}

#[test]
fn the_log_stays_within_its_bounds_and_is_gone_in_the_end() {
    let fixture = fixture();
    for _ in 0..1000 {
        add(&fixture.db);
        let length = length(&log_of(&fixture.path));
        assert!(length <= longest(), "{length}");
    }
    assert!(length(&fixture.path) > 1000 * 8192 / 2);
    assert_eq!(count(&fixture.db), 1000);
    drop(fixture.db);
    assert!(!log_of(&fixture.path).exists());
    assert_eq!(count(&fixture.file.open("").unwrap()), 1000);
}

#[test]
fn a_reader_keeps_the_log_and_after_it_the_log_begins_again() {
    let fixture = fixture();
    add(&fixture.db);
    let reader = fixture.file.open("BEGIN").unwrap();
    assert_eq!(count(&reader), 1);
    for _ in 0..100 {
        add(&fixture.db);
    }
    assert_eq!(count(&reader), 1);
    assert!(length(&log_of(&fixture.path)) > longest());
    drop(reader);
    // SQLite does not shorten the file of the log when it begins again.
    fixture
        .db
        .execute_batch("PRAGMA journal_size_limit = 0")
        .unwrap();
    for _ in 0..100 {
        add(&fixture.db);
    }
    let length = length(&log_of(&fixture.path));
    assert!(length <= longest(), "{length}");
    assert_eq!(count(&fixture.db), 201);
}

#[tokio::test]
async fn the_log_can_be_emptied_at_any_time() {
    let database = crate::testing::sqlite();
    let store = database.open().await;
    let file = database.directory().join("gatehouse.db");
    let text = "x".repeat(usize::try_from(BOUNDS.start).unwrap() * 4096);
    for _ in 0..3 {
        let text = text.clone();
        let write = store.write(move |conn| {
            Box::pin(async move {
                let query = crate::sql::query("INSERT INTO settings (key, value, updated_at) VALUES ($1, $2, 1)");
                conn.run(query.bind("a").bind(text)).await?;
                let query = crate::sql::query("DELETE FROM settings");
                conn.run(query).await.map(drop)
            })
        });
        write.await.unwrap();
        store.checkpoint().await.unwrap();
        assert_eq!(length(&log_of(&file)), 0);
    }
    store.close().await;
}
