//! Deletes ended deliveries after the configured retention time. Also limits refused deliveries to the newest
//! [`REFUSED_KEPT`] per webhook and status; rejected deliveries are limited per reason as well. Deletes in small
//! batches, because other writes may have to wait. `removal` deletes the deliveries of deleted webhooks.

use crate::batch_size::BatchSize;
use crate::handle::{Inner, Webhooks};
use gatehouse_domain::{DeliveryId, Timestamp};
use gatehouse_store::{COUNTED_DAYS, Duty, OldDelivery, StoreError};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const PERIOD: Duration = Duration::from_mins(1);
/// The lease of the node that sweeps. If this node stops, another node takes over after this time.
const LEASE: Duration = Duration::from_mins(5);
/// Number of refused deliveries kept per webhook and status, and per reason for rejected ones.
pub const REFUSED_KEPT: i64 = 1000;
/// Maximum number of bytes of bodies per write. A larger single delivery is deleted alone.
const PIECE_BYTES: i64 = 8 * 1024 * 1024;
/// If IDs are further ahead of the clock than this, in milliseconds, they do not indicate the age of a delivery.
const AHEAD_MS: u64 = 3_600_000;
const DAY: Duration = Duration::from_hours(24);

/// Runs a sweep every minute until `stop`.
pub(crate) async fn serve(inner: Arc<Inner>, stop: CancellationToken) {
    let webhooks = Webhooks(inner);
    let duty = Duty::new("deliveries.sweep", LEASE);
    let sweeps = async {
        loop {
            tokio::time::sleep(PERIOD).await;
            let swept = async {
                let inner = &webhooks.0;
                if duty.claim(&inner.store, &inner.clock, &inner.node).await? {
                    webhooks.sweep().await?;
                }
                Ok::<_, StoreError>(())
            };
            if let Err(error) = swept.await {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(error, "old deliveries could not be removed");
            }
        }
    };
    stop.run_until_cancelled(sweeps).await;
}

impl Webhooks {
    /// Runs one sweep and returns the number of deleted deliveries. Sweeps also run every minute in the
    /// background.
    pub async fn sweep(&self) -> Result<u64, StoreError> {
        let removed = self.0.sweep_old().await? + self.0.sweep_refused().await?;
        self.0.release_free_pages().await?;
        Ok(removed)
    }
}

impl Inner {
    async fn sweep_old(&self) -> Result<u64, StoreError> {
        let kept = DAY.saturating_mul(self.settings.load().section.retention_days.max(1));
        let kept_ms = i64::try_from(kept.as_millis()).unwrap_or(i64::MAX);
        let now = self.sweep_now().await?;
        let before = Timestamp::from_millis(now.as_millis().saturating_sub(kept_ms));
        let ids_are_ahead = self.delivery_ids.ahead_of(self.now()) > AHEAD_MS;
        let counted = DAY.saturating_mul(COUNTED_DAYS);
        let counted_ms = i64::try_from(counted.as_millis()).unwrap_or(i64::MAX);
        let counted_from = Timestamp::from_millis(now.as_millis().saturating_sub(counted_ms));
        let (mut removed, mut batch) = (0, BatchSize::of_rows());
        loop {
            let rows = batch.limit();
            let old = self
                .store
                .read(move |conn| {
                    Box::pin(
                        async move { conn.list_old_deliveries(before, ids_are_ahead, rows).await },
                    )
                })
                .await?;
            match self.remove(piece(old), &mut batch).await? {
                0 => break,
                more => removed += more,
            }
        }
        if removed > 0 {
            self.store
                .write_queue(move |conn| {
                    Box::pin(async move {
                        conn.delete_old_delivery_counts(counted_from).await?;
                        conn.delete_unused_delivery_configs(before).await
                    })
                })
                .await?;
        }
        Ok(removed)
    }

    /// Returns surplus free pages of the database file to the file system.
    async fn release_free_pages(&self) -> Result<(), StoreError> {
        let mut batch = BatchSize::of_pages();
        loop {
            let limit = batch.limit();
            let began = self.clock.monotonic_ms();
            let release = self.store.write_queue(move |conn| {
                Box::pin(async move { conn.release_free_pages(limit).await })
            });
            if release.await? == 0 {
                return Ok(());
            }
            let took = self.clock.monotonic_ms().saturating_sub(began);
            tokio::time::sleep(batch.took(took)).await;
        }
    }

    async fn sweep_refused(&self) -> Result<u64, StoreError> {
        let piles = self
            .store
            .read(|conn| Box::pin(async move { conn.list_refused_groups(REFUSED_KEPT).await }))
            .await?;
        let (mut removed, mut batch) = (0, BatchSize::of_rows());
        for pile in piles {
            let mut left = pile.count.saturating_sub(REFUSED_KEPT);
            while left > 0 {
                let (of, limit) = (pile.clone(), left.min(batch.limit()));
                let oldest = self
                    .store
                    .read(move |conn| {
                        Box::pin(async move { conn.list_oldest_refused(&of, limit).await })
                    })
                    .await?;
                if oldest.is_empty() {
                    break;
                }
                let oldest = piece(oldest);
                left -= i64::try_from(oldest.len()).unwrap_or(left);
                removed += self.remove(oldest, &mut batch).await?;
            }
        }
        Ok(removed)
    }

    async fn remove(&self, ids: Vec<DeliveryId>, batch: &mut BatchSize) -> Result<u64, StoreError> {
        if ids.is_empty() {
            return Ok(0);
        }
        let began = self.clock.monotonic_ms();
        let removed = self
            .store
            .write_queue(move |conn| {
                Box::pin(async move { conn.delete_old_deliveries(&ids).await })
            })
            .await?;
        let took = self.clock.monotonic_ms().saturating_sub(began);
        tokio::time::sleep(batch.took(took)).await;
        Ok(removed)
    }
}

/// Returns the first deliveries up to the limit of one write, but at least one.
fn piece(old: Vec<OldDelivery>) -> Vec<DeliveryId> {
    let mut bytes: i64 = 0;
    let fits = |one: &OldDelivery| {
        let is_first = bytes == 0;
        bytes = bytes.saturating_add(one.body_bytes.max(1));
        is_first || bytes <= PIECE_BYTES
    };
    old.into_iter().take_while(fits).map(|one| one.id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_has_at_least_one_and_at_most_its_bytes() {
        let old = |sizes: &[i64]| {
            let rows = sizes.iter().enumerate();
            rows.map(|(n, bytes)| OldDelivery {
                id: DeliveryId::from_text(format!("del_{n}")),
                body_bytes: *bytes,
            })
            .collect::<Vec<_>>()
        };
        assert_eq!(piece(old(&[])).len(), 0);
        assert_eq!(piece(old(&[PIECE_BYTES * 2, 1])).len(), 1);
        assert_eq!(piece(old(&[PIECE_BYTES - 1, 1, 1])).len(), 2);
        assert_eq!(piece(old(&[0; 500])).len(), 500);
    }
}
