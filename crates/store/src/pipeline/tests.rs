//! Tests of the exchange with a server.

use crate::Location;
use crate::dialect::{Engine, Lane, Role};
use crate::postgres::TransactionStatus;
use crate::sql::{Value, query};
use crate::testing::{postgres, run_sql};

#[tokio::test]
async fn a_writer_refuses_what_the_server_would_run_outside_of_a_transaction() {
    let Some(database) = postgres().await else {
        return;
    };
    database.open().await.close().await;
    let source = database.location.source(Role::Writer, 1).unwrap();
    let mut conn = source.connect().await.unwrap();
    let insert = "INSERT INTO settings (key, value, updated_at) VALUES ('a', '1', 1)";
    let refused = conn.run(query(insert)).await.unwrap_err();
    assert!(refused.is_unavailable(), "{refused:?}");
    conn.begin(Engine::Postgres.begin(Lane::Arrivals)).unwrap();
    conn.run(query(insert)).await.unwrap();
    conn.roll_back().await.unwrap();
}

#[tokio::test]
async fn read_only_is_no_state_of_a_session_that_a_pooler_passes_on() {
    let Some(database) = postgres().await else {
        return;
    };
    database.open().await.close().await;
    let insert = "INSERT INTO settings (key, value, updated_at) VALUES ('a', '1', 1)";
    for role in [Role::Writer, Role::Reader] {
        let source = database.location.source(role, 1).unwrap();
        let mut conn = source.connect().await.unwrap();
        // A connection pooler resets the settings in this way between two clients.
        conn.plain("RESET ALL").await.unwrap();
        let refused = conn.run(query(insert)).await.unwrap_err();
        assert!(refused.is_unavailable(), "{role:?} {refused:?}");
        let sql = "SELECT COUNT(*) FROM pg_settings
             WHERE name = 'default_transaction_read_only' AND source = 'client'";
        assert_eq!(conn.number(query(sql)).await.unwrap(), 1, "{role:?}");
    }
}

#[tokio::test]
async fn the_options_of_the_url_are_kept() {
    let Some(database) = postgres().await else {
        return;
    };
    database.open().await.close().await;
    let with = |options: &str| {
        let url = database.location.url();
        let mark = if url.contains('?') { '&' } else { '?' };
        Location::from_url(&format!("{url}{mark}options={options}")).unwrap()
    };
    let source = with("-c%20work_mem%3D5MB").source(Role::Writer, 1).unwrap();
    let mut conn = source.connect().await.unwrap();
    let sql = "SELECT COUNT(*) FROM pg_settings
         WHERE (name, setting) IN (('work_mem', '5120'), ('default_transaction_read_only', 'on'))";
    assert_eq!(conn.number(query(sql)).await.unwrap(), 2);
    // The database can be read-only through the options of the URL or through its own defaults.
    let read_only = with("-c%20default_transaction_read_only%3Don");
    let source = read_only.source(Role::Writer, 1).unwrap();
    let refused = source.connect().await.unwrap_err();
    assert!(refused.is_unavailable(), "{refused:?}");
}

#[tokio::test]
async fn transactions_are_read_committed_whatever_the_default_of_the_database_is() {
    let Some(database) = postgres().await else {
        return;
    };
    database.open().await.close().await;
    for level in ["serializable", "repeatable read", "read committed"] {
        let sql = format!(
            "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = %L',
                 current_database(), '{level}'); END $$"
        );
        run_sql(&database.location, &sql).await;
        let is_read_committed = "SELECT COUNT(*) FROM pg_settings
             WHERE name = 'transaction_isolation' AND setting = 'read committed'";
        for lane in [Lane::Rules, Lane::Queue, Lane::Arrivals, Lane::Limits] {
            let source = database.location.source(Role::Writer, 1).unwrap();
            let mut conn = source.connect().await.unwrap();
            conn.begin(Engine::Postgres.begin(lane)).unwrap();
            let found = conn.number(query(is_read_committed)).await.unwrap();
            assert_eq!(found, 1, "{lane:?} {level}");
            conn.roll_back().await.unwrap();
        }
        for role in [Role::Migrator, Role::Reader] {
            let source = database.location.source(role, 1).unwrap();
            let mut conn = source.connect().await.unwrap();
            let found = conn.number(query(is_read_committed)).await.unwrap();
            assert_eq!(found, 1, "{role:?} {level}");
        }
    }
}

