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

/// The responses to statements that were sent.
#[derive(Default)]
pub(super) struct AllSent<'a> {
    /// Those to `BEGIN` contain the ID of the transaction.
    pub(super) responses: Vec<(Kind, Sent<'a, Option<TransactionId>>)>,
    /// Whether the last one failed at once.
    pub(super) has_failed: bool,
}

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
            // An error of an earlier job. The caller of this one must not take it for its own.
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

/// Sends a prepared statement without awaiting its response. The second value is whether it failed at once: it could
/// not be sent, or the server has already refused it. Then no later one may be sent, because the server might run it as
/// if this one had succeeded.
pub(crate) async fn send<T>(mut answer: Answer<'_, T>) -> (Sent<'_, T>, bool) {
    match poll_immediate(&mut answer).await {
        Some(result) => {
            let has_failed = result.is_err();
            (Either::Right(ready(result)), has_failed)
        }
        None => (Either::Left(answer), false),
    }
}

/// Sends statements in order, until one fails at once. The second value is whether one did.
pub(crate) async fn send_each<'a, T>(
    statements: impl Iterator<Item = Answer<'a, T>>,
) -> (Vec<Sent<'a, T>>, bool) {
    let mut all = Vec::with_capacity(statements.size_hint().0);
    for statement in statements {
        let (sent, has_failed) = send(statement).await;
        all.push(sent);
        if has_failed {
            return (all, true);
        }
    }
    (all, false)
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
