//! Failures to open the database.

use super::StoreError;
use crate::dialect::Engine;

/// Why the database could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The database cannot be reached or read.
    #[error("cannot open the {} database", .engine.product())]
    Connect {
        engine: Engine,
        #[source]
        source: StoreError,
    },
    /// A newer version of Gatehouse has migrated the database to a schema that this version must not write to.
    #[error(
        "the database is from a newer version of Gatehouse (it has migration {version}); \
         start that version, or restore a backup made before the upgrade"
    )]
    NewerVersion {
        /// The first migration after which this version must not write.
        version: i64,
    },
    /// The file of the SQLite database is missing or empty. Opening it would delete its log.
    #[error(
        "the SQLite file is missing or empty, but its -wal file is not; nothing was changed. Put the database file \
         back, or move the -wal file away before you restore a backup or start with an empty database"
    )]
    LogWithoutDatabase,
    /// Rows of another database are being copied into this one.
    #[error(
        "a move into this database has not finished; run `gatehouse move` again, or use the database \
         from which it was moved"
    )]
    UnfinishedMove,
    /// A migration failed. The database is unchanged since the previous migration.
    #[error("cannot migrate the database to this version")]
    Migrate(#[source] StoreError),
    /// An applied migration differs from the one that this version has under the same number.
    #[error("migration {version} of the database differs from that of this version of Gatehouse")]
    ChangedMigration { version: i64 },
    /// The URL does not name a supported engine.
    #[error("the database URL must begin with sqlite:// or postgres://")]
    UnknownUrl,
}

impl OpenError {
    pub(crate) const fn sqlite(source: StoreError) -> Self {
        Self::Connect {
            engine: Engine::Sqlite,
            source,
        }
    }

    pub(crate) const fn postgres(source: StoreError) -> Self {
        Self::Connect {
            engine: Engine::Postgres,
            source,
        }
    }
}
