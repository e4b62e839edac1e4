//! Applies migrations. The table of applied migrations has the columns that sqlx used, because databases of
//! earlier versions of Gatehouse contain it and those versions must be able to read it.
//!
//! The first line of a migration's file states which versions may write to the database afterwards, because the nodes
//! of a database are upgraded one by one:
//!
//! - `-- expand`: the version before may. The migration adds what that version need not write or read.
//! - `-- contract N`: versions that contain migration N may. Nodes of earlier ones stop writing.

use crate::compatibility::{Unknown, Writers};
use crate::dialect::Engine;
use crate::sql::{FromRow, Row, query};
use crate::superseded::find_repair;
use crate::{Conn, OpenError, Store, StoreError};
use sha2::{Digest, Sha384};

/// Version, name and statements.
type Migration = (i64, &'static str, &'static str);

/// The migrations, one file each. Never change a released migration; add another one.
const MIGRATIONS: [Migration; 55] = [
    (
        1,
        "settings",
        include_str!("../migrations/0001_settings.sql"),
    ),
    (2, "auth", include_str!("../migrations/0002_auth.sql")),
    (3, "vault", include_str!("../migrations/0003_vault.sql")),
    (
        4,
        "channels",
        include_str!("../migrations/0004_channels.sql"),
    ),
    (5, "agents", include_str!("../migrations/0005_agents.sql")),
    (
        6,
        "webhooks",
        include_str!("../migrations/0006_webhooks.sql"),
    ),
    (7, "devices", include_str!("../migrations/0007_devices.sql")),
    (
        8,
        "voice_personas",
        include_str!("../migrations/0008_voice_personas.sql"),
    ),
    (
        9,
        "session_audio",
        include_str!("../migrations/0009_session_audio.sql"),
    ),
    (
        10,
        "inbox_origin",
        include_str!("../migrations/0010_inbox_origin.sql"),
    ),
    (
        11,
        "credential_limits",
        include_str!("../migrations/0011_credential_limits.sql"),
    ),
    (12, "bounds", include_str!("../migrations/0012_bounds.sql")),
    (
        13,
        "webhook_intake",
        include_str!("../migrations/0013_webhook_intake.sql"),
    ),
    (
        14,
        "key_bindings",
        include_str!("../migrations/0014_key_bindings.sql"),
    ),
    (
        15,
        "delivery_lines",
        include_str!("../migrations/0015_delivery_lines.sql"),
    ),
    (
        16,
        "bounded_inbox",
        include_str!("../migrations/0016_bounded_inbox.sql"),
    ),
    (
        17,
        "slim_deliveries",
        include_str!("../migrations/0017_slim_deliveries.sql"),
    ),
    (18, "turns", include_str!("../migrations/0018_turns.sql")),
    (
        19,
        "running_turns",
        include_str!("../migrations/0019_running_turns.sql"),
    ),
    (
        20,
        "lineage",
        include_str!("../migrations/0020_lineage.sql"),
    ),
    (
        21,
        "origins",
        include_str!("../migrations/0021_origins.sql"),
    ),
    (
        22,
        "reasoning",
        include_str!("../migrations/0022_reasoning.sql"),
    ),
    (
        23,
        "answers_and_usage",
        include_str!("../migrations/0023_answers_and_usage.sql"),
    ),
    (
        25,
        "delivery_counts",
        include_str!("../migrations/0025_delivery_counts.sql"),
    ),
    (
        38,
        "sentences",
        include_str!("../migrations/0038_sentences.sql"),
    ),
    (
        40,
        "allowed_calls",
        include_str!("../migrations/0040_allowed_calls.sql"),
    ),
    (
        43,
        "schedules",
        include_str!("../migrations/0043_schedules.sql"),
    ),
    (
        46,
        "held_deliveries",
        include_str!("../migrations/0046_held_deliveries.sql"),
    ),
    (
        50,
        "provider_keys",
        include_str!("../migrations/0050_provider_keys.sql"),
    ),
    (
        51,
        "secret_uses",
        include_str!("../migrations/0051_secret_uses.sql"),
    ),
    (
        52,
        "vault_shares",
        include_str!("../migrations/0052_vault_shares.sql"),
    ),
    (
        53,
        "delivery_durations",
        include_str!("../migrations/0053_delivery_durations.sql"),
    ),
    (54, "heard", include_str!("../migrations/0054_heard.sql")),
    (
        55,
        "channel_pairings",
        include_str!("../migrations/0055_channel_pairings.sql"),
    ),
    (
        56,
        "inbound_messages",
        include_str!("../migrations/0056_inbound_messages.sql"),
    ),
    (
        58,
        "message_usage",
        include_str!("../migrations/0058_message_usage.sql"),
    ),
    (
        60,
        "audit_intents",
        include_str!("../migrations/0060_audit_intents.sql"),
    ),
    (
        62,
        "session_attachments",
        include_str!("../migrations/0062_session_attachments.sql"),
    ),
    (
        63,
        "audio_expiry",
        include_str!("../migrations/0063_audio_expiry.sql"),
    ),
    (
        64,
        "edited_replays",
        include_str!("../migrations/0064_edited_replays.sql"),
    ),
    (
        65,
        "tls_certificates",
        include_str!("../migrations/0065_tls_certificates.sql"),
    ),
    (
        66,
        "waiting_approvals",
        include_str!("../migrations/0066_waiting_approvals.sql"),
    ),
    (
        67,
        "rate_permits",
        include_str!("../migrations/0067_rate_permits.sql"),
    ),
    (
        68,
        "received_messages",
        include_str!("../migrations/0068_received_messages.sql"),
    ),
    (69, "push", include_str!("../migrations/0069_push.sql")),
    (
        70,
        "mcp_authorizations",
        include_str!("../migrations/0070_mcp_authorizations.sql"),
    ),
    (
        71,
        "webhook_notices",
        include_str!("../migrations/0071_webhook_notices.sql"),
    ),
    (
        72,
        "reach_questions",
        include_str!("../migrations/0072_reach_questions.sql"),
    ),
    (
        73,
        "oldest_writer",
        include_str!("../migrations/0073_oldest_writer.sql"),
    ),
    (
        76,
        "voice_messages",
        include_str!("../migrations/0076_voice_messages.sql"),
    ),
    (77, "duties", include_str!("../migrations/0077_duties.sql")),
    (
        80,
        "receiver_answers",
        include_str!("../migrations/0080_receiver_answers.sql"),
    ),
    (
        82,
        "files_and_tests",
        include_str!("../migrations/0082_files_and_tests.sql"),
    ),
    (
        86,
        "session_tags",
        include_str!("../migrations/0086_session_tags.sql"),
    ),
    (
        88,
        "estimated_tokens",
        include_str!("../migrations/0088_estimated_tokens.sql"),
    ),
];

