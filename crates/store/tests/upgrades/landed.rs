//! Databases of each schema that was merged to the main branch. `landed/README.md` describes the files.

use crate::killed::migrate_with_deaths;
use crate::rows::{Rows, assert_kept, digest, rows};
use gatehouse_store::testing::{
    TestDatabase, empty_postgres, empty_sqlite, migrate, number, run_sql,
};
use gatehouse_store::{Engine, Snapshot, Store, migration_versions};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

/// The files by their number. The files of earlier texts of a migration have the name `<number>-superseded`.
struct Files(BTreeMap<String, String>);

/// Returns the lines of a manifest: the name of a database, and the result of [`digest`] after its upgrade. The
/// name consists of the number of the last file and the numbers of the files whose earlier text is used, separated
/// by `+`.
#[expect(clippy::disallowed_methods, reason = "blocks no other task")]
pub(crate) fn manifest(folder: &str) -> BTreeMap<String, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/upgrades");
    let text = std::fs::read_to_string(path.join(folder).join("manifest.txt")).unwrap();
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    lines
        .map(|(name, contents)| (name.to_owned(), contents.to_owned()))
        .collect()
}

impl Files {
    #[expect(clippy::disallowed_methods, reason = "blocks no other task")]
    fn read() -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/upgrades/landed");
        let mut files = BTreeMap::new();
        for entry in folder.read_dir().unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            let Some((number, commit)) = name.split_once('-') else {
                continue;
            };
            let is_earlier = commit.ends_with("-superseded");
            let key = format!("{number}{}", if is_earlier { "-superseded" } else { "" });
            files.insert(key, std::fs::read_to_string(&path).unwrap());
        }
        Self(files)
    }

    /// Returns the statements that create the database of this name.
    fn script(&self, engine: Engine, name: &str) -> String {
        let mut parts = name.split('+');
        let last = parts.next().unwrap();
        let earlier: Vec<&str> = parts.collect();
        let mut script = String::from("BEGIN;\n");
        let (bytes, time) = match engine {
            Engine::Sqlite => ("BLOB", "TIMESTAMP"),
            Engine::Postgres => ("BYTEA", "TIMESTAMPTZ"),
        };
        write!(
            script,
            "CREATE TABLE _sqlx_migrations (version BIGINT PRIMARY KEY, description TEXT NOT NULL,
                 installed_on {time} NOT NULL DEFAULT CURRENT_TIMESTAMP, success BOOLEAN NOT NULL,
                 checksum {bytes} NOT NULL, execution_time BIGINT NOT NULL);\n"
        )
        .unwrap();
        for (number, text) in &self.0 {
            let is_used = match number.strip_suffix("-superseded") {
                Some(number) => earlier.contains(&number),
                None => number.as_str() <= last && !earlier.contains(&number.as_str()),
            };
            if is_used {
                script.push_str(&with_bytes(engine, text));
            }
        }
        script.push_str("COMMIT;");
        script
    }
}

/// Replaces `BYTES(hex)` with the engine's literal.
fn with_bytes(engine: Engine, text: &str) -> String {
    let mut parts = text.split("BYTES(");
    let mut all = parts.next().unwrap().to_owned();
    for part in parts {
        let (digits, rest) = part.split_once(')').unwrap();
        match engine {
            Engine::Sqlite => write!(all, "X'{digits}'{rest}").unwrap(),
            Engine::Postgres => write!(all, "'\\x{digits}'{rest}").unwrap(),
        }
    }
    all
}

/// Returns the versions of the migrations that the statements record.
fn applied(script: &str) -> BTreeSet<i64> {
    let records = script.split("INSERT INTO _sqlx_migrations").skip(1);
    let version = |record: &str| {
        let (_, values) = record.split_once("VALUES (")?;
        values.split_once(',')?.0.parse().ok()
    };
    records.map(|record| version(record).unwrap()).collect()
}

/// On PostgreSQL, processes are killed only in every n-th database. Killing them in all databases takes minutes.
const KILLED_ON_POSTGRES: usize = 6;

/// A migration, and whether it was applied with an earlier text.
type Step = (i64, bool);

/// Returns the steps of an upgrade: the missing migrations, and the migrations that were applied with an earlier
/// text.
fn pending(script: &str, name: &str) -> Vec<Step> {
    let superseded = name.split('+').skip(1).map(|file| match file {
        "02" => 6,
        "13" => 18,
        "23" => 50,
        "28" => 62,
        "38" => 76,
        _ => 77,
    });
    let superseded: BTreeSet<i64> = superseded.collect();
    let applied = applied(script);
    let versions = migration_versions().into_iter();
    versions
        .map(|version| (version, superseded.contains(&version)))
        .filter(|(version, is_superseded)| *is_superseded || !applied.contains(version))
        .collect()
}

