//! A statement that waits, and how it is sent.

use crate::StoreError;
use crate::postgres::{Answer, TransactionId, begin, plain, prepare, run_prepared};
use crate::sql::Value;
use deadpool_postgres::Object;
use futures_util::future::{Either, Ready, poll_immediate, ready};
use tokio_postgres::Statement;

/// Marks the beginning of a job in a group.
pub(crate) const SAVEPOINT: &str = "SAVEPOINT job";

/// A statement that waits, and whose result only matters if it is an error.
#[derive(Debug)]
pub(super) enum Waiting {
    /// Its last result is the ID of the transaction.
    Begin(&'static str),
    /// Sets or releases a savepoint.
    Frame(&'static str),
    Plain(&'static str),
    Each {
        sql: &'static str,
        rows: Vec<Vec<Value<'static>>>,
    },
}

/// The response to a statement that was sent.
pub(crate) type Sent<'a, T> = Either<Answer<'a, T>, Ready<Result<T, StoreError>>>;

/// The responses to statements that were sent. Those to `BEGIN` contain the ID of the transaction.
pub(super) struct AllSent<'a>(pub(super) Vec<(Kind, Sent<'a, Option<TransactionId>>)>);

/// What an error of a statement means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The transaction or a savepoint does not exist.
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

    /// The statement that must be prepared.
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

    pub(super) async fn send<'a>(
        &'a self,
        client: &'a Object,
        statement: Option<&'a Statement>,
        all: &mut AllSent<'a>,
    ) -> Result<(), StoreError> {
        match (self, statement) {
            (Self::Begin(sql), _) => {
                let id = async move { begin(client, sql).await.map(Some) };
                all.0.push((Kind::Frame, send(Box::pin(id)).await?));
            }
            // An error of an earlier job. The caller of this one must not take it for its own.
            (Self::Frame(sql), _) => {
                let ran = async move {
                    let ran = plain(client, sql).await;
                    ran.map(|()| None).map_err(StoreError::unavailable)
                };
                all.0.push((Kind::Frame, send(Box::pin(ran)).await?));
            }
            (Self::Plain(sql), _) => {
                let ran = async move { plain(client, sql).await.map(|()| None) };
                all.0.push((Kind::Statement, send(Box::pin(ran)).await?));
            }
            (Self::Each { rows, .. }, Some(statement)) => {
                for values in rows {
                    let ran = run_prepared(client, statement, values);
                    let ran = async move { ran.await.map(|_| None) };
                    all.0.push((Kind::Statement, send(Box::pin(ran)).await?));
                }
            }
            (Self::Each { .. }, None) => {}
        }
        Ok(())
    }
}

/// Sends a prepared statement without awaiting its response. Fails if it could not be sent: then no later one may be
/// sent, because the server would run it as if this one had succeeded.
pub(crate) async fn send<T>(mut answer: Answer<'_, T>) -> Result<Sent<'_, T>, StoreError> {
    match poll_immediate(&mut answer).await {
        Some(Ok(result)) => Ok(Either::Right(ready(Ok(result)))),
        Some(Err(error)) => Err(error),
        None => Ok(Either::Left(answer)),
    }
}

/// Awaits responses in the order in which their statements were sent. The first error is therefore the cause: the
/// server refuses what follows a refused statement for that reason alone.
pub(crate) async fn answers<T>(sent: Vec<Sent<'_, T>>) -> Result<Vec<T>, StoreError> {
    let mut results = Vec::with_capacity(sent.len());
    for answer in sent {
        results.push(answer.await?);
    }
    Ok(results)
}
