//! Databases that earlier versions wrote in normal operation. `real/README.md` describes the files.

use crate::killed::migrate_with_deaths;
use crate::landed::{manifest, schema};
use crate::rows::{assert_kept, digest, rows};
use gatehouse_store::testing::{
    TestDatabase, empty_postgres, empty_sqlite, migrate, number, run_sql,
};
use gatehouse_store::{Store, migration_versions};

/// The name of a database, its newest migration, and the statements that create it.
type Real = (&'static str, i64, &'static str);

const SQLITE: [Real; 2] = [
    ("80-sqlite", 80, include_str!("real/80-sqlite.sql")),
    ("86-sqlite", 86, include_str!("real/86-sqlite.sql")),
];
const POSTGRES: [Real; 2] = [
    ("80-postgres", 80, include_str!("real/80-postgres.sql")),
    ("86-postgres", 86, include_str!("real/86-postgres.sql")),
];

async fn upgrade((name, version, script): Real, database: &TestDatabase, empty: &TestDatabase) {
    run_sql(&database.location, script).await;
    let newest = "SELECT MAX(version) FROM _sqlx_migrations";
    assert_eq!(number(&database.location, newest).await, version);
    let before = rows(database).await;
    let missing = migration_versions().into_iter().filter(|it| *it > version);
    for step in missing {
        let before = rows(database).await;
        migrate_with_deaths(database, step, async |death| {
            assert_eq!(rows(database).await, before, "{name}, {step}, {death}");
        })
        .await;
    }
    let store = Store::open(&database.location).await.unwrap();
    assert_eq!(store.check_integrity().await.unwrap(), [""; 0]);
    store.close().await;
    let after = rows(database).await;
    assert_kept(&before, &after, name);
    assert_eq!(schema(database).await, schema(empty).await, "{name}");
    let contents = digest(&before, &after);
    assert_eq!(Some(&contents), manifest("real").get(name), "{name}");
}

#[tokio::test]
async fn databases_that_earlier_versions_wrote_are_upgraded_by_processes_that_are_killed() {
    let empty = empty_sqlite();
    migrate(&empty.location, None).await;
    for real in SQLITE {
        upgrade(real, &empty_sqlite(), &empty).await;
    }
}

#[tokio::test]
async fn postgresql_databases_that_earlier_versions_wrote_are_upgraded_by_killed_processes() {
    let Some(empty) = empty_postgres().await else {
        return;
    };
    migrate(&empty.location, None).await;
    for real in POSTGRES {
        upgrade(real, &empty_postgres().await.unwrap(), &empty).await;
    }
}
