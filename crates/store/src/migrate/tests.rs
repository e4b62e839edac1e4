//! Tests of the parent module.

use super::*;
use crate::compatibility::{FIRST_STATED, Writers};
use crate::testing::{empty_postgres, run_sql};

#[tokio::test]
async fn a_migration_waits_long_enough_for_the_server_to_end_an_autovacuum() {
    let Some(database) = empty_postgres().await else {
        return;
    };
    let limit =
        |name: &str| format!("(SELECT setting::bigint FROM pg_settings WHERE name = '{name}')");
    let sql = format!(
        "{}; SELECT 1 / (CASE WHEN {} > {} THEN 1 ELSE 0 END); ROLLBACK",
        Engine::Postgres.begin_migration(),
        limit("lock_timeout"),
        limit("deadlock_timeout"),
    );
    run_sql(&database.location, &sql).await;
}

#[test]
fn each_migration_states_which_versions_may_write_afterwards() {
    let known = |wanted: i64| MIGRATIONS.iter().any(|(version, ..)| *version == wanted);
    for (version, name, sql) in MIGRATIONS {
        let is_stated = version >= FIRST_STATED;
        match Writers::of(sql) {
            Writers::Unstated => assert!(
                !is_stated,
                "the first line of {version:04}_{name}.sql is neither `-- expand` nor `-- contract N`"
            ),
            Writers::Any => assert!(is_stated, "{name}"),
            Writers::With(oldest) => assert!(is_stated && known(oldest), "{name}"),
        }
    }
}
