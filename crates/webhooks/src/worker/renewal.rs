//! Renews this node's leases every third of their duration, and requeues deliveries whose leases other nodes
//! no longer renew.

use super::{SHARED_POLL_MS, Worker, recover};
use gatehouse_domain::{Clock, DeliveryId, Fence};
use gatehouse_store::StoreError;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
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

    /// Returns the fence of a delivery that was claimed at a time of the monotonic clock. It holds while the lease does:
    /// other nodes take a lease only after they have seen no renewal for its whole duration.
    pub(super) fn fence(&self, claimed_at: u64) -> Fence {
        if !self.inner.store.engine().is_shared() {
            return Fence::default();
        }
        let lease_ms = u64::try_from(self.inner.lease().as_millis()).unwrap_or(u64::MAX);
        let (clock, renewed_at) = (Arc::clone(&self.inner.clock), Arc::clone(&self.renewed_at));
        fence_of_lease(clock, renewed_at, claimed_at, lease_ms)
    }

    /// Renews the leases of running deliveries. Resolves differences between the slots and the database.
    async fn renew(&self, lease: Duration) -> Result<(), StoreError> {
        let before = self.slots.ids();
        let began = self.inner.clock.monotonic_ms();
        let owner = self.inner.node.clone();
        let until = self.inner.now().after(lease);
        let mine = self
            .inner
            .store
            .write_queue(move |conn| {
                Box::pin(async move { conn.renew_leases(&owner, until).await })
            })
            .await?;
        self.renewed_at.store(began, Ordering::Relaxed);
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

fn fence_of_lease(
    clock: Arc<dyn Clock>,
    renewed_at: Arc<AtomicU64>,
    claimed_at: u64,
    lease_ms: u64,
) -> Fence {
    Fence::new(move || {
        let last = claimed_at.max(renewed_at.load(Ordering::Relaxed));
        clock.monotonic_ms() < last.saturating_add(lease_ms)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_domain::{ManualClock, Timestamp};

    #[test]
    fn a_fence_holds_for_the_lease_after_the_claim_or_the_last_renewal() {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(0)));
        clock.advance(Duration::from_secs(100));
        let renewed_at = Arc::new(AtomicU64::new(10_000));
        let claimed_at = clock.monotonic_ms();
        let fence = fence_of_lease(clock.clone(), Arc::clone(&renewed_at), claimed_at, 60_000);
        clock.advance(Duration::from_millis(59_999));
        assert!(fence.holds());
        clock.advance(Duration::from_millis(1));
        assert!(!fence.holds());
        // A renewal that began before the lease ended and was confirmed later.
        renewed_at.store(claimed_at + 50_000, Ordering::Relaxed);
        clock.advance(Duration::from_millis(49_999));
        assert!(fence.holds());
        clock.advance(Duration::from_millis(1));
        assert!(!fence.holds());
    }
}
