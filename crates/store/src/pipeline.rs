//! Statements of a transaction on PostgreSQL that wait to be sent. A statement whose result the caller does not need is
//! sent together with the next one whose result it needs, or with the commit, so both take one round trip. The server
//! runs them in order. After an error it refuses everything up to the end of the transaction.
//!
//! A writer's default is read-only transactions: if the server does not begin the transaction, it refuses the writes
//! that were sent behind `BEGIN`.

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
    /// There is no transaction, or its `BEGIN` was not sent yet: the server has run nothing of it.
    Unsent,
    /// The server has begun it and has the savepoints that were sent.
    Begun(TransactionId),
    /// It is not known whether the server has begun it, or which savepoints the server has. The transaction can only
    /// be rolled back as a whole.
    Unknown,
}

/// The exchange with a server: the statements that wait, and the transaction they belong to.
#[derive(Debug)]
pub(crate) struct Pipeline {
    /// Set after a response timed out: later statements would wait behind the unanswered one.
    pub(crate) is_silent: bool,
    /// Timeout for a response.
    pub(crate) limit: Duration,
    /// Ends the wait for a response if the server no longer works on the statement.
    pub(crate) watch: Option<Arc<StatementWatch>>,
    /// Shared by the connections to a server, and absent for SQLite.
    pub(crate) silence: Option<Arc<ServerSilence>>,
    /// The latest answered statement. A new connection counts as one.
    pub(crate) answered: Answered,
    /// Number of awaited responses, without responses to the preparation of new statements.
    pub(crate) round_trips: u64,
    waiting: Vec<Waiting>,
    /// The waiting statements that were prepared on this connection.
    prepared: HashSet<&'static str>,
    /// Whether statements may wait: something will send or drop them.
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

    /// Fails outside of a transaction: nothing would send the statement.
    fn push(&mut self, one: Waiting) -> Result<(), StoreError> {
        if !self.is_open {
            let cause = "a statement may wait only within a transaction";
            return Err(StoreError::Unexpected(cause.into()));
        }
        self.waiting.push(one);
        Ok(())
    }

    /// Whether statements of a job are waiting, besides the ones that begin and end it.
    pub(crate) fn has_statements(&self) -> bool {
        self.waiting.iter().any(Waiting::is_statement)
    }

    /// Whether a transaction was started in which no statement was run.
    pub(crate) fn is_untouched(&self) -> bool {
        self.is_open && !self.is_sent() && !self.has_statements()
    }

    /// Whether this connection left a statement unanswered, or another one did after this one's latest answer.
    pub(crate) fn may_be_silent(&self) -> bool {
        let silence = self.silence.as_ref();
        self.is_silent || silence.is_some_and(|silence| silence.concerns(self.answered))
    }

    /// Whether another connection makes it likely that this one is silent, see [`ServerSilence`].
    pub(crate) fn is_suspected(&self) -> bool {
        let silence = self.silence.as_ref();
        silence.is_some_and(|silence| silence.is_suspected(self.answered))
    }

    /// Whether a transaction was started here.
    pub(crate) const fn is_open(&self) -> bool {
        self.is_open
    }

    /// Whether `BEGIN` was sent.
    pub(crate) const fn is_sent(&self) -> bool {
        !matches!(self.transaction, Transaction::Unsent)
    }

    /// The ID of the transaction, known after the server's response to `BEGIN`.
    pub(crate) const fn id(&self) -> Option<&TransactionId> {
        match &self.transaction {
            Transaction::Begun(id) => Some(id),
            Transaction::Unsent | Transaction::Unknown => None,
        }
    }

    /// Ends the transaction here and drops the waiting statements. Returns whether the server has to end it, too.
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

    /// Drops the waiting statements of the current job. Returns whether its savepoint was among them: then the server
    /// has run nothing of the job.
    pub(crate) fn drop_job(&mut self) -> bool {
        let savepoint = self.waiting.iter().rposition(Waiting::is_savepoint);
        self.waiting.truncate(savepoint.unwrap_or(0));
        savepoint.is_some()
    }
}
