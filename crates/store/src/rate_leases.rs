//! Rate limits that all nodes of a database share. A node takes permits from the database in batches, so that few
//! events wait for the database. The size of a batch follows the rate, up to a fortieth of the limit. Unused
//! permits expire after a few seconds and are then returned. The expiry limits how many permits a node can hold
//! back, or use after the database has freed them. The times of permits come from the database clock, because the
//! clocks of the nodes may differ.

mod permit;
mod pool;
mod sweep;

use crate::rate_permits::RateRequest;
use crate::{Store, StoreError};
use gatehouse_domain::{Clock, Timestamp};
pub use permit::RatePermit;
use pool::Pool;
use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, OwnedMutexGuard};
use tokio_util::task::TaskTracker;

/// The divisor of the limit that gives the size of the largest batch.
const PART: u32 = 40;
/// The maximum size of a batch, for any limit.
const MOST: u32 = 1_000;
/// How long unused permits of a batch are valid.
const EXPIRY_MS: u64 = 10_000;
/// If a batch is used up within this time, the next one is larger.
const SOON_MS: u64 = 5_000;
/// How long a refusal is repeated without a query, unless the limit changes. Permits that another node returns
/// during this time are ignored.
const REFUSED_MS: u64 = 10_000;
/// Maximum number of expired permits that are returned in one transaction.
const RETURNED_AT_ONCE: usize = 500;

/// The subject of a limit, such as a webhook or a client.
pub trait RateKey: Clone + Eq + Hash + Send + Sync + fmt::Debug + 'static {
    /// Returns the name of the limit in the database, unique among all kinds of keys.
    fn name(&self) -> String;
}

/// The result if a limit was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateRefused {
    /// Milliseconds until a permit may be free, at least 1.
    pub wait_ms: u64,
    /// Whether the limit has undecided permits, which may be returned at any time.
    pub undecided: bool,
}

/// One moment on the monotonic clock and on the clock of the database.
#[derive(Clone, Copy, Debug)]
struct Moment {
    monotonic_ms: u64,
    time: Timestamp,
}

/// Returns the milliseconds until `next_at`, at least 1. The current time is `elapsed_ms` after `time`. The shared
/// clock is read only once per batch, because a second reading could come from another clock.
fn wait_ms((time, next_at): (Timestamp, Timestamp), elapsed_ms: u64) -> u64 {
    let wait = time.after(Duration::from_millis(elapsed_ms)).until(next_at);
    u64::try_from(wait.as_millis()).unwrap_or(1).max(1)
}

#[derive(Debug)]
struct Pools<K> {
    by_key: HashMap<K, Pool>,
    swept_at_ms: u64,
}

/// The state of the shared rate limits on this node.
#[derive(Debug)]
pub struct RateLeases<K> {
    store: Store,
    clock: Arc<dyn Clock>,
    tasks: TaskTracker,
    /// The window of every limit in milliseconds, at least a minute.
    window_ms: u32,
    pools: Mutex<Pools<K>>,
    /// Notified when an undecided permit is used or returned.
    settled: Notify,
}

