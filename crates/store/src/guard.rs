//! A condition on the writes of a task. [`Store::write`](crate::Store::write) takes the guard of the
//! task that calls it along to the writer, where it is checked in the transaction of the write, before
//! the write. So a caller whose credential was ended by an earlier commit, on this node or another, or
//! by an earlier write of the same group, changes nothing.

use crate::{Conn, StoreError};
use futures_util::future::BoxFuture;
use std::fmt;
use std::sync::Arc;
use tokio::task::futures::TaskLocalFuture;

type Check = dyn for<'c> Fn(&'c mut Conn) -> BoxFuture<'c, Result<(), StoreError>> + Send + Sync;

/// A future that runs under a guard, or under none.
pub type Guarded<F> = TaskLocalFuture<Option<Guard>, F>;

tokio::task_local! {
    static CURRENT: Option<Guard>;
}

/// Decides in a transaction whether its task may write. Cheap to clone.
#[derive(Clone)]
pub struct Guard(Arc<Check>);

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Guard")
    }
}

impl Guard {
    /// A guard that refuses with an error, usually [`StoreError::Refused`].
    pub fn new<F>(check: F) -> Self
    where
        F: for<'c> Fn(&'c mut Conn) -> BoxFuture<'c, Result<(), StoreError>>
            + Send
            + Sync
            + 'static,
    {
        Self(Arc::new(check))
    }

    /// Runs `work` under this guard. A task that `work` spawns has no guard, unless its future is
    /// wrapped in [`inherit`].
    pub fn over<F: Future>(self, work: F) -> Guarded<F> {
        CURRENT.scope(Some(self), work)
    }

    /// The guard of the running task.
    pub(crate) fn current() -> Option<Self> {
        CURRENT.try_with(Clone::clone).ok().flatten()
    }

    pub(crate) async fn check(&self, conn: &mut Conn) -> Result<(), StoreError> {
        (self.0)(conn).await
    }
}

/// Gives `work`, which runs in a task of its own, the guard of the task that calls this.
pub fn inherit<F: Future>(work: F) -> Guarded<F> {
    CURRENT.scope(Guard::current(), work)
}

/// Runs `work` under no guard: for rows that are written whatever became of the caller, such as the
/// audit row of a refusal.
pub fn unguarded<F: Future>(work: F) -> Guarded<F> {
    CURRENT.scope(None, work)
}
