//! Logs that a migration is still running.

use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Interval between two log lines of a running migration.
const INTERVAL: Duration = Duration::from_secs(5);

/// Logs the progress of a migration until it is dropped. Uses a thread, because statements of SQLite block the
/// calling thread.
pub(crate) struct Progress {
    _ended: SyncSender<()>,
}

impl Progress {
    pub(crate) fn of(version: i64, name: &'static str) -> Self {
        Self::every(INTERVAL, move |elapsed| {
            let seconds = elapsed.as_secs();
            tracing::info!(version, name, seconds, "the migration is still running");
        })
    }

    fn every(interval: Duration, mut report: impl FnMut(Duration) + Send + 'static) -> Self {
        let (ended, wait) = sync_channel(1);
        let began = Instant::now();
        let reports = move || {
            while wait.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                report(began.elapsed());
            }
        };
        // If the thread cannot be started, the migration runs without these log lines.
        drop(Builder::new().spawn(reports));
        Self { _ended: ended }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_migration_is_reported_until_it_ends() {
        let (sender, reports) = sync_channel(1);
        let progress = Progress::every(Duration::from_millis(1), move |elapsed| {
            let _ = sender.send(elapsed);
        });
        let first = reports.recv().unwrap();
        assert!(reports.recv().unwrap() > first);
        drop(progress);
        // Ends when the thread has dropped the sender.
        while reports.recv().is_ok() {}
    }
}
