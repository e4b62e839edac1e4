//! Rate limits that all nodes of a database share. A node takes permits from the database in batches, so that few
//! deliveries wait for it. The size of a batch follows the rate, up to a fortieth of the limit, and unused permits
//! expire soon. This bounds how much a node can hold back, or use after the database has freed it.

use crate::limits::{PerMinute, Refused};
use gatehouse_domain::{Clock, WebhookId};
use gatehouse_store::{RateLease, Store, StoreError};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, OwnedMutexGuard};
use tokio_util::task::TaskTracker;

/// The largest batch as a part of the limit.
const PART: u32 = 40;
/// The largest batch.
const MOST: u32 = 1_000;
/// When the unused permits of a batch expire.
const EXPIRY_MS: u64 = 10_000;
/// The next batch is larger if one is used up within this time.
const SOON_MS: u64 = 5_000;
/// For how long a refusal is repeated without asking the database, unless the limit changes.
const REFUSED_MS: u64 = 1_000;

/// A webhook's limit, or that of all webhooks.
type Key = Option<WebhookId>;

/// The permits of a limit on this node. Times are in milliseconds of the monotonic clock.
#[derive(Debug, Default)]
struct Pool {
    left: u32,
    /// Permits of deliveries that are neither stored nor rejected yet.
    undecided: usize,
    /// The size of the last batch, and when it was taken.
    batch: u32,
    taken_at_ms: u64,
    refusal: Option<Refusal>,
    /// Held while a batch is taken from the database.
    leasing: Arc<tokio::sync::Mutex<()>>,
}

/// The database had no permit.
#[derive(Clone, Copy, Debug)]
struct Refusal {
    limit: u32,
    /// When the next permits become free.
    free_at_ms: u64,
    /// When the database is asked again.
    until_ms: u64,
}

impl Pool {
    /// Takes a permit of the last batch, or repeats a refusal. `None` if the database must be asked.
    fn take(&mut self, limit: u32, now_ms: u64) -> Option<Result<(), Refused>> {
        if self.left > 0 && now_ms.saturating_sub(self.taken_at_ms) < EXPIRY_MS {
            self.left -= 1;
            self.undecided += 1;
            return Some(Ok(()));
        }
        let refusal = self
            .refusal
            .filter(|it| it.limit == limit && now_ms < it.until_ms)?;
        Some(Err(Refused {
            wait_ms: refusal.free_at_ms.saturating_sub(now_ms).max(1),
            undecided: self.undecided > 0,
        }))
    }

    /// Discards what is left of a batch that is used up or has expired. Returns the size of the next one: twice the last
    /// one if that was used up soon, else what was used of it.
    fn begin_batch(&mut self, limit: u32, now_ms: u64) -> u32 {
        let left = std::mem::take(&mut self.left);
        let used = self.batch.saturating_sub(left);
        let is_soon = now_ms.saturating_sub(self.taken_at_ms) < SOON_MS;
        let next = if left == 0 && is_soon {
            self.batch.saturating_mul(2)
        } else {
            used
        };
        next.clamp(1, (limit / PART).clamp(1, MOST))
    }

    /// Adds a batch to the permits that were returned since [`Self::begin_batch`].
    fn add(&mut self, lease: RateLease, limit: u32, now_ms: u64, wait_ms: u64) {
        self.left = self.left.saturating_add(lease.granted);
        self.batch = lease.granted;
        self.taken_at_ms = now_ms;
        self.refusal = (self.left == 0).then(|| Refusal {
            limit,
            free_at_ms: now_ms.saturating_add(wait_ms),
            until_ms: now_ms.saturating_add(wait_ms.min(REFUSED_MS)),
        });
    }

    /// A permit was used, or is returned.
    fn settle(&mut self, is_used: bool) {
        self.undecided = self.undecided.saturating_sub(1);
        if !is_used {
            self.left = self.left.saturating_add(1);
            self.refusal = None;
        }
    }
}

