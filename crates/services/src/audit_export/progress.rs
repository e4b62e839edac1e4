//! How far the copies have come, as health checks and the pauses between reads need it.

use super::POLLS_WHEN_IDLE;
use gatehouse_domain::Watched;
use gatehouse_store::AUDIT_GREW;
use std::sync::Arc;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::TryRecvError;

/// The state of a copy in this process.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Rows up to this one were written, by any node.
    pub(super) done: i64,
    /// No attempt is made before this monotonic time.
    pub(super) retry_at_ms: u64,
    /// A claim of another node.
    pub(super) other: Option<Watched<String>>,
    /// A claim, and the last row of it that was written. This position is not stored yet.
    pub(super) unstored: Option<(String, i64)>,
    /// Whether the database could not be used.
    pub(super) is_cut_off: bool,
    /// Whether the last round took as many rows as it may.
    pub(super) has_more: bool,
}

impl Progress {
    /// Whether rows may wait although no new ones were appended.
    pub(super) const fn is_unfinished(&self) -> bool {
        self.has_more
            || self.is_cut_off
            || self.retry_at_ms > 0
            || self.other.is_some()
            || self.unstored.is_some()
    }
}

/// When the copies are written next.
#[derive(Debug)]
pub(super) struct Polls {
    grown: Receiver<Arc<str>>,
    /// Polls until the next one that is made in any case.
    left: u32,
}

impl Polls {
    pub(super) const fn new(grown: Receiver<Arc<str>>) -> Self {
        Self { grown, left: 0 }
    }

    /// Whether rows are read at this poll. `is_unfinished` says whether rows may wait.
    pub(super) fn is_due(&mut self, is_unfinished: bool) -> bool {
        let mut is_due = is_unfinished || self.left == 0;
        loop {
            match self.grown.try_recv() {
                Ok(subject) => is_due |= &*subject == AUDIT_GREW,
                Err(TryRecvError::Lagged(_)) => is_due = true,
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            }
        }
        self.left = if is_due {
            POLLS_WHEN_IDLE - 1
        } else {
            self.left.saturating_sub(1)
        };
        is_due
    }
}
