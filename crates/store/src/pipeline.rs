//! Statements of a transaction on PostgreSQL that wait to be sent. A statement whose result the caller does not need is
//! sent together with the next one whose result it needs, or with the commit, so both take one round trip. The server
//! runs them in order. After an error it refuses everything up to the end of the transaction.
//!
//! The connection's default is read-only transactions: if the server does not begin the transaction, it refuses the
//! writes that were sent behind `BEGIN`.

use crate::StoreError;
use crate::postgres::{Answer, TransactionId, begin, plain, prepare, run_prepared};
use crate::sql::Value;
use deadpool_postgres::Object;
use futures_util::future::{Either, Ready, poll_immediate, ready};
use std::time::Duration;
use tokio::time::timeout;
use tokio_postgres::Statement;

/// Marks the beginning of a job in a group.
pub(crate) const SAVEPOINT: &str = "SAVEPOINT job";

/// A statement that waits, and whose result only matters if it is an error.
#[derive(Debug)]
enum Waiting {
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

/// Timeout for a server's response to a statement. Longer than the timeouts for locks and statements on the
/// server.
const ANSWER: Duration = Duration::from_secs(12);

/// The exchange with a server: the statements that wait, and the transaction they belong to.
#[derive(Debug)]
pub(crate) struct Pipeline {
    /// Set after a response timed out: later statements would wait behind the unanswered one.
    pub(crate) is_silent: bool,
    /// Timeout for a response.
    pub(crate) limit: Duration,
    /// How often a response was awaited.
    pub(crate) round_trips: u64,
    waiting: Vec<Waiting>,
    /// Whether `BEGIN` was sent.
    is_begun: bool,
    /// Known after the server's response to `BEGIN`.
    id: Option<TransactionId>,
}

impl Default for Pipeline {
    fn default() -> Self {
        Self {
            is_silent: false,
            limit: ANSWER,
            round_trips: 0,
            waiting: Vec::new(),
            is_begun: false,
            id: None,
        }
    }
}

impl Pipeline {
    /// Begins a transaction with the first statement that is sent.
    pub(crate) fn begin(&mut self, sql: &'static str) {
        self.waiting = vec![Waiting::Begin(sql)];
        self.is_begun = false;
        self.id = None;
    }

    pub(crate) fn push_frame(&mut self, sql: &'static str) {
        self.waiting.push(Waiting::Frame(sql));
    }

    pub(crate) fn push_plain(&mut self, sql: &'static str) {
        self.waiting.push(Waiting::Plain(sql));
    }

    pub(crate) fn push_each(&mut self, sql: &'static str, rows: &[Vec<Value<'_>>]) {
        let rows = rows
            .iter()
            .map(|values| values.iter().map(Value::to_static).collect())
            .collect();
        self.waiting.push(Waiting::Each { sql, rows });
    }

    /// Whether statements of a job wait, besides those around it.
    pub(crate) fn has_statements(&self) -> bool {
        let is_statement = |one: &Waiting| matches!(one, Waiting::Plain(_) | Waiting::Each { .. });
        self.waiting.iter().any(is_statement)
    }

    /// Whether a transaction was begun in which no statement was run.
    pub(crate) fn is_untouched(&self) -> bool {
        let begins = matches!(self.waiting.first(), Some(Waiting::Begin(_)));
        begins && !self.has_statements()
    }

    pub(crate) const fn is_begun(&self) -> bool {
        self.is_begun
    }

    pub(crate) const fn id(&self) -> Option<&TransactionId> {
        self.id.as_ref()
    }

    /// Drops what waits, to roll back.
    pub(crate) fn clear(&mut self) {
        self.waiting.clear();
    }

    /// Drops what waits of the current job. Returns whether its savepoint was among it: then nothing of it was sent.
    pub(crate) fn drop_job(&mut self) -> bool {
        let is_savepoint = |one: &Waiting| matches!(one, Waiting::Frame(SAVEPOINT));
        let savepoint = self.waiting.iter().rposition(is_savepoint);
        self.waiting.truncate(savepoint.unwrap_or(0));
        savepoint.is_some()
    }