/// The shared rate limits, on this node.
#[derive(Debug)]
pub(crate) struct SharedLimits {
    store: Store,
    clock: Arc<dyn Clock>,
    tasks: TaskTracker,
    pools: Mutex<HashMap<Key, Pool>>,
    /// Notified whenever an undecided permit is used or returned.
    settled: Notify,
}

/// A permit of one limit. Returned to this node on drop unless used.
#[derive(Debug)]
struct Permit {
    limits: Arc<SharedLimits>,
    key: Key,
    is_used: bool,
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(pool) = self.limits.pools().get_mut(&self.key) {
            pool.settle(self.is_used);
        }
        self.limits.settled.notify_waiters();
    }
}

/// A permit of a webhook and of the limit of all.
#[derive(Debug)]
pub(crate) struct SharedPermit([Permit; 2]);

impl SharedPermit {
    /// Decides whether the permit is used or returned on drop.
    pub(crate) fn set_used(&mut self, is_used: bool) {
        for permit in &mut self.0 {
            permit.is_used = is_used;
        }
    }
}

impl SharedLimits {
    pub(crate) fn new(store: Store, clock: Arc<dyn Clock>, tasks: TaskTracker) -> Self {
        Self {
            store,
            clock,
            tasks,
            pools: Mutex::default(),
            settled: Notify::new(),
        }
    }

    fn pools(&self) -> MutexGuard<'_, HashMap<Key, Pool>> {
        // The counts remain usable even if a thread panicked while it held the lock.
        self.pools.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Like [`Self::take`], but waits for undecided permits and retries, at most three times, because a duplicate or a
    /// failed write returns its permit.
    pub(crate) async fn take_decided(
        self: &Arc<Self>,
        webhook: &WebhookId,
        limits: PerMinute,
    ) -> Result<Result<SharedPermit, Refused>, StoreError> {
        const TRIES: usize = 3;
        for _ in 0..TRIES {
            let settled = self.settled.notified();
            match self.take(webhook, limits).await? {
                Err(refused) if refused.undecided => settled.await,
                decided => return Ok(decided),
            }
        }
        self.take(webhook, limits).await
    }

    /// Takes a permit, or returns how long to wait.
    pub(crate) async fn take(
        self: &Arc<Self>,
        webhook: &WebhookId,
        limits: PerMinute,
    ) -> Result<Result<SharedPermit, Refused>, StoreError> {
        let own = match self.take_one(Some(webhook.clone()), limits.webhook).await? {
            Ok(permit) => permit,
            Err(refused) => return Ok(Err(refused)),
        };
        let global = self.take_one(None, limits.global).await?;
        Ok(global.map(|global| SharedPermit([own, global])))
    }

    async fn take_one(
        self: &Arc<Self>,
        key: Key,
        limit: u32,
    ) -> Result<Result<Permit, Refused>, StoreError> {
        loop {
            let leasing = match self.take_here(&key, limit) {
                Ok(taken) => return Ok(taken.map(|()| self.permit(key))),
                Err(leasing) => leasing,
            };
            let turn = leasing.lock_owned().await;
            // Another delivery may have fetched a batch meanwhile.
            if let Ok(taken) = self.take_here(&key, limit) {
                return Ok(taken.map(|()| self.permit(key)));
            }
            // In a task of its own: a sender who disconnects must not lose a batch that the database has granted.
            let lease = Arc::clone(self).lease(key.clone(), limit, turn);
            let stopped = || StoreError::NotCommitted("a rate limit was not read".to_owned());
            self.tasks.spawn(lease).await.map_err(|_| stopped())??;
        }
    }

    fn permit(self: &Arc<Self>, key: Key) -> Permit {
        Permit {
            limits: Arc::clone(self),
            key,
            is_used: false,
        }
    }

