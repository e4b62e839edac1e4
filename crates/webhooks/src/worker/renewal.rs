//! Renews this node's leases every third of their duration, and requeues deliveries whose leases other nodes
//! no longer renew.

use super::{SHARED_POLL_MS, Worker, recover};
use gatehouse_domain::{DeliveryId, Fence, ReadSpan};
use gatehouse_store::StoreError;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

impl Worker {
    /// Renews this node's leases when due, and requeues deliveries with expired leases of other nodes.
    pub(super) async fn keep_leases(&mut self) -> Result<(), StoreError> {
        let lease = self.inner.lease();
        let lease_ms = self.inner.lease_ms();
        let monotonic = self.inner.clock.monotonic_ms();
        // The setting may have become shorter since the last renewal.
        self.renew_at = self.renew_at.min(monotonic.saturating_add(lease_ms / 3));
        let must_renew = monotonic >= self.renew_at;
        if !must_renew && !self.inner.store.engine().is_shared() {
            return Ok(());
        }
        // Leases expire only after seconds, so a busy node need not check them in every iteration.
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
        let read = ReadSpan {
            began_ms: monotonic,
            ended_ms: self.inner.clock.monotonic_ms(),
        };
        let lost = self.watch.lost(rows, &self.inner.node, read, lease_ms);
        recover::return_lost(&self.inner, lost).await?;
        // Uses the end of the read, because the read may have taken long.
        if read.ended_ms >= self.renew_at {
            if has_own || self.slots.len() > 0 {
                self.renew(lease).await?;
            }
            self.renew_at = read.ended_ms.saturating_add(lease_ms / 3);
        }
        Ok(())
    }

    /// Returns the fence of a delivery whose claim began at a time of the monotonic clock. The fence is open while
    /// the lease is valid: other nodes take over a lease only if they have seen no renewal for its whole duration.
    pub(super) fn fence(&self, claimed_at: u64, cancel: CancellationToken) -> Fence {
        if !self.inner.store.engine().is_shared() {
            return Fence::default();
        }
        let claim = Renewal {
            at: claimed_at,
            lease_ms: self.inner.lease_ms(),
        };
        let (inner, renewed) = (Arc::clone(&self.inner), Arc::clone(&self.renewed));
        Fence::new(move || {
            let (now, lease_ms) = (inner.clock.monotonic_ms(), inner.lease_ms());
            let renewal = *renewed.lock().unwrap_or_else(PoisonError::into_inner);
            !cancel.is_cancelled() && (claim.holds(now, lease_ms) || renewal.holds(now, lease_ms))
        })
    }

    /// Renews the leases of running deliveries. Resolves differences between the slots and the database.
    async fn renew(&self, lease: Duration) -> Result<(), StoreError> {
        let before = self.slots.attempts();
        let renewal = Renewal {
            at: self.inner.clock.monotonic_ms(),
            lease_ms: self.inner.lease_ms(),
        };
        let owner = self.inner.node.clone();
        let until = self.inner.now().after(lease);
        let mine = self
            .inner
            .store
            .write_queue(move |conn| {
                Box::pin(async move { conn.renew_leases(&owner, until).await })
            })
            .await?;
        // Another node has the lease, or the delivery was canceled or deleted. This run can no longer store its
        // result.
        for attempt in before.iter().filter(|attempt| !mine.contains(attempt)) {
            self.slots.cancel(attempt);
        }
        *self.renewed.lock().unwrap_or_else(PoisonError::into_inner) = renewal;
        // The result of the claim was lost, or the run panicked.
        let orphans = mine.into_iter().filter(|attempt| !before.contains(attempt));
        let orphans: Vec<DeliveryId> = orphans.map(|(id, _)| id).collect();
        recover::return_orphans(&self.inner, orphans, &self.slots).await
    }
}

/// When leases were last written, and the lease duration at that time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Renewal {
    /// The time at which the write began, in milliseconds of the monotonic clock.
    at: u64,
    lease_ms: u64,
}

impl Renewal {
    /// Returns whether the lease that was written at this time is still valid. `lease_ms` is the current lease
    /// duration. If the setting was reduced, other nodes take over leases earlier.
    fn holds(self, now: u64, lease_ms: u64) -> bool {
        now < self.at.saturating_add(self.lease_ms.min(lease_ms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_holds_for_the_shorter_of_its_durations() {
        let renewal = Renewal {
            at: 100_000,
            lease_ms: 60_000,
        };
        assert!(renewal.holds(159_999, 60_000));
        assert!(!renewal.holds(160_000, 60_000));
        // The setting has changed since the renewal.
        assert!(!renewal.holds(160_000, 600_000));
        assert!(renewal.holds(129_999, 30_000));
        assert!(!renewal.holds(130_000, 30_000));
        assert!(!Renewal::default().holds(0, 60_000));
    }
}
