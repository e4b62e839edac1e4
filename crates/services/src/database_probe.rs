//! Whether the database responds and accepts writes, for probes and metrics.

use crate::Services;
use gatehouse_store::unguarded;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

const PING_TIMEOUT: Duration = Duration::from_secs(2);
/// How long the last result is reused. This limits the load that unauthenticated callers can cause.
const PING_VALID: Duration = Duration::from_secs(1);

/// Minimum time between two trial writes while trials fail.
const BETWEEN_TRIALS: Duration = Duration::from_secs(2);

/// The last answer.
#[derive(Debug, Default)]
pub(crate) struct DatabaseProbe(Mutex<Option<(Instant, bool)>>);

/// The trial writes.
#[derive(Debug, Default)]
pub(crate) struct WriteProbe {
    /// When the last trial began; `None` if it succeeded.
    last: Mutex<Option<Instant>>,
    /// The unfinished trials. Closing the store waits for their writes.
    trials: TaskTracker,
}

impl Services {
    /// Returns whether the database responds within two seconds. Queries it at most once per second. Returns
    /// `false` if the file of a SQLite database was deleted, moved or replaced.
    pub async fn database_responds(&self) -> bool {
        // The lock is held during the query, so concurrent callers share it.
        let mut last = self.database.0.lock().await;
        if let Some((at, responds)) = *last
            && at.elapsed() < PING_VALID
        {
            return responds;
        }
        let check = async {
            let is_answered = self.store.ping().await.is_ok();
            is_answered && !self.store.file_is_replaced().await
        };
        let responds = tokio::time::timeout(PING_TIMEOUT, check).await;
        let responds = responds.unwrap_or(false);
        *last = Some((Instant::now(), responds));
        responds
    }

    /// Returns whether the database accepts writes. After it has refused a write, trial writes check whether it
    /// accepts writes again, at most once every two seconds.
    pub async fn database_takes_writes(&self) -> bool {
        if !self.store.has_failed_to_write() {
            return true;
        }
        let mut last = self.write_probe.last.lock().await;
        // Another caller may have completed the probe in the meantime.
        if !self.store.has_failed_to_write() {
            return true;
        }
        if last.is_some_and(|at| at.elapsed() < BETWEEN_TRIALS) {
            return false;
        }
        *last = Some(Instant::now());
        let store = self.store.clone();
        // The trial is a task, so it finishes even if the caller disconnects.
        let trials = &self.write_probe.trials;
        let trial = trials.spawn(unguarded(async move { store.try_writing().await }));
        let trial = tokio::time::timeout(PING_TIMEOUT, trial).await;
        let has_succeeded = matches!(trial, Ok(Ok(Ok(()))));
        if has_succeeded {
            *last = None;
        }
        has_succeeded
    }
}
