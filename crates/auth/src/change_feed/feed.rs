//! This node's position in the change feed.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

/// How long memory is valid after the last successful read.
pub(super) const BELIEVED_MS: u64 = 2_000;

/// This node's position in the feed.
#[derive(Debug)]
pub(crate) struct Feed {
    pub(super) shared: bool,
    pub(super) last_change: AtomicI64,
    pub(super) last_look_ms: AtomicU64,
    /// Whether the schema was checked after its last known change. At first it was not: another node may have migrated
    /// the database after this one opened it and before it knew its position.
    pub(super) schema_is_checked: AtomicBool,
}

impl Feed {
    pub(crate) const fn new(shared: bool, last_change: i64, now_ms: u64) -> Self {
        Self {
            shared,
            last_change: AtomicI64::new(last_change),
            last_look_ms: AtomicU64::new(now_ms),
            schema_is_checked: AtomicBool::new(false),
        }
    }

    pub(crate) const fn is_shared(&self) -> bool {
        self.shared
    }

    /// Milliseconds since the last successful read began; 0 on a database of a single node.
    pub(super) fn lag_ms(&self, now_ms: u64) -> u64 {
        if !self.shared {
            return 0;
        }
        now_ms.saturating_sub(self.last_look_ms.load(Ordering::Acquire))
    }

    /// Whether memory may be trusted.
    pub(crate) fn is_fresh(&self, now_ms: impl FnOnce() -> u64) -> bool {
        let looked = || self.last_look_ms.load(Ordering::Acquire);
        !self.shared || now_ms().saturating_sub(looked()) <= BELIEVED_MS
    }
}
