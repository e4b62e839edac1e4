//! Jobs that callers pass to a writer, and the writer's reports.

use crate::{Conn, StoreError};
use futures_util::future::BoxFuture;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// Reports the outcome of the group's commit to the caller of a write.
pub(crate) type Acknowledge = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// The result of a job: whether its changes are kept or undone.
pub(crate) enum Ran {
    Keep(Acknowledge),
    Undo(Acknowledge),
}

/// A write with its guard and its reply channel.
pub(crate) type Job = Box<dyn for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Ran> + Send>;

/// A request to a writer.
pub(crate) enum Order {
    Run(Job),
    Checkpoint(oneshot::Sender<Result<(), StoreError>>),
    Stop,
}

/// When a writer began its current work; `None` while it waits for orders.
#[derive(Clone, Debug, Default)]
pub(crate) struct Busy(Arc<Mutex<Option<Instant>>>);

impl Busy {
    fn set(&self, since: Option<Instant>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = since;
    }

    /// Sets the start time while `work` runs.
    pub(crate) async fn during<T>(&self, work: impl Future<Output = T>) -> T {
        self.set(Some(Instant::now()));
        let done = work.await;
        self.set(None);
        done
    }

    /// Sets the start time to the current time, for the next part of the work.
    pub(crate) fn restart(&self) {
        self.set(Some(Instant::now()));
    }

    pub(crate) fn duration(&self) -> Duration {
        let since = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}
