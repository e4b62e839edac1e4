//! Statements that tests run directly on the database.

use crate::conn::{Conn, Raw};
use crate::dialect::Role;
use crate::sql::query;
use crate::{Location, StoreError};

pub(super) async fn connect(location: &Location) -> Conn {
    let connect = async {
        let source = location
            .source(Role::Migrator, 1)
            .map_err(StoreError::unavailable)?;
        source.connect().await
    };
    match connect.await {
        Ok(conn) => conn,
        Err(error) => panic!("cannot open the database: {error:?}"),
    }
}

pub(super) async fn script(conn: &Conn, sql: &str) -> Result<(), StoreError> {
    match &conn.raw {
        Raw::Sqlite(db) => Ok(db.execute_batch(sql)?),
        Raw::Postgres(client) => Ok(client.batch_execute(sql).await?),
    }
}

/// Migrates the database up to `version`, or completely, and closes the connection.
pub async fn migrate(location: &Location, version: Option<i64>) {
    let mut conn = connect(location).await;
    if let Err(error) = crate::migrate::run(&mut conn, location.engine(), version).await {
        panic!("cannot migrate the database to {version:?}: {error:?}");
    }
}

/// Applies a migration that this version does not contain, as a newer version does.
pub async fn migrate_as_newer(location: &Location, version: i64, sql: &'static str) {
    let mut conn = connect(location).await;
    let migration = (version, "newer", sql);
    if let Err(error) = crate::migrate::apply(&mut conn, location.engine(), migration).await {
        panic!("cannot apply migration {version}: {error:?}");
    }
}

/// Runs statements directly on the database, bypassing the store.
pub async fn run_sql(location: &Location, sql: &str) {
    let conn = connect(location).await;
    if let Err(error) = script(&conn, sql).await {
        panic!("cannot run the statement: {error:?}");
    }
}

/// Reads a number directly from the database.
pub async fn number(location: &Location, sql: &str) -> i64 {
    match connect(location).await.number(query(sql)).await {
        Ok(number) => number,
        Err(error) => panic!("cannot read the number: {error:?}"),
    }
}

/// Waits until a connection to this PostgreSQL database waits for an event of `pg_stat_activity`, such as
/// `advisory` for the lock of a lane, or `PgSleep`.
pub async fn until_waits_for(location: &Location, event: &str) {
    let sql = format!(
        "SELECT COUNT(*) FROM pg_stat_activity
             WHERE datname = current_database() AND wait_event = '{event}'"
    );
    while number(location, &sql).await == 0 {
        tokio::task::yield_now().await;
    }
}

/// Holds the lock for migrations, like a process that hangs, until the returned value is dropped. On SQLite, holds
/// the lock for writes.
pub async fn hold_write_lock(location: &Location) -> impl Sized + use<> {
    let conn = connect(location).await;
    if let Err(error) = script(&conn, location.engine().begin_migration()).await {
        panic!("cannot take the lock: {error:?}");
    }
    conn
}

/// Detects commits to a SQLite database by any connection.
#[derive(Debug)]
pub struct CommitWatch(Conn);

impl CommitWatch {
    /// Watches this database.
    pub async fn on(location: &Location) -> Self {
        Self(connect(location).await)
    }

    /// Returns a number that changes with each commit of another connection that modified a page.
    pub async fn version(&mut self) -> i64 {
        match self.0.number(query("PRAGMA data_version")).await {
            Ok(version) => version,
            Err(error) => panic!("cannot read the version: {error:?}"),
        }
    }
}
