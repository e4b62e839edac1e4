//! The progress of the copies, for health checks and for the intervals between reads.

use super::POLLS_WHEN_IDLE;
use gatehouse_domain::Watched;
use gatehouse_store::AUDIT_GREW;
use std::sync::Arc;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::TryRecvError;

/// The state of a copy in this process.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// The number of the last row that was written by any node.
    pub(super) done: i64,
    /// The monotonic time before which no attempt is made.
    pub(super) retry_at_ms: u64,
    /// A claim of another node.
    pub(super) other: Option<Watched<String>>,
    /// A claim and its last written row, if this position is not stored yet.
    pub(super) unstored: Option<(String, i64)>,
    /// Whether the last access to the database failed.
    pub(super) is_cut_off: bool,
    /// Whether the last round took the maximum number of rows.
    pub(super) has_more: bool,
}

impl Progress {
    /// Returns whether rows may wait although no new ones were appended.
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
    /// Number of polls until the next unconditional read.
    left: u32,
}

impl Polls {
    pub(super) const fn new(grown: Receiver<Arc<str>>) -> Self {
        Self { grown, left: 0 }
    }

    /// Returns whether to read rows at this poll. `is_unfinished` states whether rows may wait.
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
