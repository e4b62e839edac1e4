//! Sweeps old deliveries away: those that are over and older than the setting says, and of those that
//! were refused all but the newest of each webhook and kind; rejected ones of each reason. In small pieces:
//! nothing else can be written at the same time. What a deleted webhook leaves is not this module's.

use crate::handle::{Inner, Webhooks};
use crate::pieces::Pieces;
use gatehouse_domain::{DeliveryId, Timestamp};
use gatehouse_store::{OldDelivery, StoreError};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How often.
const PERIOD: Duration = Duration::from_mins(1);
/// How many refused deliveries of one kind, and rejected ones of one reason, a webhook keeps.
pub const REFUSED_KEPT: i64 = 1000;
/// How many bytes of bodies one write removes at most; a single larger one goes alone.
const PIECE_BYTES: i64 = 8 * 1024 * 1024;
/// Ids that are further ahead of the clock, in milliseconds, do not tell how old a delivery is: an hour.
const AHEAD_MS: u64 = 3_600_000;
const DAY: Duration = Duration::from_hours(24);

/// Sweeps until it is stopped.
pub(crate) async fn serve(inner: Arc<Inner>, stop: CancellationToken) {
    let webhooks = Webhooks(inner);
    let sweeps = async {
        loop {
            tokio::time::sleep(PERIOD).await;
            if let Err(error) = webhooks.sweep().await {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(error, "old deliveries could not be removed");
            }
        }
    };
    stop.run_until_cancelled(sweeps).await;
}

impl Webhooks {
    /// Removes what is too old or too much; how many deliveries that were. Runs each minute by itself.
    pub async fn sweep(&self) -> Result<u64, StoreError> {
        let by_age = self.0.sweep_old().await?;
        Ok(by_age + self.0.sweep_refused().await?)
    }
}

impl Inner {
    async fn sweep_old(&self) -> Result<u64, StoreError> {
        let kept = DAY.saturating_mul(self.settings.load().retention_days.max(1));
        let kept_ms = i64::try_from(kept.as_millis()).unwrap_or(i64::MAX);
        let now = self.sweep_now().await?;
        let before = Timestamp::from_millis(now.as_millis().saturating_sub(kept_ms));
        let ids_are_ahead = self.delivery_ids.ahead_of(self.now()) > AHEAD_MS;
        let (mut removed, mut pieces) = (0, Pieces::default());
        loop {
            let rows = pieces.rows();
            let old = self
                .store
                .read(move |conn| {
                    Box::pin(
                        async move { conn.list_old_deliveries(before, ids_are_ahead, rows).await },
                    )
                })
                .await?;
            match self.remove(piece(old), &mut pieces).await? {
                0 => break,
                more => removed += more,
            }
        }
        if removed > 0 {
            self.store
                .write_queue(move |conn| {
                    Box::pin(async move { conn.delete_unused_delivery_configs(before).await })
                })
                .await?;
        }
        Ok(removed)
    }

    async fn sweep_refused(&self) -> Result<u64, StoreError> {
        let piles = self
            .store
            .read(|conn| Box::pin(async move { conn.list_refused_piles(REFUSED_KEPT).await }))
            .await?;
        let (mut removed, mut pieces) = (0, Pieces::default());
        for pile in piles {
            let mut left = pile.count.saturating_sub(REFUSED_KEPT);
            while left > 0 {
                let (of, limit) = (pile.clone(), left.min(pieces.rows()));
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
                removed += self.remove(oldest, &mut pieces).await?;
            }
        }
        Ok(removed)
    }

    async fn remove(&self, ids: Vec<DeliveryId>, pieces: &mut Pieces) -> Result<u64, StoreError> {
        if ids.is_empty() {
            return Ok(0);
        }
        let began = self.clock.monotonic_ms();
        let removed = self
            .store
            .write(move |conn| Box::pin(async move { conn.delete_old_deliveries(&ids).await }))
            .await?;
        let took = self.clock.monotonic_ms().saturating_sub(began);
        tokio::time::sleep(pieces.took(took)).await;
        Ok(removed)
    }
}

/// As many of them as one write should remove: at least one.
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
