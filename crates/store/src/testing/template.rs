//! Databases with the current schema, which tests copy. Migrating an empty database takes up to half a
//! second.

use super::statements::{connect, script};
use super::{PostgresServer, fresh_name, migrate, number};
use crate::Location;
use crate::migrate::schema_name;
use futures_util::FutureExt;
use std::path::PathBuf;
use std::time::Duration;

/// Maximum number of attempts to rename a new database while the connection that migrated it may still be open.
const ATTEMPTS: u32 = 250;
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(20);

/// Returns the path of the SQLite database. Processes that create it at the same time replace it with the same
/// content.
pub(super) fn sqlite() -> PathBuf {
    let path = std::env::temp_dir().join(format!("{}.db", schema_name()));
    if !path.exists() {
        let own = std::env::temp_dir().join(fresh_name());
        // On SQLite, no future of the store waits.
        if migrate(&Location::sqlite_file(&own), None)
            .now_or_never()
            .is_none()
        {
            panic!("the migration of a SQLite database waits");
        }
        if let Err(error) = std::fs::rename(&own, &path) {
            panic!("cannot rename the database with the current schema: {error}");
        }
    }
    path
}

/// Returns the name of the database on this server. A new database is renamed when it is complete and has no
/// connections, because PostgreSQL does not copy a database that is in use.
pub(super) async fn postgres(server: &PostgresServer) -> String {
    let (base, name) = (server.base(), schema_name());
    let find = format!("SELECT count(*) FROM pg_database WHERE datname = '{name}'");
    if number(&base, &find).await > 0 {
        return name;
    }
    let own = fresh_name();
    super::run_sql(&base, &format!("CREATE DATABASE {own}")).await;
    migrate(&server.location(&own), None).await;
    let rename = format!("ALTER DATABASE {own} RENAME TO {name}");
    for _ in 0..ATTEMPTS {
        let conn = connect(&base).await;
        // The script fails if another process has created the template in the meantime.
        if script(&conn, &rename).await.is_ok() || number(&base, &find).await > 0 {
            return name;
        }
        tokio::time::sleep(BETWEEN_ATTEMPTS).await;
    }
    panic!("cannot rename the database with the current schema");
}
