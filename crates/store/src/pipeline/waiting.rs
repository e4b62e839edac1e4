//! A statement that waits, and how it is sent.

use crate::StoreError;
use crate::postgres::{TransactionId, begin, plain, prepare, run_prepared};
use crate::postgres_answers::{Answer, Sent, send};
use crate::sql::Value;
use deadpool_postgres::Object;
use tokio_postgres::Statement;

/// Marks the beginning of a job in a group.
pub(crate) const SAVEPOINT: &str = "SAVEPOINT job";

/// A statement that waits to be sent, and whose result is only checked for an error.
#[derive(Debug)]
pub(super) enum Waiting {
    /// Begins the transaction. Its last result is the transaction's ID.
    Begin(&'static str),
    /// Sets or releases a savepoint.
    Frame(&'static str),
    Plain(&'static str),
    Each {
        sql: &'static str,
        rows: Vec<Vec<Value<'static>>>,
    },
}

/// The responses to statements that were sent.
#[derive(Default)]
pub(super) struct AllSent<'a> {
    /// The responses. The response to `BEGIN` contains the ID of the transaction.
    pub(super) responses: Vec<(Kind, Sent<'a, Option<TransactionId>>)>,
    /// Whether the last statement failed immediately.
    pub(super) has_failed: bool,
}

/// The meaning of a statement's error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The transaction or a savepoint could not be created.
    Frame,
    /// A statement of a job was refused. The transaction can be rolled back to the job's savepoint.
    Statement,
}

impl Waiting {
    pub(super) const fn is_statement(&self) -> bool {
        matches!(self, Self::Plain(_) | Self::Each { .. })
    }

    pub(super) fn is_savepoint(&self) -> bool {
        matches!(self, Self::Frame(SAVEPOINT))
    }

    /// Returns the statement that must be prepared; `None` if none must be.
    pub(super) const fn to_prepare(&self) -> Option<&'static str> {
        match self {
            Self::Each { sql, rows } if !rows.is_empty() => Some(sql),
            _ => None,
        }
    }

    /// Prepares the statement or takes it from the connection's cache.
    pub(super) async fn prepare(&self, client: &Object) -> Result<Option<Statement>, StoreError> {
        match self {
            Self::Each { sql, rows } => match rows.first() {
                Some(values) => prepare(client, sql, values).await.map(Some),
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// Sends the statement unless an earlier one has failed.
    pub(super) async fn send<'a>(
        &'a self,
        client: &'a Object,
        statement: Option<&'a Statement>,
        all: &mut AllSent<'a>,
    ) {
        match (self, statement) {
            (Self::Begin(sql), _) => {
                let id = async move { begin(client, sql).await.map(Some) };
                all.push(Kind::Frame, Box::pin(id)).await;
            }
            // A savepoint can fail only because of an earlier job. The error is mapped to `Unavailable`, so that
            // the caller of this job does not treat it as an error of the job's own statements.
            (Self::Frame(sql), _) => {
                let ran = async move {
                    let ran = plain(client, sql).await;
                    ran.map(|()| None).map_err(StoreError::unavailable)
                };
                all.push(Kind::Frame, Box::pin(ran)).await;
            }
            (Self::Plain(sql), _) => {
                let ran = async move { plain(client, sql).await.map(|()| None) };
                all.push(Kind::Statement, Box::pin(ran)).await;
            }
            (Self::Each { rows, .. }, Some(statement)) => {
                for values in rows {
                    let ran = run_prepared(client, statement, values);
                    let ran = async move { ran.await.map(|_| None) };
                    all.push(Kind::Statement, Box::pin(ran)).await;
                }
            }
            (Self::Each { .. }, None) => {}
        }
    }
}

impl<'a> AllSent<'a> {
    async fn push(&mut self, kind: Kind, answer: Answer<'a, Option<TransactionId>>) {
        if !self.has_failed {
            let (sent, has_failed) = send(answer).await;
            self.has_failed = has_failed;
            self.responses.push((kind, sent));
        }
    }
}
