//! Statements of a transaction on PostgreSQL that wait to be sent. A statement whose result the caller does not
//! need is sent together with the next statement whose result it needs, or with the commit. Both then take one
//! round trip. The server runs the statements in order. After an error, it refuses all statements until the end of
//! the transaction.
//!
//! The connections of writers are read-only by default. If the server does not begin the transaction, it refuses
//! the writes that were sent after `BEGIN`.

mod exchange;
#[cfg(test)]
mod tests;
mod waiting;

use crate::StoreError;
use crate::postgres::TransactionId;
use crate::postgres_silence::{Answered, ServerSilence};
use crate::postgres_watch::StatementWatch;
use crate::sql::Value;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};
pub(crate) use waiting::SAVEPOINT;
use waiting::Waiting;

/// Timeout for a server's response to statements that were sent together. Longer than the timeouts for locks and
/// statements on the server.
const ANSWER: Duration = Duration::from_secs(12);

/// The state of a connection's transaction.
#[derive(Debug)]
enum Transaction {
    /// There is no transaction, or its `BEGIN` was not sent yet. The server has run none of its statements.
    Unsent,
    /// The server has begun the transaction and has executed all savepoint statements that were sent.
    Begun(TransactionId),
    /// It is not known whether the server has begun the transaction, or which savepoints exist. The transaction can
    /// only be rolled back as a whole.
    Unknown,
}

/// The state of the exchange with a server: the waiting statements, and their transaction.
#[derive(Debug)]
pub(crate) struct Pipeline {
    /// Whether a response timed out. Later statements would wait behind the unanswered one.
    pub(crate) is_silent: bool,
    /// Timeout for a response.
    pub(crate) limit: Duration,
    /// Ends the wait for a response if the server no longer works on the statement.
    pub(crate) watch: Option<Arc<StatementWatch>>,
    /// The known silence of the server, shared by all connections to it. `None` for SQLite.
    pub(crate) silence: Option<Arc<ServerSilence>>,
    /// The latest answered statement. Initially, the opening of the connection.
    pub(crate) answered: Answered,
    /// Number of responses that were awaited, except responses to the preparation of new statements.
    pub(crate) round_trips: u64,
    waiting: Vec<Waiting>,
    /// The waiting statements that were prepared on this connection.
    prepared: HashSet<&'static str>,
    /// Whether a transaction is open, so that waiting statements will be sent or dropped.
    is_open: bool,
    transaction: Transaction,
}

impl Default for Pipeline {
    fn default() -> Self {
        Self {
            is_silent: false,
            limit: ANSWER,
            watch: None,
            silence: None,
            answered: Answered::now(Instant::now()),
            round_trips: 0,
            waiting: Vec::new(),
            prepared: HashSet::new(),
            is_open: false,
            transaction: Transaction::Unsent,
        }
    }
}

impl Pipeline {
    /// Begins a transaction with the first statement that is sent.
    pub(crate) fn begin(&mut self, sql: &'static str) {
        self.waiting = vec![Waiting::Begin(sql)];
        self.is_open = true;
        self.transaction = Transaction::Unsent;
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

    /// Adds a waiting statement. Fails outside a transaction, because nothing would send the statement.
    fn push(&mut self, one: Waiting) -> Result<(), StoreError> {
        if !self.is_open {
            let cause = "a statement may wait only within a transaction";
            return Err(StoreError::Unexpected(cause.into()));
        }
        self.waiting.push(one);
        Ok(())
    }

    /// Returns whether statements of a job are waiting. Does not count the statements that begin and end the job.
    pub(crate) fn has_statements(&self) -> bool {
        self.waiting.iter().any(Waiting::is_statement)
    }

    /// Returns whether a transaction was started in which no statement was run.
    pub(crate) fn is_untouched(&self) -> bool {
        self.is_open && !self.is_sent() && !self.has_statements()
    }

    /// Returns whether this connection left a statement unanswered, or another connection did so after the latest
    /// answer on this one.
    pub(crate) fn may_be_silent(&self) -> bool {
        let silence = self.silence.as_ref();
        self.is_silent || silence.is_some_and(|silence| silence.concerns(self.answered))
    }

    /// Returns whether the state of other connections suggests that this connection is silent; see
    /// [`ServerSilence`].
    pub(crate) fn is_suspected(&self) -> bool {
        let silence = self.silence.as_ref();
        silence.is_some_and(|silence| silence.is_suspected(self.answered))
    }

    /// Returns whether [`Self::begin`] started a transaction that has not ended.
    pub(crate) const fn is_open(&self) -> bool {
        self.is_open
    }

    /// Returns whether `BEGIN` was sent.
    pub(crate) const fn is_sent(&self) -> bool {
        !matches!(self.transaction, Transaction::Unsent)
    }

    /// Returns the ID of the transaction, which is known after the server's response to `BEGIN`.
    pub(crate) const fn id(&self) -> Option<&TransactionId> {
        match &self.transaction {
            Transaction::Begun(id) => Some(id),
            Transaction::Unsent | Transaction::Unknown => None,
        }
    }

    /// Ends the transaction locally and drops the waiting statements. Returns whether the transaction must also be
    /// ended on the server.
    pub(crate) fn end(&mut self) -> bool {
        self.waiting.clear();
        self.is_open = false;
        let ended = std::mem::replace(&mut self.transaction, Transaction::Unsent);
        !matches!(ended, Transaction::Unsent)
    }

    /// Fails if the transaction can only be rolled back as a whole.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        if self.is_silent {
            return Err(StoreError::unavailable("the connection was abandoned"));
        }
        if matches!(self.transaction, Transaction::Unknown) {
            return Err(StoreError::unavailable(
                "an earlier error ended the transaction",
            ));
        }
        Ok(())
    }

    /// Drops the waiting statements of the current job. Returns whether its savepoint was one of them. In this
    /// case, the server has run none of its statements.
    pub(crate) fn drop_job(&mut self) -> bool {
        let savepoint = self.waiting.iter().rposition(Waiting::is_savepoint);
        self.waiting.truncate(savepoint.unwrap_or(0));
        savepoint.is_some()
    }
}