/// Records a migration. Parameters: version, name, checksum.
const NOTE: &str =
    "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
     VALUES ($1, $2, TRUE, $3, 0)";

/// Records which versions may write after a migration. Parameters: its version, the oldest migration.
const NOTE_WRITERS: &str = "UPDATE _sqlx_migrations SET oldest_writer = $2 WHERE version = $1";

/// Takes the place of a version while [`crate::move_rows`] copies into a database. Every version of Gatehouse
/// refuses to open the database then.
const UNFINISHED_MOVE: i64 = i64::MAX;

/// Returns the versions of all migrations, oldest first.
pub fn migration_versions() -> Vec<i64> {
    MIGRATIONS.iter().map(|(version, ..)| *version).collect()
}

/// The checksum of an applied migration.
struct Applied {
    version: i64,
    checksum: Vec<u8>,
}

impl FromRow for Applied {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            version: row.try_get("version")?,
            checksum: row.try_get("checksum")?,
        })
    }
}

fn checksum(sql: &str) -> Vec<u8> {
    Sha384::digest(sql.as_bytes()).to_vec()
}

/// A name for the schema of this version.
#[cfg(feature = "testing")]
pub(crate) fn schema_name() -> String {
    let mut all = Sha384::new();
    for (_, _, sql) in MIGRATIONS {
        all.update(sql.as_bytes());
    }
    let digest = data_encoding::HEXLOWER.encode(&all.finalize());
    format!("gh_schema_{}", digest.get(..16).unwrap_or_default())
}