#[test]
fn every_migration_has_a_file() {
    let (last, _) = manifest("landed").pop_last().unwrap();
    let script = Files::read().script(Engine::Sqlite, &last);
    assert_eq!(pending(&script, &last), [], "landed/README.md describes it");
}

/// Upgrades the database. For the first step, and for each step that is not in `killed`, processes are killed at
/// each write.
async fn upgrade(
    database: &TestDatabase,
    (name, pending): (&str, &[Step]),
    killed: &mut BTreeSet<Step>,
) {
    for (place, step) in pending.iter().enumerate() {
        if killed.insert(*step) || place == 0 {
            migrate(&database.location, Some(step.0 - 1)).await;
            let before = rows(database).await;
            migrate_with_deaths(database, step.0, async |death| {
                assert_eq!(rows(database).await, before, "{name}, {step:?}, {death}");
            })
            .await;
        }
    }
}

/// Returns the tables with their columns, and the number of indexes.
pub(crate) async fn schema(database: &TestDatabase) -> (BTreeMap<String, BTreeSet<String>>, i64) {
    let snapshot = Snapshot::open(&database.location).await.unwrap();
    let mut tables = BTreeMap::new();
    for table in snapshot.tables() {
        let columns = table.columns.iter();
        let columns = columns.map(|it| format!("{} {:?}", it.name, it.kind));
        tables.insert(table.name.clone(), columns.collect());
    }
    let indexes = match database.engine() {
        Engine::Sqlite => "SELECT COUNT(*) FROM sqlite_schema WHERE type = 'index'",
        Engine::Postgres => "SELECT COUNT(*) FROM pg_indexes WHERE schemaname = 'public'",
    };
    (tables, number(&database.location, indexes).await)
}

/// Omits values that migrations change on purpose.
fn without_changed_values(name: &str, before: &Rows) -> Rows {
    let mut kept = before.clone();
    // Migration 21 changes the meaning of the column.
    if let Some(sessions) = kept.get_mut("chat_sessions") {
        for session in sessions {
            if !session.contains_key("summary_origin") {
                session.remove("tainted");
            }
        }
    }
    // The earlier text of migration 18 created the table of migration 19, whose rows are turns that have ended.
    if name == "13+13" {
        kept.remove("chat_turns");
    }
    kept
}

/// The way in which an upgrade runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// By one process.
    One,
    /// By several processes that are killed at each step.
    Killed,
}

/// Returns the names in the manifest, newest first: a migration is interrupted in the database with the most rows.
fn newest_first() -> impl Iterator<Item = String> {
    manifest("landed").into_keys().rev()
}

/// Upgrades these databases of the manifest. Returns the expected lines of the manifest.
async fn upgrade_all(
    names: impl Iterator<Item = String>,
    by: By,
    fresh: impl AsyncFn() -> TestDatabase,
) -> BTreeMap<String, String> {
    let files = Files::read();
    let empty = fresh().await;
    migrate(&empty.location, None).await;
    let wanted = schema(&empty).await;
    let mut killed = BTreeSet::new();
    let mut contents = BTreeMap::new();
    for name in names {
        let name = name.as_str();
        let database = fresh().await;
        let script = files.script(database.engine(), name);
        run_sql(&database.location, &script).await;
        let before = rows(&database).await;
        if by == By::Killed {
            let pending = pending(&script, name);
            upgrade(&database, (name, &pending), &mut killed).await;
        }
        let store = Store::open(&database.location).await.unwrap();
        assert_eq!(store.check_integrity().await.unwrap(), [""; 0], "{name}");
        store.close().await;
        let after = rows(&database).await;
        assert_kept(&without_changed_values(name, &before), &after, name);
        assert_eq!(schema(&database).await, wanted, "{name}");
        contents.insert(name.to_owned(), digest(&before, &after));
    }
    contents
}

fn assert_manifest(contents: &BTreeMap<String, String>) {
    let lines = contents
        .iter()
        .map(|(name, contents)| format!("{name} {contents}\n"));
    let text: String = lines.collect();
    let manifest = manifest("landed");
    let mut contents = contents.iter();
    assert!(
        contents.all(|(name, contents)| manifest.get(name) == Some(contents)),
        "these lines of the manifest should be:\n{text}"
    );
}

#[tokio::test]
async fn every_schema_that_landed_is_upgraded_by_processes_that_are_killed_at_each_step() {
    let upgraded = upgrade_all(newest_first(), By::Killed, async || empty_sqlite()).await;
    assert_manifest(&upgraded);
}

