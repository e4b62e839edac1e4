//! Statements of a transaction on PostgreSQL that wait to be sent. A statement whose result the caller does not need is
//! sent together with the next one whose result it needs, or with the commit, so both take one round trip. The server
//! runs them in order. After an error it refuses everything up to the end of the transaction.
//!
//! A writer's default is read-only transactions: if the server does not begin the transaction, it refuses the writes
//! that were sent behind `BEGIN`. The connection of an import has another default, but an import ends at its first
//! error.

use crate::StoreError;
use crate::postgres::{Answer, TransactionId, begin, plain, prepare, run_prepared};
use crate::sql::Value;
use deadpool_postgres::Object;
use futures_util::future::{Either, Ready, poll_immediate, ready};
use std::collections::HashSet;
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
    /// How often a response was awaited, without what the preparation of a new statement needs.
    pub(crate) round_trips: u64,
    waiting: Vec<Waiting>,
    /// The waiting statements that were prepared on this connection.
    prepared: HashSet<&'static str>,
    /// Whether a transaction was begun, perhaps only here.
    is_open: bool,
    /// Whether `BEGIN` was sent.
    is_begun: bool,
    /// Set if it is not known which savepoints the server has: the transaction can only be rolled back as a whole.
    is_broken: bool,
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
            prepared: HashSet::new(),
            is_open: false,
            is_begun: false,
            is_broken: false,
            id: None,
        }
    }
}

impl Pipeline {
    /// Begins a transaction with the first statement that is sent.
    pub(crate) fn begin(&mut self, sql: &'static str) {
        self.waiting = vec![Waiting::Begin(sql)];
        self.is_open = true;
        self.is_begun = false;
        self.is_broken = false;
        self.id = None;
    }

    pub(crate) fn push_frame(&mut self, sql: &'static str) -> Result<(), StoreError> {
        self.push(Waiting::Frame(sql))
    }

    pub(crate) fn push_plain(&mut self, sql: &'static str) -> Result<(), StoreError> {
        self.push(Waiting::Plain(sql))
    }

    pub(crate) fn push_each(
        &mut self,
        sql: &'static str,
        rows: &[Vec<Value<'_>>],
    ) -> Result<(), StoreError> {
        let rows = rows
            .iter()
            .map(|values| values.iter().map(Value::to_static).collect())
            .collect();
        self.push(Waiting::Each { sql, rows })
    }

    /// Fails outside of a transaction: nothing would send the statement.
    fn push(&mut self, one: Waiting) -> Result<(), StoreError> {
        if !self.is_open {
            let cause = "a statement may wait only within a transaction";
            return Err(StoreError::Unexpected(cause.into()));
        }
        self.waiting.push(one);
        Ok(())
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

    /// Ends the transaction here: drops what waits. What is sent next must roll back, if anything was sent.
    pub(crate) fn end(&mut self) {
        self.waiting.clear();
        self.is_open = false;
        self.is_broken = false;
    }

    /// Fails if the transaction can only be rolled back as a whole.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        if self.is_silent {
            return Err(StoreError::unavailable("the connection was given up"));
        }
        if self.is_broken {
            return Err(StoreError::unavailable(
                "an earlier error ended the transaction",
            ));
        }
        Ok(())
    }

    /// Drops what waits of the current job. Returns whether its savepoint was among it: then the server has run nothing
    /// of it.
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
        self.check()?;
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

    async fn send_with<T: Send>(
        &mut self,
        client: &Object,
        last: Answer<'_, T>,
    ) -> Result<T, StoreError> {
        // If a statement cannot be prepared, it still waits, and so does all behind it.
        if self.is_begun {
            self.send_before_unprepared(client).await?;
        }
        self.send_all(client, last).await
    }

    async fn send_all<T: Send>(
        &mut self,
        client: &Object,
        last: Answer<'_, T>,
    ) -> Result<T, StoreError> {
        let mut statements = Vec::with_capacity(self.waiting.len());
        for one in &self.waiting {
            statements.push(one.prepare(client).await?);
            self.prepared.extend(one.to_prepare());
        }
        self.exchange(client, statements, last).await
    }

    /// Prepares the waiting statements that are new to the connection. Before each, sends and awaits what waits before
    /// it: the server locks the tables of a statement when it is prepared, and an error refuses what is sent later.
    async fn send_before_unprepared(&mut self, client: &Object) -> Result<(), StoreError> {
        loop {
            let is_new = |one: &Waiting| {
                one.to_prepare()
                    .is_some_and(|sql| !self.prepared.contains(sql))
            };
            let Some(place) = self.waiting.iter().position(is_new) else {
                return Ok(());
            };
            let mut rest = self.waiting.split_off(place);
            let sent = self.send_all::<()>(client, Box::pin(ready(Ok(())))).await;
            self.waiting.append(&mut rest);
            sent?;
            if let Some(first) = self.waiting.first() {
                first.prepare(client).await?;
                self.prepared.extend(first.to_prepare());
            }
        }
    }