/// Applies the missing migrations up to `target`, or all. Each migration is a transaction, except in a new database.
pub(crate) async fn run(
    conn: &mut Conn,
    engine: Engine,
    target: Option<i64>,
) -> Result<(), OpenError> {
    transact(conn, engine, async |conn| {
        conn.plain(engine.migrations_table()).await
    })
    .await
    .map_err(OpenError::Migrate)?;
    if is_unfinished_move(conn).await.map_err(OpenError::Migrate)? {
        return Err(OpenError::UnfinishedMove);
    }
    // Before the first migration, because a version that may not write may not migrate.
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
        // For a new database, one transaction: each waits for the disk.
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
        for migration in missing {
            apply(conn, engine, migration).await?;
        }
    }
    // Another node may have migrated meanwhile.
    if let Some(migration) = check_writable(conn).await?.newest {
        tracing::warn!(
            migration,
            "a newer version of Gatehouse has migrated the database; this version may still use it"
        );
    }
    Ok(())
}

/// Fails if a newer version has migrated the database to a schema to which this version may not write.
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
    /// Reads whether this version may still write. Call it after a change of
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

/// Whether a move into this database was started and has not finished.
pub(crate) async fn is_unfinished_move(conn: &mut Conn) -> Result<bool, StoreError> {
    Ok(find(conn, UNFINISHED_MOVE).await?.is_some())
}

/// Refuses the database to servers until [`end_move`].
pub(crate) async fn begin_move(conn: &mut Conn) -> Result<(), StoreError> {
    let insert = query(NOTE).bind(UNFINISHED_MOVE).bind("unfinished move");
    conn.run(insert.bind(Vec::<u8>::new())).await.map(drop)
}

pub(crate) async fn end_move(conn: &mut Conn) -> Result<(), StoreError> {
    let delete = query("DELETE FROM _sqlx_migrations WHERE version = $1");
    conn.run(delete.bind(UNFINISHED_MOVE)).await.map(drop)
}

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
    transact(conn, engine, async |conn| {
        apply_within(conn, migration).await
    })
    .await
    .map_err(OpenError::Migrate)
}

/// Applies a migration in the transaction of the caller, unless another node has applied it before the transaction
/// began.
async fn apply_within(conn: &mut Conn, (version, name, sql): Migration) -> Result<(), StoreError> {
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

/// Replaces what an earlier file of an applied migration made.
async fn replace(
    conn: &mut Conn,
    engine: Engine,
    (version, checksum, repair): (i64, &[u8], &'static str),
) -> Result<(), OpenError> {
    transact(conn, engine, async |conn| {
        // Another node may have done it after the check.
        let known = find(conn, version).await?;
        if known.is_some_and(|known| known.checksum == checksum) {
            return Ok(());
        }
        conn.script(repair).await?;
        let update = query("UPDATE _sqlx_migrations SET checksum = $2 WHERE version = $1");
        conn.run(update.bind(version).bind(checksum.to_vec()))
            .await
            .map(drop)
    })
    .await
    .map_err(OpenError::Migrate)
}

async fn find(conn: &mut Conn, version: i64) -> Result<Option<Applied>, StoreError> {
    let applied = query("SELECT version, checksum FROM _sqlx_migrations WHERE version = $1");
    conn.find(applied.bind(version)).await
}

/// Runs `work` in a transaction. One migration runs at a time in the whole database.
async fn transact(
    conn: &mut Conn,
    engine: Engine,
    work: impl AsyncFnOnce(&mut Conn) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    conn.script(engine.begin_migration()).await?;
    let outcome = match work(conn).await {
        Ok(()) => conn.plain("COMMIT").await,
        Err(error) => Err(error),
    };
    if outcome.is_err() {
        // If this fails too, the caller drops the connection.
        drop(conn.plain("ROLLBACK").await);
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compatibility::FIRST_STATED;

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
}
