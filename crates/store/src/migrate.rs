//! Applies migrations. The table of applied migrations has the columns that sqlx used, because databases of earlier
//! versions contain this table and those versions must be able to read it.
//!
//! The first line of a migration file states which versions may write to the database afterward. Nodes of different
//! versions use the same database, because they are upgraded one by one:
//!
//! - `-- expand`: the previous version may write. It need not read or write the additions of the migration.
//! - `-- contract N`: versions that contain migration N may write. Nodes of earlier versions stop writing.

mod apply;

use crate::compatibility::Unknown;
use crate::dialect::Engine;
use crate::migrate_progress::Progress;
use crate::migrations::MIGRATIONS;
use crate::sql::{columns, query};
use crate::{Conn, OpenError, Store, StoreError};
pub(crate) use apply::apply;
use apply::{apply_within, find, transact};
use sha2::{Digest, Sha384};
use std::time::Duration;

/// Records a migration. Parameters: version, name, checksum.
const NOTE: &str =
    "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
     VALUES ($1, $2, TRUE, $3, 0)";

/// Records which versions may write after a migration. Parameters: version of the migration, version of the oldest
/// migration that a writer must contain.
const NOTE_WRITERS: &str = "UPDATE _sqlx_migrations SET oldest_writer = $2 WHERE version = $1";

/// The version that is stored while [`crate::move_rows`] copies rows into a database. Every version of Gatehouse
/// then refuses to open the database.
const UNFINISHED_MOVE: i64 = i64::MAX;

/// Pause before a retry of a migration that could not lock its tables. Statements of other nodes run during the
/// pause.
const LOCK_PAUSE: Duration = Duration::from_secs(5);

/// Returns the versions of all migrations, oldest first.
pub fn migration_versions() -> Vec<i64> {
    MIGRATIONS.iter().map(|(version, ..)| *version).collect()
}

/// The checksum of an applied migration.
struct Applied {
    version: i64,
    checksum: Vec<u8>,
}

columns! { Applied: version, checksum }

fn checksum(sql: &str) -> Vec<u8> {
    Sha384::digest(sql.as_bytes()).to_vec()
}

/// Returns a name for the schema of this version.
#[cfg(feature = "testing")]
pub(crate) fn schema_name() -> String {
    let mut all = Sha384::new();
    for (_, _, sql) in MIGRATIONS {
        all.update(sql.as_bytes());
    }
    let digest = data_encoding::HEXLOWER.encode(&all.finalize());
    format!("gh_schema_{}", digest.get(..16).unwrap_or_default())
}

/// Applies the missing migrations up to `target`, or all of them. Each migration is a transaction, except in a new
/// database.
pub(crate) async fn run(
    conn: &mut Conn,
    engine: Engine,
    target: Option<i64>,
) -> Result<(), OpenError> {
    transact(conn, engine, async |conn| {
        conn.plain(engine.migrations_table()).await?;
        if let Some(table) = engine.server_run_table() {
            conn.plain(table).await?;
        }
        Ok(())
    })
    .await
    .map_err(OpenError::Migrate)?;
    if is_unfinished_move(conn).await.map_err(OpenError::Migrate)? {
        return Err(OpenError::UnfinishedMove);
    }
    // Checked before the first migration, because a version that may not write may not migrate either.
    check_writable(conn).await?;
    let applied = conn.list::<Applied>(query("SELECT version, checksum FROM _sqlx_migrations"));
    let applied = applied.await.map_err(OpenError::Migrate)?;
    let is_applied = |version, sql| {
        let checksum = checksum(sql);
        let mut applied = applied.iter();
        applied.any(|one| one.version == version && one.checksum == checksum)
    };
    let missing = MIGRATIONS.into_iter().filter(|(version, _, sql)| {
        target.is_none_or(|target| *version <= target) && !is_applied(*version, sql)
    });
    if applied.is_empty() {
        // Applies all migrations to a new database in one transaction, because each commit waits for the disk.
        let all = async |conn: &mut Conn| {
            for migration in missing {
                apply_within(conn, migration).await?;
            }
            Ok(())
        };
        transact(conn, engine, all)
            .await
            .map_err(OpenError::Migrate)?;
    } else {
        let missing: Vec<_> = missing.collect();
        for (done, migration) in missing.iter().enumerate() {
            let (version, name, _) = migration;
            let left = missing.len() - done;
            tracing::info!(version, name, left, "migrating the database");
            let _progress = Progress::of(*version, name);
            apply(conn, engine, *migration).await?;
        }
    }
    // Another node may have migrated the database in the meantime.
    if let Some(migration) = check_writable(conn).await?.newest {
        tracing::warn!(
            migration,
            "a newer version of Gatehouse has migrated the database; this version may still use it"
        );
    }
    Ok(())
}

/// Fails if a newer version has migrated the database to a schema that this version must not write to.
async fn check_writable(conn: &mut Conn) -> Result<Unknown, OpenError> {
    let unknown = find_unknown(conn).await.map_err(OpenError::Migrate)?;
    match unknown.refusing {
        Some(version) => Err(OpenError::NewerVersion { version }),
        None => Ok(unknown),
    }
}

/// Returns the applied migrations that this version does not contain.
pub(crate) async fn find_unknown(conn: &mut Conn) -> Result<Unknown, StoreError> {
    let is_known = |wanted| MIGRATIONS.iter().any(|(version, ..)| *version == wanted);
    conn.find_unknown_migrations(UNFINISHED_MOVE, is_known)
        .await
}

impl Store {
    /// Checks whether this version may still write. Call it after a change of
    /// [`SCHEMA_CHANGED`](crate::SCHEMA_CHANGED).
    pub async fn check_schema(&self) -> Result<(), StoreError> {
        let unknown = self.read(|conn| Box::pin(find_unknown(conn)));
        let unknown: Unknown = unknown.await?;
        if let Some(migration) = unknown.refusing
            && !self.outdated.set()
        {
            tracing::error!(
                migration,
                "a newer version of Gatehouse has migrated the database; this node no longer \
                 writes to it: restart it with that version"
            );
        }
        Ok(())
    }
}

/// Returns the newest applied migration; 0 if there is none.
pub(crate) async fn version(conn: &mut Conn) -> Result<i64, StoreError> {
    let newest = query("SELECT COALESCE(MAX(version), 0) FROM _sqlx_migrations WHERE version < $1");
    conn.number(newest.bind(UNFINISHED_MOVE)).await
}

/// Returns whether a move into this database was started and has not finished.
pub(crate) async fn is_unfinished_move(conn: &mut Conn) -> Result<bool, StoreError> {
    Ok(find(conn, UNFINISHED_MOVE).await?.is_some())
}

/// Makes servers refuse to open the database until [`end_move`].
pub(crate) async fn begin_move(conn: &mut Conn) -> Result<(), StoreError> {
    let insert = query(NOTE).bind(UNFINISHED_MOVE).bind("unfinished move");
    conn.run(insert.bind(Vec::<u8>::new())).await.map(drop)
}

pub(crate) async fn end_move(conn: &mut Conn) -> Result<(), StoreError> {
    let delete = query("DELETE FROM _sqlx_migrations WHERE version = $1");
    conn.run(delete.bind(UNFINISHED_MOVE)).await.map(drop)
}

#[cfg(test)]
mod tests;
