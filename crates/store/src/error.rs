//! What can go wrong with the database, sorted by what the caller can do about it.

use crate::dialect::Engine;
use gatehouse_domain::{ErrorCode, Problem};

/// A read or a write failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database cannot be reached, read or written right now: full disk, read-only, locked, down.
    #[error("the database is unavailable")]
    Unavailable(#[source] sqlx::Error),
    /// A row with this key exists already.
    #[error("a row with this key exists already")]
    Duplicate(#[source] sqlx::Error),
    /// The statement or the data is not what this version expects: a fault of ours.
    #[error("the database refused a statement")]
    Unexpected(#[source] sqlx::Error),
    /// The write did not run to its end: its group could not be committed, or the store is closing.
    #[error("the write was not committed: {0}")]
    NotCommitted(String),
    /// The guard of the calling task refused: nothing was written. The problem is for the caller.
    #[error("the caller may not write: {}", .0.message)]
    Refused(Box<Problem>),
    /// A stored value is not what was written there.
    #[error("the stored {what} is damaged")]
    Damaged {
        /// Which value.
        what: &'static str,
    },
}

/// Primary result codes of SQLite that say "not now" rather than "wrong": PERM, BUSY, LOCKED, NOMEM,
/// READONLY, IOERR, CORRUPT, FULL, CANTOPEN, PROTOCOL, NOTADB (<https://sqlite.org/rescode.html>).
const SQLITE_UNAVAILABLE: [u32; 11] = [3, 5, 6, 7, 8, 10, 11, 13, 14, 15, 26];

/// SQLSTATE classes of PostgreSQL that say the same: connection exception, transaction rollback,
/// insufficient resources, object not in state, operator intervention, system error; and 25006, a
/// read-only transaction (<https://www.postgresql.org/docs/15/errcodes-appendix.html>).
const POSTGRES_UNAVAILABLE: [&str; 7] = ["08", "40", "53", "55", "57", "58", "25006"];

fn is_unavailable(code: &str) -> bool {
    match code.parse::<u32>() {
        // SQLite's extended codes keep the primary one in the low byte; SQLSTATEs have five places.
        Ok(number) if code.len() < 5 => SQLITE_UNAVAILABLE.contains(&(number & 0xff)),
        _ => POSTGRES_UNAVAILABLE
            .iter()
            .any(|class| code.starts_with(class)),
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::Database(database) if database.is_unique_violation() => {
                Self::Duplicate(error)
            }
            sqlx::Error::Database(database)
                if database.code().is_some_and(|code| is_unavailable(&code)) =>
            {
                Self::Unavailable(error)
            }
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::Protocol(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::WorkerCrashed => Self::Unavailable(error),
            _ => Self::Unexpected(error),
        }
    }
}

impl StoreError {
    /// Whether the database, rather than the request, is the reason.
    pub const fn is_unavailable(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::NotCommitted(_))
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(_) | StoreError::NotCommitted(_) => Self::new(
                ErrorCode::StorageUnavailable,
                "The database cannot be used right now; nothing was changed.",
            ),
            StoreError::Refused(problem) => *problem,
            StoreError::Duplicate(_) => Self::new(ErrorCode::Conflict, "It exists already."),
            StoreError::Unexpected(_) | StoreError::Damaged { .. } => Self::internal(),
        }
    }
}

/// The database could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It cannot be reached or read.
    #[error("cannot open the {} database", .engine.name())]
    Connect {
        /// Which engine.
        engine: Engine,
        /// Why.
        #[source]
        source: sqlx::Error,
    },
    /// A newer Gatehouse has written it.
    #[error(
        "the database is from a newer version of Gatehouse (it has migration {version}); \
         start that version, or restore a backup made before the upgrade"
    )]
    NewerVersion {
        /// The migration that this version does not know.
        version: i64,
    },
    /// A migration failed; the database is as it was before it.
    #[error("cannot bring the database up to this version")]
    Migrate(#[source] sqlx::migrate::MigrateError),
    /// The URL names no engine that is built in.
    #[error("the database URL must begin with sqlite:// or postgres://")]
    UnknownUrl,
}

#[cfg(test)]
mod tests {
    use super::is_unavailable;

    #[test]
    fn codes_are_sorted_by_what_the_caller_can_do() {
        // 2067 is SQLITE_CONSTRAINT_UNIQUE, 1 SQLITE_ERROR, 3338 SQLITE_IOERR_FSTAT-like, 5 BUSY.
        for (code, expected) in [
            ("13", true),
            ("5", true),
            ("8", true),
            ("778", true),
            ("1", false),
            ("2067", false),
            ("53100", true),
            ("57P01", true),
            ("25006", true),
            ("42601", false),
            ("23505", false),
        ] {
            assert_eq!(is_unavailable(code), expected, "{code}");
        }
    }
}
