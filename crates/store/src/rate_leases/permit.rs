//! The permits of one request.

use super::{RateKey, RateLeases};
use std::sync::Arc;

/// Permits of one limit. On drop, unused permits are returned to this node.
#[derive(Debug)]
#[must_use = "permits that are not used are returned"]
pub struct RatePermit<K: RateKey> {
    pub(super) leases: Arc<RateLeases<K>>,
    pub(super) key: K,
    pub(super) count: u32,
    pub(super) is_used: bool,
}

impl<K: RateKey> RatePermit<K> {
    /// Sets whether the permits are used. Unused permits are returned on drop.
    pub const fn set_used(&mut self, is_used: bool) {
        self.is_used = is_used;
    }
}

impl<K: RateKey> Drop for RatePermit<K> {
    fn drop(&mut self) {
        if let Some(pool) = self.leases.lock().by_key.get_mut(&self.key) {
            pool.settle(self.count, self.is_used);
        }
        self.leases.settled.notify_waiters();
    }
}