    /// Sends what waits and then `last`, and awaits the responses for a limited time. Returns the first error.
    pub(crate) async fn ask<T: Send>(
        &mut self,
        client: &Object,
        last: Answer<'_, T>,
    ) -> Result<T, StoreError> {
        self.round_trips = self.round_trips.wrapping_add(1);
        let limit = self.limit;
        let answer: Answer<'_, T> = if self.waiting.is_empty() {
            last
        } else {
            Box::pin(self.send_with(client, last))
        };
        if let Ok(answered) = timeout(limit, answer).await {
            return answered;
        }
        self.is_silent = true;
        Err(StoreError::unavailable(
            "the database server does not answer",
        ))
    }

    async fn send_with<T>(
        &mut self,
        client: &Object,
        last: Answer<'_, T>,
    ) -> Result<T, StoreError> {
        // If a statement cannot be prepared, everything still waits: without `BEGIN`, later ones must not be sent.
        let mut statements = Vec::with_capacity(self.waiting.len());
        for one in &self.waiting {
            statements.push(one.prepare(client).await?);
        }
        let waiting = std::mem::take(&mut self.waiting);
        // Without an ID nothing is committed, so nothing is if a statement cannot be sent.
        let id = self.id.take();
        let mut sent = Vec::with_capacity(waiting.len());
        for (one, statement) in waiting.iter().zip(&statements) {
            match (one, statement) {
                (Waiting::Begin(sql), _) => {
                    self.is_begun = true;
                    let id = async move { begin(client, sql).await.map(Some) };
                    sent.push(send(Box::pin(id)).await?);
                }
                (Waiting::Frame(sql) | Waiting::Plain(sql), _) => {
                    let ran = async move { plain(client, sql).await.map(|()| None) };
                    sent.push(send(Box::pin(ran)).await?);
                }
                (Waiting::Each { rows, .. }, Some(statement)) => {
                    for values in rows {
                        let ran = run_prepared(client, statement, values);
                        let ran = async move { ran.await.map(|_| None) };
                        sent.push(send(Box::pin(ran)).await?);
                    }
                }
                (Waiting::Each { .. }, None) => {}
            }
        }
        let last = send(last).await?;
        self.id = id;
        for one in sent {
            if let Some(id) = one.await? {
                self.id = Some(id);
            }
        }
        last.await
    }
}

impl Waiting {
    async fn prepare(&self, client: &Object) -> Result<Option<Statement>, StoreError> {
        match self {
            Self::Each { sql, rows } => match rows.first() {
                Some(values) => prepare(client, sql, values).await.map(Some),
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }
}

/// The response to a statement that was sent.
pub(crate) type Sent<'a, T> = Either<Answer<'a, T>, Ready<Result<T, StoreError>>>;

/// Sends a prepared statement without awaiting its response. Fails if it could not be sent: then no later one may be
/// sent, because the server would run it as if this one had succeeded.
pub(crate) async fn send<T>(mut answer: Answer<'_, T>) -> Result<Sent<'_, T>, StoreError> {
    match poll_immediate(&mut answer).await {
        Some(Ok(result)) => Ok(Either::Right(ready(Ok(result)))),
        Some(Err(error)) => Err(error),
        None => Ok(Either::Left(answer)),
    }
}

#[cfg(test)]
mod tests {
    use crate::dialect::{Engine, Lane, Role};
    use crate::sql::query;
    use crate::testing::postgres;

    #[tokio::test]
    async fn a_writer_refuses_what_the_server_would_run_outside_of_a_transaction() {
        let Some(database) = postgres().await else {
            return;
        };
        database.open().await.close().await;
        let source = database.location.source(Role::Writer, 1).unwrap();
        let mut conn = source.connect().await.unwrap();
        let insert = "INSERT INTO settings (key, value, updated_at) VALUES ('a', '1', 1)";
        let refused = conn.run(query(insert)).await.unwrap_err();
        assert!(refused.is_unavailable(), "{refused:?}");
        conn.begin(Engine::Postgres.begin(Lane::Arrivals)).unwrap();
        conn.run(query(insert)).await.unwrap();
        conn.roll_back().await.unwrap();
    }
}
