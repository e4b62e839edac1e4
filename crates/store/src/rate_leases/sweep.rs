//! Idle pools. A sweep drops them and returns their unused permits.

use super::pool::Unused;
use super::{EXPIRY_MS, RETURNED_AT_ONCE, RateKey, RateLeases};
use crate::StoreError;
use std::sync::Arc;

impl<K: RateKey> RateLeases<K> {
    /// Drops idle pools and returns their unused permits, at most once per [`EXPIRY_MS`].
    pub(super) fn sweep(self: &Arc<Self>) {
        let now_ms = self.clock.monotonic_ms();
        let mut unused: Vec<(String, Unused)> = Vec::new();
        {
            let mut pools = self.lock();
            if now_ms.saturating_sub(pools.swept_at_ms) < EXPIRY_MS {
                return;
            }
            pools.swept_at_ms = now_ms;
            pools.by_key.retain(|key, pool| {
                if !pool.is_idle(now_ms) {
                    return true;
                }
                let left = pool.take_unused();
                if left.count > 0 && unused.len() < RETURNED_AT_ONCE {
                    unused.push((key.name(), left));
                }
                false
            });
        }
        if unused.is_empty() {
            return;
        }
        let (store, window_ms) = (self.store.clone(), self.window_ms);
        self.tasks.spawn(async move {
            let write = store.write_limits(move |conn| {
                Box::pin(async move {
                    for (name, left) in &unused {
                        conn.return_rate(name, left.count, left.leased_at, window_ms)
                            .await?;
                    }
                    Ok::<_, StoreError>(())
                })
            });
            if let Err(error) = write.await {
                tracing::debug!(%error, "unused permits were not returned; they expire");
            }
        });
    }
}
