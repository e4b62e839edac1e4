//! The order in which requests of this process began.

use std::sync::atomic::{AtomicU64, Ordering};

/// The start of a request, as a sequence number within this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RequestStart(u64);

/// Counts the requests.
#[derive(Debug, Default)]
pub(crate) struct RequestStarts(AtomicU64);

impl RequestStarts {
    pub(crate) fn next(&self) -> RequestStart {
        RequestStart(self.0.fetch_add(1, Ordering::SeqCst))
    }
}
