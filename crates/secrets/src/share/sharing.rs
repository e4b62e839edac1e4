//! This node's state of sharing the data key.

use crate::request_start::RequestStart;
use crate::seen::Seen;
use gatehouse_domain::Timestamp;
use gatehouse_vault::{ClusterKey, ShareKey, SharePlace};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Mutex;

/// This node's part in sharing the data key.
#[derive(Default)]
pub(crate) struct Sharing {
    pub(super) cluster: OnceLock<ClusterKey>,
    pub(super) is_off: AtomicBool,
    /// The request that this node waits for. Locked for a whole round, so that only one round runs at a time.
    pub(super) pending: Mutex<Option<Pending>>,
    pub(super) has_warned: AtomicBool,
}

/// A request of this node.
pub(super) struct Pending {
    pub(super) place: SharePlace,
    pub(super) key: ShareKey,
    pub(super) seen: Seen,
    /// When the request began. A seal that begins later prevents the unseal.
    pub(super) began: RequestStart,
    pub(super) at: Timestamp,
}

impl Sharing {
    /// Returns the cluster key, if this node shares.
    pub(super) fn cluster(&self) -> Option<&ClusterKey> {
        if self.is_off.load(Ordering::SeqCst) {
            return None;
        }
        self.cluster.get()
    }

    /// Logs a warning. Does not log again until a text could be read.
    pub(super) fn warn(&self, reason: &'static str) {
        if !self.has_warned.swap(true, Ordering::SeqCst) {
            tracing::warn!(
                reason,
                "the vault's key could not be exchanged with another node; compare \
                 vault.cluster_secret on all nodes"
            );
        }
    }
}
