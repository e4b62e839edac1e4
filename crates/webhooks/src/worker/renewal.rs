//! Renews this node's leases every third of their duration, and requeues deliveries whose leases other nodes
//! no longer renew.

use super::{SHARED_POLL_MS, Worker, recover};
use gatehouse_domain::DeliveryId;
use gatehouse_store::StoreError;
use std::time::Duration;

impl Worker {
    /// Renews this node's leases when due, and requeues deliveries with expired leases of other nodes.
    pub(super) async fn keep_leases(&mut self) -> Result<(), StoreError> {
        let lease = self.inner.lease();
        let lease_ms = u64::try_from(lease.as_millis()).unwrap_or(u64::MAX);
        let monotonic = self.inner.clock.monotonic_ms();
        let must_renew = monotonic >= self.renew_at;
        if !must_renew && !self.inner.store.engine().is_shared() {
            return Ok(());
        }
        // Leases are lost after seconds, so a busy node need not look in every iteration.
        if !must_renew && self.is_busy && monotonic < self.watch_at {
            return Ok(());
        }
        self.watch_at = monotonic.saturating_add(SHARED_POLL_MS);
        let rows = self
            .inner
            .queue
            .read(|conn| Box::pin(async move { conn.list_leases().await }))
            .await?;
        let has_own = rows.iter().any(|row| row.owner == self.inner.node);
        let lost = self.watch.lost(rows, &self.inner.node, monotonic, lease_ms);
        recover::return_lost(&self.inner, lost).await?;
        if must_renew {
            if has_own || self.slots.len() > 0 {
                self.renew(lease).await?;
            }
            self.renew_at = monotonic.saturating_add(lease_ms / 3);
        }
        Ok(())
    }

    /// Renews the leases of running deliveries. Resolves differences between the slots and the database.
    async fn renew(&self, lease: Duration) -> Result<(), StoreError> {
        let before = self.slots.ids();
        let owner = self.inner.node.clone();
        let until = self.inner.now().after(lease);
        let mine = self
            .inner
            .store
            .write_queue(move |conn| {
                Box::pin(async move { conn.renew_leases(&owner, until).await })
            })
            .await?;
        // Another node has the lease, or the delivery was canceled or deleted. This run can no longer store
        // its result.
        for id in before.iter().filter(|id| !mine.contains(id)) {
            self.slots.cancel(id);
        }
        // The result of the claim was lost, or the run panicked.
        let orphans: Vec<DeliveryId> = mine.into_iter().filter(|id| !before.contains(id)).collect();
        recover::return_orphans(&self.inner, orphans, &self.slots).await
    }
}