#[tokio::test]
async fn postgresql_upgrades_schemas_that_landed_by_processes_that_are_killed_at_each_step() {
    if empty_postgres().await.is_some() {
        let names = newest_first().step_by(KILLED_ON_POSTGRES);
        let fresh = async || empty_postgres().await.unwrap();
        assert_manifest(&upgrade_all(names, By::Killed, fresh).await);
    }
}

#[tokio::test]
async fn postgresql_upgrades_all_other_schemas_that_landed() {
    if empty_postgres().await.is_some() {
        let names = newest_first().enumerate();
        let names = names.filter(|(place, _)| !place.is_multiple_of(KILLED_ON_POSTGRES));
        let fresh = async || empty_postgres().await.unwrap();
        assert_manifest(&upgrade_all(names.map(|(_, name)| name), By::One, fresh).await);
    }
}

/// Queries, each with the name of a database and the expected result after its upgrade.
const VALUES: [(&str, &str, i64); 14] = [
    // 16: the size is in characters, not in bytes.
    ("02", "SELECT bytes FROM inbox_messages WHERE seq = 2", 267),
    (
        "02",
        "SELECT start_bytes FROM inbox_messages WHERE seq = 2",
        268,
    ),
    // 21: the author of a message, and the resulting state of its session.
    (
        "02",
        "SELECT COUNT(*) FROM chat_messages WHERE origin = 'owner'",
        1,
    ),
    (
        "02",
        "SELECT COUNT(*) FROM chat_messages WHERE origin = 'model'",
        2,
    ),
    (
        "02",
        "SELECT COUNT(*) FROM chat_messages WHERE origin = 'configured'",
        1,
    ),
    (
        "02",
        "SELECT COUNT(*) FROM chat_messages WHERE origin = 'stranger'",
        3,
    ),
    (
        "02",
        "SELECT COUNT(*) FROM chat_messages WHERE private = 1 AND id = 'cm_6'",
        1,
    ),
    (
        "02",
        "SELECT COUNT(*) FROM chat_sessions WHERE tainted = 1 AND summary_origin = 'stranger'",
        2,
    ),
    // 25 and 53: deliveries by hour and status, and their durations.
    (
        "02",
        "SELECT CAST(SUM(count) AS BIGINT) FROM delivery_counts",
        4,
    ),
    (
        "02",
        "SELECT took_ms FROM delivery_counts WHERE took_09 = 1 AND status = 'completed'",
        1500,
    ),
    (
        "02",
        "SELECT took_ms FROM delivery_counts WHERE took_00 = 1 AND status = 'failed'",
        3,
    ),
    // 68: messages move to another table, and receiving continues at the same position.
    (
        "27",
        "SELECT COUNT(*) FROM received_messages WHERE message_id IN ('5000', '5001') AND answer IS NULL",
        1,
    ),
    ("27", "SELECT COUNT(*) FROM inbound_messages", 0),
    (
        "27",
        "SELECT COUNT(*) FROM channel_polls WHERE position = '5002'",
        1,
    ),
];

#[tokio::test]
async fn values_after_migrations_that_change_rows_are_those_of_the_version_that_follows() {
    let files = Files::read();
    for fresh in [Some(empty_sqlite()), empty_postgres().await]
        .into_iter()
        .flatten()
    {
        let other = if fresh.engine() == Engine::Sqlite {
            empty_sqlite()
        } else {
            empty_postgres().await.unwrap()
        };
        for (name, database) in [("02", fresh), ("27", other)] {
            run_sql(&database.location, &files.script(database.engine(), name)).await;
            migrate(&database.location, None).await;
            for (of, query, wanted) in VALUES {
                if of == name {
                    let value = number(&database.location, query).await;
                    assert_eq!(value, wanted, "{:?}: {query}", database.engine());
                }
            }
        }
    }
}

/// A migration with an unknown file is refused, and the database is not changed.
#[tokio::test]
async fn a_database_with_an_unknown_text_of_a_migration_is_refused_unchanged() {
    use gatehouse_store::OpenError;
    for database in gatehouse_store::testing::empty_databases().await {
        let script = Files::read().script(database.engine(), "23+23");
        let script = script.replace("9f53ad70e35b9745", "9f53ad70e35b9746");
        run_sql(&database.location, &script).await;
        let before = rows(&database).await;
        let refused = Store::open(&database.location).await.unwrap_err();
        assert!(
            matches!(refused, OpenError::ChangedMigration { version: 50 }),
            "{refused:?}"
        );
        assert_eq!(rows(&database).await, before);
    }
}
