//! Errors of the database, classified by the caller's options.

use crate::dialect::Engine;
use gatehouse_domain::{ErrorCode, Problem};
use rusqlite::ffi;
use rusqlite::types::Type;
use std::error::Error;
use tokio_postgres::error::DbError;
use tokio_postgres::types::WrongType;

/// The error of the driver or the server.
type Cause = Box<dyn Error + Send + Sync>;

/// Why a read or a write failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database cannot be reached, read or written now: disk full, read-only, locked or down.
    #[error("the database is unavailable{}", advice(.0))]
    Unavailable(#[source] Cause),
    /// PostgreSQL ended the transaction because of a deadlock. It may succeed if repeated.
    #[error("the write and another one waited for each other")]
    Deadlock(#[source] Cause),
    /// A row with this key already exists.
    #[error("a row with this key already exists")]
    Duplicate(#[source] Cause),
    /// A text contains a NUL character, which PostgreSQL cannot store or compare. Nothing was changed.
    #[error("a text contains a NUL character")]
    NulCharacter(#[source] Cause),
    /// The statement or the data is not what this version expects, which is a bug.
    #[error("the database refused a statement")]
    Unexpected(#[source] Cause),
    /// The write was not completed: its group could not be committed, or the store is closing.
    #[error("the write was not committed: {0}")]
    NotCommitted(String),
    /// The connection was lost during the commit and the outcome could not be determined.
    #[error("it is not known whether the write was committed")]
    OutcomeUnknown,
    /// A newer version of Gatehouse has migrated the database while this process used it; nothing was written. Only a
    /// restart with that version helps.
    #[error(
        "a newer version of Gatehouse has migrated the database, and this version may not write to it"
    )]
    Outdated,
    /// The file of the SQLite database or its log was deleted, moved or replaced while this process uses it. Nothing
    /// was written: the next start would not find it.
    #[error("the file of the database or its -wal file was deleted, moved or replaced")]
    FileReplaced,
    /// The guard of the calling task refused the write; nothing was written. The problem is returned to the
    /// caller.
    #[error("the caller may not write: {}", .0.message)]
    Refused(Box<Problem>),
    /// A stored value has an invalid form.
    #[error("the stored {what} is damaged")]
    Damaged {
        /// Describes the value.
        what: &'static str,
    },
}

/// What to do about a damaged file or a full disk; empty for other causes. The codes are of SQLite.
fn advice(cause: &Cause) -> &'static str {
    let error = cause.downcast_ref::<rusqlite::Error>();
    let code = error.and_then(rusqlite::Error::sqlite_error);
    match code.map(|code| code.extended_code & 0xff) {
        Some(ffi::SQLITE_CORRUPT | ffi::SQLITE_NOTADB) => {
            ", because its file is damaged or not a database; restore a backup into another data directory"
        }
        Some(ffi::SQLITE_FULL | ffi::SQLITE_IOERR) => "; check the disk and its free space",
        _ => "",
    }
}

/// Primary result codes of SQLite for conditions of the database rather than of the statement: PERM, BUSY,
/// LOCKED, NOMEM, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, PROTOCOL, NOTADB
/// (<https://sqlite.org/rescode.html>).
const SQLITE_UNAVAILABLE: [i32; 11] = [3, 5, 6, 7, 8, 10, 11, 13, 14, 15, 26];

/// The corresponding SQLSTATE classes of PostgreSQL: connection exception, transaction rollback, insufficient
/// resources, object not in state, operator intervention, system error; and 25006, a read-only transaction, and
/// 25P03, a transaction that was idle for too long
/// (<https://www.postgresql.org/docs/15/errcodes-appendix.html>).
const POSTGRES_UNAVAILABLE: [&str; 8] = ["08", "40", "53", "55", "57", "58", "25006", "25P03"];

/// SQLSTATE of a text that is not valid in the database's encoding. Texts of Gatehouse are valid UTF-8, so this is a
/// NUL character.
const POSTGRES_NUL_CHARACTER: &str = "22021";

/// Decides by the primary code. Extended codes contain the primary code in the low byte.
fn is_unavailable_in_sqlite(extended_code: i32) -> bool {
    SQLITE_UNAVAILABLE.contains(&(extended_code & 0xff))
}

fn is_unavailable_in_postgres(code: &str) -> bool {
    POSTGRES_UNAVAILABLE
        .iter()
        .any(|class| code.starts_with(class))
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error() {
            Some(code) => match code.extended_code {
                ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY => {
                    Self::Duplicate(error.into())
                }
                number if is_unavailable_in_sqlite(number) => Self::Unavailable(error.into()),
                _ => Self::Unexpected(error.into()),
            },
            None => Self::Unexpected(error.into()),
        }
    }
}

/// A prepared statement no longer fits its tables, because another node has migrated the database. Preparing it again
/// helps.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct OutdatedStatement(String);

/// A statement waited for a lock for longer than `lock_timeout`.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct LockTimeout(String);

/// Whether the server refused a prepared statement because the columns of its result have changed, or because it no
/// longer has the statement. The message is in the server's language; the name of its routine is not.
fn is_outdated_statement(refusal: &DbError) -> bool {
    match refusal.code().code() {
        "0A000" => refusal.routine() == Some("RevalidateCachedQuery"),
        code => code == "26000",
    }
}