impl<K: RateKey> RateLeases<K> {
    /// Creates limits over windows of `window_ms` milliseconds, at least a minute.
    pub fn new(store: Store, clock: Arc<dyn Clock>, tasks: TaskTracker, window_ms: u32) -> Self {
        let pools = Pools {
            by_key: HashMap::new(),
            swept_at_ms: clock.monotonic_ms(),
        };
        Self {
            store,
            clock,
            tasks,
            window_ms,
            pools: Mutex::new(pools),
            settled: Notify::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Pools<K>> {
        // The counts remain usable even if a thread panicked while it held the lock.
        self.pools.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a future that completes when an undecided permit is used or returned after this call.
    pub fn settled(&self) -> tokio::sync::futures::Notified<'_> {
        self.settled.notified()
    }

    /// Takes `count` permits, or returns how long to wait.
    pub async fn take(
        self: &Arc<Self>,
        key: K,
        (count, limit): (u32, u32),
    ) -> Result<Result<RatePermit<K>, RateRefused>, StoreError> {
        if count > limit {
            return Ok(Err(RateRefused {
                wait_ms: u64::from(self.window_ms),
                undecided: false,
            }));
        }
        self.sweep();
        loop {
            let leasing = match self.take_here(&key, count, limit) {
                Ok(taken) => return Ok(taken.map(|()| self.permit(key, count))),
                Err(leasing) => leasing,
            };
            let turn = leasing.lock_owned().await;
            // Another caller may have fetched a batch in between.
            if let Ok(taken) = self.take_here(&key, count, limit) {
                return Ok(taken.map(|()| self.permit(key, count)));
            }
            // A separate task, so that a batch that the database has granted is not lost if the caller disconnects.
            let lease = Arc::clone(self).lease(key.clone(), (count, limit), turn);
            let stopped = || StoreError::NotCommitted("a rate limit was not read".to_owned());
            self.tasks.spawn(lease).await.map_err(|_| stopped())??;
        }
    }

    /// Returns how long to wait if the last query has shown that the limit is reached. Does not query the database.
    pub fn refusal(&self, key: &K, limit: u32) -> Option<RateRefused> {
        let now_ms = self.clock.monotonic_ms();
        self.lock().by_key.get(key)?.refused(limit, now_ms)
    }

    fn permit(self: &Arc<Self>, key: K, count: u32) -> RatePermit<K> {
        RatePermit {
            leases: Arc::clone(self),
            key,
            count,
            is_used: false,
        }
    }

    /// Decides without the database if possible. Otherwise returns the lock that a query requires.
    fn take_here(
        &self,
        key: &K,
        count: u32,
        limit: u32,
    ) -> Result<Result<(), RateRefused>, Arc<tokio::sync::Mutex<()>>> {
        let now_ms = self.clock.monotonic_ms();
        let mut pools = self.lock();
        let pool = pools.by_key.entry(key.clone()).or_default();
        pool.take(count, limit, now_ms)
            .ok_or_else(|| Arc::clone(&pool.leasing))
    }

    /// Takes a batch from the database.
    async fn lease(
        self: Arc<Self>,
        key: K,
        (count, limit): (u32, u32),
        _turn: OwnedMutexGuard<()>,
    ) -> Result<(), StoreError> {
        let time = self.store.shared_now(&self.clock).await;
        let began_ms = self.clock.monotonic_ms();
        let (unused, wanted) = {
            let mut pools = self.lock();
            let pool = pools.by_key.entry(key.clone()).or_default();
            pool.begin_batch(count, limit, began_ms)
        };
        let (name, window_ms) = (key.name(), self.window_ms);
        let write = self.store.write_limits(move |conn| {
            Box::pin(async move {
                if unused.count > 0 {
                    conn.return_rate(&name, unused.count, unused.leased_at, window_ms)
                        .await?;
                }
                let request = RateRequest {
                    wanted,
                    limit,
                    window_ms,
                };
                conn.lease_rate(&name, request, time).await
            })
        });
        let lease = write.await?;
        let now_ms = self.clock.monotonic_ms();
        let wait_ms = wait_ms((time, lease.next_at), now_ms.saturating_sub(began_ms));
        // The permits count from the start of the query, so a slow query does not extend their validity.
        let at = Moment {
            monotonic_ms: began_ms,
            time,
        };
        let mut pools = self.lock();
        let pool = pools.by_key.entry(key).or_default();
        pool.add(lease, (count, limit), at, (now_ms, wait_ms));
        Ok(())
    }

    /// Discards the permits of a limit that no longer exists.
    pub fn forget(&self, key: &K) {
        self.lock().by_key.remove(key);
    }
}

#[cfg(test)]
mod tests;