#[tokio::test]
async fn commits_wait_for_the_disk_and_statements_have_limits_whatever_the_defaults_are() {
    let Some(database) = postgres().await else {
        return;
    };
    database.open().await.close().await;
    for setting in [
        "synchronous_commit = off",
        "statement_timeout = 0",
        "lock_timeout = 0",
        "idle_in_transaction_session_timeout = 0",
    ] {
        let sql = format!(
            "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET {setting}', current_database()); END $$"
        );
        run_sql(&database.location, &sql).await;
    }
    // Values in milliseconds.
    let timeouts = "SELECT COUNT(*) FROM pg_settings WHERE (name, setting) IN
         (('statement_timeout', '11000'), ('lock_timeout', '10000'),
          ('idle_in_transaction_session_timeout', '3000'))";
    let waits = "SELECT COUNT(*) FROM pg_settings
         WHERE name = 'synchronous_commit' AND setting = 'on'";
    for lane in [Lane::Rules, Lane::Queue, Lane::Arrivals] {
        let source = database.location.source(Role::Writer, 1).unwrap();
        let mut conn = source.connect().await.unwrap();
        conn.begin(Engine::Postgres.begin(lane)).unwrap();
        assert_eq!(conn.number(query(waits)).await.unwrap(), 1, "{lane:?}");
        assert_eq!(conn.number(query(timeouts)).await.unwrap(), 3, "{lane:?}");
        conn.roll_back().await.unwrap();
    }
    let source = database.location.source(Role::Migrator, 1).unwrap();
    let mut conn = source.connect().await.unwrap();
    assert_eq!(conn.number(query(waits)).await.unwrap(), 1);
    let source = database.location.source(Role::Reader, 1).unwrap();
    let mut conn = source.connect().await.unwrap();
    assert_eq!(conn.number(query(timeouts)).await.unwrap(), 1);
}

#[tokio::test]
async fn a_begin_that_fails_is_an_error_of_the_database() {
    let Some(database) = postgres().await else {
        return;
    };
    database.open().await.close().await;
    let source = database.location.source(Role::Writer, 1).unwrap();
    let mut conn = source.connect().await.unwrap();
    conn.begin("BEGIN READ WRITE; SELECT 1 / 0; SELECT 'run', '1'")
        .unwrap();
    let refused = conn.run(query("DELETE FROM settings")).await.unwrap_err();
    assert!(refused.is_unavailable(), "{refused:?}");
    let refused = conn.transaction_id().await.unwrap_err();
    assert!(refused.is_unavailable(), "{refused:?}");
    conn.roll_back().await.unwrap();
}

