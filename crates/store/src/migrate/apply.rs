//! Application of migrations, each in its own transaction.

use super::{Applied, LOCK_PAUSE, NOTE, NOTE_WRITERS, checksum};
use crate::compatibility::Writers;
use crate::dialect::Engine;
use crate::migrations::Migration;
use crate::sql::query;
use crate::superseded::find_repair;
use crate::{Conn, OpenError, StoreError};

/// Applies a migration that is missing.
pub(crate) async fn apply(
    conn: &mut Conn,
    engine: Engine,
    migration: Migration,
) -> Result<(), OpenError> {
    let (version, _, sql) = migration;
    let known = find(conn, version).await.map_err(OpenError::Migrate)?;
    if let Some(known) = known {
        let checksum = checksum(sql);
        if known.checksum == checksum {
            return Ok(());
        }
        let repair = find_repair(version, &known.checksum);
        let repair = repair.ok_or(OpenError::ChangedMigration { version })?;
        return replace(conn, engine, (version, &checksum, repair)).await;
    }
    loop {
        let applied = transact(conn, engine, async |conn| {
            apply_within(conn, migration).await
        });
        let applied = applied.await;
        if let Some(ended) = unless_locked(applied, conn.is_intact()).await {
            return ended.map_err(OpenError::Migrate);
        }
    }
}

/// Returns the outcome of a migration. If another transaction, such as that of a backup, has locked one of its
/// tables, pauses and returns `None`. The caller must then repeat the migration.
async fn unless_locked(
    outcome: Result<(), StoreError>,
    is_intact: bool,
) -> Option<Result<(), StoreError>> {
    match outcome {
        Err(error) if is_intact && error.is_lock_conflict() => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "a migration waits for another transaction, such as that of a backup; it is repeated"
            );
            tokio::time::sleep(LOCK_PAUSE).await;
            None
        }
        ended => Some(ended),
    }
}

/// Applies a migration in the transaction of the caller, unless another node has applied it before the transaction
/// began.
pub(super) async fn apply_within(
    conn: &mut Conn,
    (version, name, sql): Migration,
) -> Result<(), StoreError> {
    if find(conn, version).await?.is_some() {
        return Ok(());
    }
    conn.script(sql).await?;
    let insert = query(NOTE).bind(version).bind(name);
    conn.run(insert.bind(checksum(sql))).await?;
    let writers = Writers::of(sql);
    if let Some(oldest) = writers.stored() {
        conn.run(query(NOTE_WRITERS).bind(version).bind(oldest))
            .await?;
    }
    if matches!(writers, Writers::With(_)) {
        conn.insert_schema_change().await?;
    }
    Ok(())
}

/// Repairs the schema that an earlier file of an applied migration created.
async fn replace(
    conn: &mut Conn,
    engine: Engine,
    (version, checksum, repair): (i64, &[u8], &'static str),
) -> Result<(), OpenError> {
    loop {
        let replaced = transact(conn, engine, async |conn| {
            // Another node may have repaired the schema after the check.
            let known = find(conn, version).await?;
            if known.is_some_and(|known| known.checksum == checksum) {
                return Ok(());
            }
            conn.script(repair).await?;
            let update = query("UPDATE _sqlx_migrations SET checksum = $2 WHERE version = $1");
            conn.run(update.bind(version).bind(checksum.to_vec()))
                .await
                .map(drop)
        });
        let replaced = replaced.await;
        if let Some(ended) = unless_locked(replaced, conn.is_intact()).await {
            return ended.map_err(OpenError::Migrate);
        }
    }
}

pub(super) async fn find(conn: &mut Conn, version: i64) -> Result<Option<Applied>, StoreError> {
    let applied = query("SELECT version, checksum FROM _sqlx_migrations WHERE version = $1");
    conn.find(applied.bind(version)).await
}

/// Runs `work` in a transaction. One migration runs at a time in the whole database.
pub(super) async fn transact(
    conn: &mut Conn,
    engine: Engine,
    work: impl AsyncFnOnce(&mut Conn) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let outcome = match conn.script(engine.begin_migration()).await {
        Ok(()) => work(conn).await,
        Err(error) => Err(error),
    };
    let outcome = match outcome {
        Ok(()) => conn.plain("COMMIT").await,
        Err(error) => Err(error),
    };
    if outcome.is_err() {
        // If the rollback fails, the caller drops the connection, or its next transaction fails.
        drop(conn.plain("ROLLBACK").await);
    }
    outcome
}