    /// Decides without the database if possible. Otherwise returns the lock for asking it.
    fn take_here(
        &self,
        key: &Key,
        limit: u32,
    ) -> Result<Result<(), Refused>, Arc<tokio::sync::Mutex<()>>> {
        let now_ms = self.clock.monotonic_ms();
        let mut pools = self.pools();
        let pool = pools.entry(key.clone()).or_default();
        pool.take(limit, now_ms)
            .ok_or_else(|| Arc::clone(&pool.leasing))
    }

    /// Takes a batch from the database.
    async fn lease(
        self: Arc<Self>,
        key: Key,
        limit: u32,
        _turn: OwnedMutexGuard<()>,
    ) -> Result<(), StoreError> {
        let wanted = {
            let now_ms = self.clock.monotonic_ms();
            let mut pools = self.pools();
            pools
                .entry(key.clone())
                .or_default()
                .begin_batch(limit, now_ms)
        };
        let name = format!("deliveries:{}", key.as_ref().map_or("", WebhookId::as_str));
        let now = self.clock.now();
        let write = self.store.write_limits(move |conn| {
            Box::pin(async move { conn.lease_rate(&name, (wanted, limit), now).await })
        });
        let lease = write.await?;
        let wait = self.clock.now().until(lease.next_at);
        let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(1).max(1);
        let now_ms = self.clock.monotonic_ms();
        let mut pools = self.pools();
        let pool = pools.entry(key).or_default();
        pool.add(lease, limit, now_ms, wait_ms);
        Ok(())
    }

    /// Discards the permits of a deleted webhook.
    pub(crate) fn forget(&self, webhook: &WebhookId) {
        self.pools().remove(&Some(webhook.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_domain::Timestamp;

    fn granted(count: u32) -> RateLease {
        RateLease {
            granted: count,
            next_at: Timestamp::from_millis(0),
        }
    }

    fn taken(pool: &mut Pool, now_ms: u64) -> usize {
        std::iter::from_fn(|| pool.take(1_000, now_ms).filter(Result::is_ok)).count()
    }

    #[test]
    fn batches_follow_the_rate() {
        let mut pool = Pool::default();
        let mut sizes = Vec::new();
        for now_ms in [0, 100, 200, 300, 400, 500] {
            let wanted = pool.begin_batch(1_000, now_ms);
            sizes.push(wanted);
            pool.add(granted(wanted), 1_000, now_ms, 1);
            assert_eq!(taken(&mut pool, now_ms), wanted as usize);
        }
        assert_eq!(sizes, [1, 2, 4, 8, 16, 25]);
        // Slower: as many as were used of a batch that expired.
        pool.add(granted(25), 1_000, 1_000, 1);
        assert!(pool.take(1_000, 10_999).is_some());
        assert!(pool.take(1_000, 11_000).is_none(), "expired");
        assert_eq!(pool.begin_batch(1_000, 11_000), 1);
        assert_eq!(pool.begin_batch(20, 11_000), 1, "at least one");
    }

    #[test]
    fn a_permit_returned_while_a_batch_is_taken_is_kept() {
        for granted_then in [0, 1] {
            let mut pool = Pool::default();
            pool.add(granted(1), 2, 0, 1);
            assert!(pool.take(2, 0).unwrap().is_ok());
            pool.begin_batch(2, 0);
            pool.settle(false);
            pool.add(granted(granted_then), 2, 0, 1);
            assert_eq!(taken(&mut pool, 0), 1 + granted_then as usize);
        }
    }

    #[test]
    fn a_refusal_is_repeated_for_a_second_and_for_its_limit() {
        let mut pool = Pool::default();
        pool.add(granted(0), 1_000, 0, 30_000);
        for (limit, now_ms, wait_ms) in [(1_000, 0, Some(30_000)), (1_000, 999, Some(29_001))] {
            let refused = pool.take(limit, now_ms).unwrap().unwrap_err();
            assert_eq!(Some(refused.wait_ms), wait_ms);
        }
        assert!(pool.take(1_000, 1_000).is_none());
        assert!(pool.take(1_001, 0).is_none());
    }
}
