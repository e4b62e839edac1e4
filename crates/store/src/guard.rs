//! Conditions on the writes of a task. [`Store::write`](crate::Store::write) passes the guard of the calling task
//! to the writer. The writer checks the guard in the transaction of the write, before the write. If an earlier
//! commit on any node, or an earlier write of the same group, revoked the caller's credential, the write changes
//! nothing.
//!
//! A guard can also carry an [`AuditIntent`], which each write of the task inserts in its transaction.

use crate::{AuditIntent, Conn, StoreError};
use futures_util::future::{BoxFuture, ready};
use std::fmt;
use std::sync::Arc;
use tokio::task::futures::TaskLocalFuture;

type Check = dyn for<'c> Fn(&'c mut Conn) -> BoxFuture<'c, Result<(), StoreError>> + Send + Sync;

/// A future that runs with a guard or explicitly without one.
pub type Guarded<F> = TaskLocalFuture<Option<Guard>, F>;

tokio::task_local! {
    static CURRENT: Option<Guard>;
}

/// Decides inside a transaction whether its task may write. Cheap to clone.
#[derive(Clone)]
pub struct Guard {
    /// The condition. `None` permits every write.
    check: Option<Arc<Check>>,
    intent: Option<AuditIntent>,
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Guard")
    }
}

impl Guard {
    /// Creates a guard that refuses by returning an error, usually [`StoreError::Refused`].
    pub fn new<F>(check: F) -> Self
    where
        F: for<'c> Fn(&'c mut Conn) -> BoxFuture<'c, Result<(), StoreError>>
            + Send
            + Sync
            + 'static,
    {
        Self {
            check: Some(Arc::new(check)),
            intent: None,
        }
    }

    /// Runs `work` with this guard. Tasks that `work` spawns have no guard unless their futures are wrapped
    /// in [`inherit`].
    pub fn over<F: Future>(self, work: F) -> Guarded<F> {
        CURRENT.scope(Some(self), work)
    }

    /// Returns the guard of the running task.
    pub(crate) fn current() -> Option<Self> {
        CURRENT.try_with(Clone::clone).ok().flatten()
    }

    pub(crate) fn check<'a>(&'a self, conn: &'a mut Conn) -> BoxFuture<'a, Result<(), StoreError>> {
        match &self.check {
            Some(check) => check(conn),
            None => Box::pin(ready(Ok(()))),
        }
    }

    /// Inserts the audit intent of a write in its transaction.
    pub(crate) fn record<'a>(
        &'a self,
        conn: &'a mut Conn,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        match &self.intent {
            Some(intent) => Box::pin(conn.insert_audit_intent(intent)),
            None => Box::pin(ready(Ok(()))),
        }
    }
}

/// Runs `work`, which is moved to another task, with the guard of the calling task.
pub fn inherit<F: Future>(work: F) -> Guarded<F> {
    CURRENT.scope(Guard::current(), work)
}

/// Runs `work`, whose writes insert the intent, with the guard of the calling task. Call it in the task that runs
/// `work`.
pub fn intending<F: Future>(intent: AuditIntent, work: F) -> Guarded<F> {
    let guard = Guard {
        check: Guard::current().and_then(|guard| guard.check),
        intent: Some(intent),
    };
    CURRENT.scope(Some(guard), work)
}

/// Runs `work` without a guard, for rows that must be written even if the caller's credential has ended, such
/// as the audit row of a refusal.
pub fn unguarded<F: Future>(work: F) -> Guarded<F> {
    CURRENT.scope(None, work)
}
