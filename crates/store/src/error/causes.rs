//! Classification of driver errors: which of them mean that the database is unavailable.

use super::{Cause, StoreError};
use rusqlite::ffi;
use std::error::Error;
use tokio_postgres::error::DbError;
use tokio_postgres::types::WrongType;

/// Primary result codes of SQLite for conditions of the database rather than of the statement: PERM, BUSY,
/// LOCKED, NOMEM, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, PROTOCOL, NOTADB
/// (<https://sqlite.org/rescode.html>).
const SQLITE_UNAVAILABLE: [i32; 11] = [3, 5, 6, 7, 8, 10, 11, 13, 14, 15, 26];

/// The corresponding SQLSTATE classes of PostgreSQL: connection exception, transaction rollback, insufficient
/// resources, object not in state, operator intervention, system error. Also 25006, a read-only transaction, and
/// 25P03, a transaction that was idle for too long (<https://www.postgresql.org/docs/15/errcodes-appendix.html>).
const POSTGRES_UNAVAILABLE: [&str; 8] = ["08", "40", "53", "55", "57", "58", "25006", "25P03"];

/// SQLSTATE of a text that is not valid in the database's encoding. Texts of Gatehouse are valid UTF-8, so this is a
/// NUL character.
const POSTGRES_NUL_CHARACTER: &str = "22021";

/// Decides by the primary code, which is the low byte of an extended code.
pub(super) fn is_unavailable_in_sqlite(extended_code: i32) -> bool {
    SQLITE_UNAVAILABLE.contains(&(extended_code & 0xff))
}

pub(super) fn is_unavailable_in_postgres(code: &str) -> bool {
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

/// A prepared statement no longer matches its tables, because another node has migrated the database. It must be
/// prepared again.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct OutdatedStatement(String);

/// A statement waited for a lock for longer than `lock_timeout`.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct LockTimeout(pub(super) String);

/// Returns whether the server refused a prepared statement because the columns of its result have changed, or
/// because the server no longer has the statement. The check uses the name of the server's routine, because the
/// message depends on the server's language.
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
            // The result has an unexpected type. All other errors without a server code are connection errors.
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