    /// Sends what waits, with its prepared statements, and then `last`. Awaits the responses.
    async fn exchange<T: Send>(
        &mut self,
        client: &Object,
        statements: Vec<Option<Statement>>,
        last: Answer<'_, T>,
    ) -> Result<T, StoreError> {
        let waiting = std::mem::take(&mut self.waiting);
        // Remains set if a statement cannot be sent, or if the responses are not awaited to the end.
        self.is_broken = true;
        let mut sent = Vec::with_capacity(waiting.len());
        for (one, statement) in waiting.iter().zip(&statements) {
            self.is_begun |= matches!(one, Waiting::Begin(_));
            one.send(client, statement.as_ref(), &mut sent).await?;
        }
        let last = send(last).await?;
        for (is_frame, one) in sent {
            match one.await {
                Ok(id) => self.id = id.or_else(|| self.id.take()),
                Err(error) => {
                    self.is_broken = is_frame;
                    return Err(error);
                }
            }
        }
        self.is_broken = false;
        last.await
    }
}

/// The responses to statements that were sent, and whether each is to a `BEGIN` or a savepoint.
type AllSent<'a> = Vec<(bool, Sent<'a, Option<TransactionId>>)>;

impl Waiting {
    /// The statement that must be prepared.
    const fn to_prepare(&self) -> Option<&'static str> {
        match self {
            Self::Each { sql, rows } if !rows.is_empty() => Some(sql),
            _ => None,
        }
    }

    async fn send<'a>(
        &'a self,
        client: &'a Object,
        statement: Option<&'a Statement>,
        sent: &mut AllSent<'a>,
    ) -> Result<(), StoreError> {
        match (self, statement) {
            (Self::Begin(sql), _) => {
                let id = async move { begin(client, sql).await.map(Some) };
                sent.push((true, send(Box::pin(id)).await?));
            }
            // An error of an earlier job. The caller of this one must not take it for its own.
            (Self::Frame(sql), _) => {
                let ran = async move {
                    let ran = plain(client, sql).await;
                    ran.map(|()| None).map_err(StoreError::unavailable)
                };
                sent.push((true, send(Box::pin(ran)).await?));
            }
            (Self::Plain(sql), _) => {
                let ran = async move { plain(client, sql).await.map(|()| None) };
                sent.push((false, send(Box::pin(ran)).await?));
            }
            (Self::Each { rows, .. }, Some(statement)) => {
                for values in rows {
                    let ran = run_prepared(client, statement, values);
                    let ran = async move { ran.await.map(|_| None) };
                    sent.push((false, send(Box::pin(ran)).await?));
                }
            }
            (Self::Each { .. }, None) => {}
        }
        Ok(())
    }

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
    use crate::testing::{postgres, run_sql};

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

    #[tokio::test]
    async fn a_begin_that_fails_is_an_error_of_the_database() {
        let Some(database) = postgres().await else {
            return;
        };
        database.open().await.close().await;
        let source = database.location.source(Role::Writer, 1).unwrap();
        let mut conn = source.connect().await.unwrap();
        conn.begin("BEGIN READ WRITE; SELECT 1 / 0; SELECT pg_current_xact_id()")
            .unwrap();
        let refused = conn.run(query("DELETE FROM settings")).await.unwrap_err();
        assert!(refused.is_unavailable(), "{refused:?}");
        let refused = conn.transaction_id().await.unwrap_err();
        assert!(refused.is_unavailable(), "{refused:?}");
        conn.roll_back().await.unwrap();
    }

    #[tokio::test]
    async fn no_statement_waits_outside_of_a_transaction() {
        let Some(database) = postgres().await else {
            return;
        };
        let source = database.location.source(Role::Migrator, 1).unwrap();
        let mut conn = source.connect().await.unwrap();
        conn.plain_later("SELECT 1").unwrap_err();
        conn.run_later("SELECT 1", Vec::new()).unwrap_err();
    }

    #[tokio::test]
    async fn a_writer_does_not_overrule_a_database_that_is_read_only() {
        let Some(database) = postgres().await else {
            return;
        };
        let sql = "DO $$ BEGIN EXECUTE format(
            'ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$";
        run_sql(&database.location, sql).await;
        let source = database.location.source(Role::Writer, 1).unwrap();
        let refused = source.connect().await.unwrap_err();
        assert!(refused.is_unavailable(), "{refused:?}");
        let reader = database.location.source(Role::Reader, 1).unwrap();
        reader.connect().await.unwrap().ping().await.unwrap();
    }
}