/// After a crash, the server can reuse the number of a lost transaction for a transaction that commits.
#[tokio::test]
async fn the_status_of_a_transaction_is_unknown_after_a_crash() {
    let Some(database) = postgres().await else {
        return;
    };
    database.open().await.close().await;
    let source = database.location.source(Role::Writer, 3).unwrap();
    let mut conn = source.connect().await.unwrap();
    let mut ids = Vec::new();
    for lane in [Lane::Arrivals, Lane::Rules] {
        conn.begin(Engine::Postgres.begin(lane)).unwrap();
        conn.run(query("DELETE FROM settings")).await.unwrap();
        ids.push(conn.transaction_id().await.unwrap().unwrap());
        conn.commit().await.unwrap();
    }
    let mut other = source.connect().await.unwrap();
    for id in &ids {
        assert_eq!(
            other.find_status(id).await.unwrap(),
            TransactionStatus::Committed
        );
        let lost = id.before_a_crash();
        assert_eq!(
            other.find_status(&lost).await.unwrap(),
            TransactionStatus::Unknown
        );
    }
    conn.begin(Engine::Postgres.begin(Lane::Rules)).unwrap();
    conn.run(query("DELETE FROM settings")).await.unwrap();
    let begun = conn.transaction_id().await.unwrap().unwrap();
    assert_eq!(
        other.find_status(&begun).await.unwrap(),
        TransactionStatus::InProgress
    );
    conn.roll_back().await.unwrap();
    assert_eq!(
        other.find_status(&begun).await.unwrap(),
        TransactionStatus::RolledBack
    );

    // A crash leaves the table empty.
    run_sql(&database.location, "DELETE FROM _server_run").await;
    assert_eq!(
        other.find_status(&ids[0]).await.unwrap(),
        TransactionStatus::Unknown
    );
    // Simulates a connection that a pooler kept open during the crash.
    conn.begin(Engine::Postgres.begin(Lane::Rules)).unwrap();
    conn.run(query("DELETE FROM settings")).await.unwrap();
    let unidentified = conn.transaction_id().await.unwrap().unwrap();
    conn.commit().await.unwrap();
    assert_eq!(
        other.find_status(&unidentified).await.unwrap(),
        TransactionStatus::Unknown
    );
    // The first new connection identifies the new run of the server.
    let mut new = source.connect().await.unwrap();
    assert_eq!(
        new.find_status(&ids[0]).await.unwrap(),
        TransactionStatus::Unknown
    );
    assert_eq!(
        new.find_status(&unidentified).await.unwrap(),
        TransactionStatus::Unknown
    );
    new.begin(Engine::Postgres.begin(Lane::Rules)).unwrap();
    new.run(query("DELETE FROM settings")).await.unwrap();
    let identified = new.transaction_id().await.unwrap().unwrap();
    new.commit().await.unwrap();
    assert_eq!(
        other.find_status(&identified).await.unwrap(),
        TransactionStatus::Committed
    );
}

#[tokio::test]
async fn no_statement_waits_outside_of_a_transaction() {
    let Some(database) = postgres().await else {
        return;
    };
    let source = database.location.source(Role::Migrator, 1).unwrap();
    let mut conn = source.connect().await.unwrap();
    conn.plain_later("SELECT 1").unwrap_err();
    conn.run_later("SELECT 1", Vec::new()).unwrap_err();
}

#[tokio::test]
async fn a_writer_does_not_overrule_a_database_that_is_read_only() {
    let Some(database) = postgres().await else {
        return;
    };
    let sql = "DO $$ BEGIN EXECUTE format(
        'ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$";
    run_sql(&database.location, sql).await;
    let source = database.location.source(Role::Writer, 1).unwrap();
    let refused = source.connect().await.unwrap_err();
    assert!(refused.is_unavailable(), "{refused:?}");
    let reader = database.location.source(Role::Reader, 1).unwrap();
    reader.connect().await.unwrap().ping().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_error_of_several_statements_is_that_of_the_first_that_was_refused() {
    let Some(database) = postgres().await else {
        return;
    };
    database.open().await.close().await;
    let source = database.location.source(Role::Migrator, 1).unwrap();
    let mut conn = source.connect().await.unwrap();
    let echo = "SELECT $1 AS text";
    for round in 0..1000 {
        // PostgreSQL rejects NUL in text, and refuses later statements because the transaction has failed.
        let rows: Vec<Vec<Value<'_>>> = ["a", "\0", "b", "c", "d", "e"]
            .into_iter()
            .map(|text| vec![text.into()])
            .collect();
        conn.begin(Engine::Postgres.begin(Lane::Arrivals)).unwrap();
        let refused = match round % 4 {
            0 => conn.run_each(echo, &rows).await.map(drop),
            1 => conn.find_each::<String>(echo, &rows).await.map(drop),
            2 => {
                let both = conn.find_each_of_two::<String, String>((echo, &rows), (echo, &rows));
                both.await.map(drop)
            }
            _ => {
                let others = ["\0", "b", "c", "d"].map(|text| query(echo).bind(text));
                let first = query("SELECT 1::bigint");
                let lists = conn.lists::<i64, String>(&first, &others);
                lists.await.map(drop)
            }
        };
        let refused = format!("{:?}", refused.unwrap_err());
        assert!(refused.contains("22021"), "{round}: {refused}");
        conn.roll_back().await.unwrap();
    }
}
