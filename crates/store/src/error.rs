//! Errors of the database, by the way in which a caller can handle them.

mod causes;
mod open_error;

use causes::{LockTimeout, OutdatedStatement};
use gatehouse_domain::{ErrorCode, Problem};
pub use open_error::OpenError;
use rusqlite::ffi;
use rusqlite::types::Type;
use std::error::Error;

/// The error of the driver or the server.
type Cause = Box<dyn Error + Send + Sync>;

/// Why a read or a write failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database currently cannot be reached, read or written: the disk is full, or the database is read-only,
    /// locked or down.
    #[error("the database is unavailable{}", advice(.0))]
    Unavailable(#[source] Cause),
    /// PostgreSQL ended the transaction because of a deadlock. A retry may succeed.
    #[error("the write and another write waited for each other")]
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
    /// A newer version of Gatehouse has migrated the database while this process used it. Nothing was written. The
    /// process must be restarted with the newer version.
    #[error(
        "a newer version of Gatehouse has migrated the database, and this version may not write to it"
    )]
    Outdated,
    /// The file of the SQLite database or its log was deleted, moved or replaced while this process used it.
    /// Nothing was written, because the data would be missing after a restart.
    #[error("the file of the database or its -wal file was deleted, moved or replaced")]
    FileReplaced,
    /// The guard of the calling task refused the write. Nothing was written. The problem is returned to the caller.
    #[error("the caller may not write: {}", .0.message)]
    Refused(Box<Problem>),
    /// A stored value has an invalid form.
    #[error("the stored {what} is damaged")]
    Damaged {
        /// A description of the value.
        what: &'static str,
    },
}

/// Returns advice for a damaged file or a full disk; empty for other causes. The codes are SQLite's.
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

impl StoreError {
    /// Returns whether the connection must prepare its statements again.
    pub(crate) fn is_outdated_statement(&self) -> bool {
        matches!(self, Self::Unavailable(cause) if cause.is::<OutdatedStatement>())
    }

    /// Returns whether no version can read a stored value. SQLite can store a value whose type differs from that
    /// of the column, and text that is not UTF-8. A missing value, bytes, and any value of PostgreSQL, which checks
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

    /// Returns whether other transactions held locks that this transaction needs. A retry may succeed.
    pub(crate) fn is_lock_conflict(&self) -> bool {
        match self {
            Self::Deadlock(_) => true,
            Self::Unavailable(cause) => cause.is::<LockTimeout>(),
            _ => false,
        }
    }

    /// Creates the error for a server that accepts connections or packets but does not respond.
    pub(crate) fn silent_server() -> Self {
        Self::unavailable("the database server does not answer; check its log and its load")
    }

    pub(crate) fn unavailable(cause: impl Into<Cause>) -> Self {
        Self::Unavailable(cause.into())
    }

    /// Returns the outcome of a shared group commit for one of its callers. The cause is only logged.
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

    /// Returns the problem for a database that is unavailable and unchanged.
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
            // The database does not report which field contains the character.
            .with("field", "")
            .with("reason", "contains a NUL character"),
            StoreError::Duplicate(_) => Self::new(ErrorCode::Conflict, "It already exists."),
            StoreError::Unexpected(_) | StoreError::Damaged { .. } => Self::internal(),
        }
    }
}

#[cfg(test)]
mod tests;
