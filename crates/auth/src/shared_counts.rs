//! Counts that all nodes of a database share, in addition to the counts of this node. Empty if the database has one
//! node.

use crate::throttle::RetryAfter;
use gatehouse_domain::Clock;
use gatehouse_store::{RateKey, RateLeases, RatePermit, Store, StoreError};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

/// How long a request waits for the database. After that, only the count of this node applies.
const PATIENCE: Duration = Duration::from_secs(2);

/// How many requests may ask the database at once under limits that only bound the load. A flood from many addresses
/// must not delay other writes of permits.
const AT_ONCE: usize = 16;

/// What a limit is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Guesses of a password. Always counted over all nodes.
    Guesses,
    /// The load. In a flood from many addresses, each node counts for itself.
    Load,
}

#[derive(Debug)]
pub(crate) struct SharedCounts<K: RateKey> {
    leases: Option<Arc<RateLeases<K>>>,
    asking: Semaphore,
    /// Whether the database could not be asked. Logged when it changes.
    is_down: AtomicBool,
}

/// The places of a request. They count unless they are returned.
#[derive(Debug)]
#[must_use = "places that are not given back count"]
pub(crate) struct Permits<K: RateKey>(Vec<RatePermit<K>>);

impl<K: RateKey> Permits<K> {
    pub(crate) fn give_back(mut self) {
        for permit in &mut self.0 {
            permit.set_used(false);
        }
    }
}

impl<K: RateKey> SharedCounts<K> {
    pub(crate) fn new(
        store: &Store,
        clock: &Arc<dyn Clock>,
        tasks: &TaskTracker,
        window_ms: u32,
    ) -> Self {
        let leases = || {
            let (store, clock) = (store.clone(), Arc::clone(clock));
            Arc::new(RateLeases::new(store, clock, tasks.clone(), window_ms))
        };
        Self {
            leases: store.engine().is_shared().then(leases),
            asking: Semaphore::new(AT_ONCE),
            is_down: AtomicBool::new(false),
        }
    }

    /// Counts one event for each key, with its limit. If the database cannot be asked, none is counted: an outage must
    /// not keep the owner out, and the count of this node still applies.
    pub(crate) async fn take(
        &self,
        purpose: Purpose,
        keys: impl Iterator<Item = (K, u32)>,
    ) -> Result<Permits<K>, RetryAfter> {
        let Some(leases) = &self.leases else {
            return Ok(Permits(Vec::new()));
        };
        let turn = self.asking.try_acquire();
        if turn.is_err() && purpose == Purpose::Load {
            return Ok(Permits(Vec::new()));
        }
        let taken = timeout(PATIENCE, take_all(leases, keys)).await;
        let failure = match taken {
            Ok(Ok(decided)) => {
                self.is_down.store(false, Ordering::Relaxed);
                return decided;
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => "the database did not answer in time".to_owned(),
        };
        if !self.is_down.swap(true, Ordering::Relaxed) {
            tracing::warn!(error = failure, "rate limits apply to each node separately");
        }
        Ok(Permits(Vec::new()))
    }
}

async fn take_all<K: RateKey>(
    leases: &Arc<RateLeases<K>>,
    keys: impl Iterator<Item = (K, u32)>,
) -> Result<Result<Permits<K>, RetryAfter>, StoreError> {
    let mut permits = Permits(Vec::new());
    for (key, limit) in keys {
        match leases.take(key, (1, limit)).await? {
            Ok(permit) => permits.0.push(permit),
            Err(refused) => {
                return Ok(Err(RetryAfter {
                    ms: refused.wait_ms,
                }));
            }
        }
    }
    for permit in &mut permits.0 {
        permit.set_used(true);
    }
    Ok(Ok(permits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_domain::{ManualClock, Timestamp};
    use gatehouse_store::testing::postgres;

    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    struct Key(usize);

    impl RateKey for Key {
        fn name(&self) -> String {
            format!("test:{}", self.0)
        }
    }

    #[tokio::test]
    async fn in_a_flood_only_guesses_are_counted_over_all_nodes() {
        let Some(database) = postgres().await else {
            return;
        };
        let store = database.open().await;
        let clock: Arc<dyn Clock> = Arc::new(ManualClock::at(Timestamp::from_millis(0)));
        let counts = SharedCounts::new(&store, &clock, &TaskTracker::new(), 60_000);
        let taken = async |purpose, number| {
            let key = std::iter::once((Key(number), 5));
            let permits = counts.take(purpose, key).await.unwrap();
            permits.0.len()
        };
        let mut turns: Vec<_> = (1..AT_ONCE)
            .map(|_| counts.asking.try_acquire().unwrap())
            .collect();
        assert_eq!(taken(Purpose::Load, 1).await, 1);
        turns.push(counts.asking.try_acquire().unwrap());
        assert_eq!(taken(Purpose::Load, 2).await, 0);
        assert_eq!(taken(Purpose::Guesses, 3).await, 1);
        drop(turns);
        assert_eq!(taken(Purpose::Load, 2).await, 1);
        store.close().await;
    }
}
