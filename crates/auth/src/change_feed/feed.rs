//! This node's position in the change feed.

use gatehouse_store::NewChanges;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How long memory is valid after the last successful read.
pub(super) const BELIEVED_MS: u64 = 2_000;

/// This node's position in the feed.
#[derive(Debug)]
pub(crate) struct Feed {
    pub(super) shared: bool,
    pub(super) last_change: AtomicI64,
    pub(super) last_look_ms: AtomicU64,
    /// Whether the schema was checked after its last known change. Initially `false`: another node may have
    /// migrated the database after this node opened it and before this node read its position.
    pub(super) schema_is_checked: AtomicBool,
    /// The run of the server at the last successful read.
    server_run: Mutex<Option<String>>,
}

impl Feed {
    pub(crate) const fn new(shared: bool, last_change: i64, now_ms: u64) -> Self {
        Self {
            shared,
            last_change: AtomicI64::new(last_change),
            last_look_ms: AtomicU64::new(now_ms),
            schema_is_checked: AtomicBool::new(false),
            server_run: Mutex::new(None),
        }
    }

    fn server_run(&self) -> MutexGuard<'_, Option<String>> {
        self.server_run
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the changes may belong to a different state of the database, such as that of a replica that
    /// took over without the newest changes. The numbers then do not show what changed since the last read.
    pub(super) fn is_of_another_database(&self, new: &NewChanges) -> bool {
        let is_older = new.last < self.last_change.load(Ordering::Acquire);
        let known = self.server_run();
        // After a crash, the run is empty until the first write. No change can be missed during that time.
        let is_known = known.as_ref().is_some_and(|run| !run.is_empty());
        is_older || is_known && new.server_run.is_some() && *known != new.server_run
    }

    /// Moves the position past changes that were applied.
    pub(super) fn has_read(&self, new: &NewChanges) {
        self.last_change.store(new.last, Ordering::Release);
        if new.server_run.is_some() {
            self.server_run().clone_from(&new.server_run);
        }
    }

    pub(crate) const fn is_shared(&self) -> bool {
        self.shared
    }

    /// Returns the milliseconds since the last successful read began; 0 on a database of a single node.
    pub(super) fn lag_ms(&self, now_ms: u64) -> u64 {
        if !self.shared {
            return 0;
        }
        now_ms.saturating_sub(self.last_look_ms.load(Ordering::Acquire))
    }

    /// Returns whether memory may be trusted.
    pub(crate) fn is_fresh(&self, now_ms: impl FnOnce() -> u64) -> bool {
        let looked = || self.last_look_ms.load(Ordering::Acquire);
        !self.shared || now_ms().saturating_sub(looked()) <= BELIEVED_MS
    }
}