impl From<tokio_postgres::Error> for StoreError {
    fn from(error: tokio_postgres::Error) -> Self {
        match error.as_db_error() {
            Some(refusal) if is_outdated_statement(refusal) => {
                Self::Unavailable(OutdatedStatement(refusal.message().to_owned()).into())
            }
            Some(refusal) => {
                let code = refusal.code().code().to_owned();
                // Excludes the detail, which repeats values of the row.
                let refusal: Cause = format!("{} ({code})", refusal.message()).into();
                if code == "23505" {
                    Self::Duplicate(refusal)
                } else if code == "55P03" {
                    Self::Unavailable(LockTimeout(refusal.to_string()).into())
                } else if code == POSTGRES_NUL_CHARACTER {
                    Self::NulCharacter(refusal)
                } else if code == "40P01" {
                    Self::Deadlock(refusal)
                } else if is_unavailable_in_postgres(&code) {
                    Self::Unavailable(refusal)
                } else {
                    Self::Unexpected(refusal)
                }
            }
            // The result has a type other than expected. All other errors without a server code are
            // connection errors.
            None if error.source().is_some_and(<dyn Error>::is::<WrongType>) => {
                Self::Unexpected(error.into())
            }
            None => Self::Unavailable(error.into()),
        }
    }
}

impl From<deadpool_postgres::PoolError> for StoreError {
    fn from(error: deadpool_postgres::PoolError) -> Self {
        match error {
            deadpool_postgres::PoolError::Backend(error) => error.into(),
            other => Self::Unavailable(other.into()),
        }
    }
}

impl StoreError {
    /// Whether the connection must prepare its statements again.
    pub(crate) fn is_outdated_statement(&self) -> bool {
        matches!(self, Self::Unavailable(cause) if cause.is::<OutdatedStatement>())
    }

    /// Whether a stored value cannot be read by any version: SQLite stores values of another type than that of the
    /// column, and bytes that are not UTF-8 as texts. A missing value, bytes, and any value of PostgreSQL, which checks
    /// types, may be from a newer version.
    pub(crate) fn is_damaged_value(&self) -> bool {
        let Self::Unexpected(cause) = self else {
            return false;
        };
        match cause.downcast_ref::<rusqlite::Error>() {
            Some(rusqlite::Error::Utf8Error(..)) => true,
            Some(rusqlite::Error::InvalidColumnType(_, _, kind)) => {
                matches!(kind, Type::Text | Type::Real)
            }
            _ => false,
        }
    }

    /// Whether other transactions held the locks of this one. It may succeed if repeated.
    pub(crate) fn is_lock_conflict(&self) -> bool {
        match self {
            Self::Deadlock(_) => true,
            Self::Unavailable(cause) => cause.is::<LockTimeout>(),
            _ => false,
        }
    }

    /// The server accepts connections or packets, and does not respond.
    pub(crate) fn silent_server() -> Self {
        Self::unavailable("the database server does not answer; check its log and its load")
    }

    pub(crate) fn unavailable(cause: impl Into<Cause>) -> Self {
        Self::Unavailable(cause.into())
    }

    /// Returns the outcome of a shared group commit, for one of its callers. The cause is only logged.
    #[must_use]
    pub fn for_caller(&self) -> Self {
        match self {
            Self::OutcomeUnknown => Self::OutcomeUnknown,
            Self::Outdated => Self::Outdated,
            Self::FileReplaced => Self::FileReplaced,
            other => Self::NotCommitted(other.to_string()),
        }
    }

    /// Returns whether the cause is the database rather than the request.
    pub const fn is_unavailable(&self) -> bool {
        matches!(
            self,
            Self::Unavailable(_)
                | Self::Deadlock(_)
                | Self::NotCommitted(_)
                | Self::OutcomeUnknown
                | Self::Outdated
                | Self::FileReplaced
        )
    }

    /// The problem for a database that is unavailable and unchanged.
    pub fn unavailable_problem() -> Problem {
        Problem::new(
            ErrorCode::StorageUnavailable,
            "The database is currently unavailable. Nothing was changed.",
        )
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(_) | StoreError::Deadlock(_) | StoreError::NotCommitted(_) => {
                StoreError::unavailable_problem()
            }
            StoreError::OutcomeUnknown => Self::new(
                ErrorCode::StorageUnavailable,
                "The connection to the database was lost during the change. It is not known whether the change \
                 was made: check before you repeat it.",
            ),
            StoreError::Outdated => Self::new(
                ErrorCode::StorageUnavailable,
                "The database was upgraded by a newer version of Gatehouse. Nothing was changed. Use another node, or \
                 restart this one with the newer version.",
            ),
            StoreError::FileReplaced => Self::new(
                ErrorCode::StorageUnavailable,
                "The file of the database or its -wal file was deleted, moved or replaced. Nothing was changed. Run \
                 `gatehouse doctor` before you stop the server.",
            ),
            StoreError::Refused(problem) => *problem,
            StoreError::NulCharacter(_) => Self::new(
                ErrorCode::InvalidParams,
                "A text contains a NUL character, which the database cannot store. Nothing was changed.",
            )
            // The database does not report which text it is.
            .with("field", "")
            .with("reason", "contains a NUL character"),
            StoreError::Duplicate(_) => Self::new(ErrorCode::Conflict, "It already exists."),
            StoreError::Unexpected(_) | StoreError::Damaged { .. } => Self::internal(),
        }
    }
}

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
    /// A newer version of Gatehouse has migrated the database to a schema to which this version may not write.
    #[error(
        "the database is from a newer version of Gatehouse (it has migration {version}); \
         start that version, or restore a backup made before the upgrade"
    )]
    NewerVersion {
        /// The first migration after which this version may not write.
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
    #[error("cannot bring the database up to this version")]
    Migrate(#[source] StoreError),
    /// An applied migration differs from the one that this version has under the same number.
    #[error("migration {version} of the database is not the one of this version of Gatehouse")]
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

#[cfg(test)]
mod tests;
