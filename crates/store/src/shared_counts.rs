//! Counts that all nodes of a PostgreSQL database share. They apply in addition to the counts of each node. On
//! SQLite, nothing is shared.

use crate::{RateKey, RateLeases, RatePermit, RateRefused, Store, StoreError};
use gatehouse_domain::Clock;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

/// How long a request waits for the database. After this time, only the count of this node applies.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Maximum number of requests that wait for the database at once. Requests from many addresses must not delay other
/// writes of permits.
const AT_ONCE: usize = 16;

/// The subject of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Password guesses. If requests arrive from many addresses, guesses wait for their turn.
    Guesses,
    /// The load, and counts that other requests must not delay. If requests arrive from many addresses, each node
    /// counts alone.
    Load,
}

/// The shared counts under the limits of one kind.
#[derive(Debug)]
pub struct SharedCounts<K: RateKey> {
    leases: Option<Arc<RateLeases<K>>>,
    tasks: TaskTracker,
    asking: Arc<Semaphore>,
    /// Whether the last query failed. A warning is logged when this becomes true.
    is_down: AtomicBool,
}

/// The permits of a request. They count unless they are returned.
#[derive(Debug)]
#[must_use = "permits that are not returned count"]
pub struct Permits<K: RateKey>(Vec<RatePermit<K>>);

impl<K: RateKey> Permits<K> {
    /// Returns the permits, so that the request does not count.
    pub fn give_back(mut self) {
        for permit in &mut self.0 {
            permit.set_used(false);
        }
    }

    fn into_used(mut self) -> Self {
        for permit in &mut self.0 {
            permit.set_used(true);
        }
        self
    }
}

impl<K: RateKey> SharedCounts<K> {
    /// Creates counts over windows of `window_ms` milliseconds, at least a minute.
    pub fn new(store: &Store, clock: &Arc<dyn Clock>, tasks: &TaskTracker, window_ms: u32) -> Self {
        let leases = || {
            let (store, clock) = (store.clone(), Arc::clone(clock));
            Arc::new(RateLeases::new(store, clock, tasks.clone(), window_ms))
        };
        Self {
            leases: store.engine().is_shared().then(leases),
            tasks: tasks.clone(),
            asking: Arc::new(Semaphore::new(AT_ONCE)),
            is_down: AtomicBool::new(false),
        }
    }

    /// Returns how long to wait if the last query has shown that a limit is reached on all nodes together. Does not
    /// query the database.
    pub fn refusal(&self, keys: &[(K, u32)]) -> Option<RateRefused> {
        let leases = self.leases.as_ref()?;
        keys.iter()
            .find_map(|(key, limit)| leases.refusal(key, *limit))
    }

    /// Counts `count` events for each key under its limit. If the database cannot be queried, nothing is counted:
    /// an outage must not lock the owner out, and the count of this node still applies.
    pub async fn take(
        &self,
        purpose: Purpose,
        count: u32,
        keys: Vec<(K, u32)>,
    ) -> Result<Permits<K>, RateRefused> {
        let Some(leases) = &self.leases else {
            return Ok(Permits(Vec::new()));
        };
        // Checked before any permit is taken, so that a client behind a refused proxy does not cause a write.
        if let Some(wait) = self.refusal(&keys) {
            return Err(wait);
        }
        let asking = Arc::clone(&self.asking);
        let turn = match purpose {
            Purpose::Load => asking.try_acquire_owned().ok(),
            Purpose::Guesses => timeout(TIMEOUT, asking.acquire_owned())
                .await
                .ok()
                .and_then(Result::ok),
        };
        let Some(turn) = turn else {
            return Ok(Permits(Vec::new()));
        };
        let leases = Arc::clone(leases);
        // A separate task, so that a canceled request keeps its turn until the database has answered.
        let work = self.tasks.spawn(async move {
            let taken = take_all(&leases, count, keys).await;
            drop(turn);
            taken
        });
        let failure = match timeout(TIMEOUT, work).await {
            Ok(Ok(Ok(decided))) => {
                self.is_down.store(false, Ordering::Relaxed);
                return decided.map(Permits::into_used);
            }
            Ok(Ok(Err(error))) => error.to_string(),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "the database did not answer in time".to_owned(),
        };
        if !self.is_down.swap(true, Ordering::Relaxed) {
            tracing::warn!(error = failure, "rate limits apply to each node separately");
        }
        Ok(Permits(Vec::new()))
    }
}

/// Takes permits. They count only if the request is still waiting for them.
async fn take_all<K: RateKey>(
    leases: &Arc<RateLeases<K>>,
    count: u32,
    keys: Vec<(K, u32)>,
) -> Result<Result<Permits<K>, RateRefused>, StoreError> {
    let mut permits = Permits(Vec::new());
    for (key, limit) in keys {
        match leases.take(key, (count, limit)).await? {
            Ok(permit) => permits.0.push(permit),
            Err(refused) => return Ok(Err(refused)),
        }
    }
    Ok(Ok(permits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::postgres;
    use gatehouse_domain::{ManualClock, Timestamp};

    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    struct Key(usize);

    impl RateKey for Key {
        fn name(&self) -> String {
            format!("test:{}", self.0)
        }
    }

    #[tokio::test]
    async fn in_a_flood_guesses_wait_for_their_turn_and_the_load_is_not_counted() {
        let Some(database) = postgres().await else {
            return;
        };
        let store = database.open().await;
        let clock: Arc<dyn Clock> = Arc::new(ManualClock::at(Timestamp::from_millis(0)));
        let counts = SharedCounts::new(&store, &clock, &TaskTracker::new(), 60_000);
        let taken = async |purpose, number| {
            let permits = counts
                .take(purpose, 1, vec![(Key(number), 5)])
                .await
                .unwrap();
            permits.0.len()
        };
        let mut turns: Vec<_> = (1..AT_ONCE)
            .map(|_| counts.asking.try_acquire().unwrap())
            .collect();
        assert_eq!(taken(Purpose::Load, 1).await, 1);
        turns.push(counts.asking.try_acquire().unwrap());
        assert_eq!(taken(Purpose::Load, 2).await, 0);
        let (counted, ()) = tokio::join!(taken(Purpose::Guesses, 3), async {
            tokio::task::yield_now().await;
            turns.pop();
        });
        assert_eq!(counted, 1);
        drop(turns);
        assert_eq!(taken(Purpose::Load, 2).await, 1);
        store.close().await;
    }

    #[tokio::test]
    async fn a_request_that_no_longer_waits_does_not_count() {
        let Some(database) = postgres().await else {
            return;
        };
        let store = database.open().await;
        let clock: Arc<dyn Clock> = Arc::new(ManualClock::at(Timestamp::from_millis(0)));
        let tasks = TaskTracker::new();
        let counts = SharedCounts::new(&store, &clock, &tasks, 60_000);
        let take = || counts.take(Purpose::Load, 1, vec![(Key(1), 5)]);
        tokio::select! {
            biased;
            _ = take() => panic!("the database was not asked"),
            () = std::future::ready(()) => {}
        }
        tasks.close();
        tasks.wait().await;
        for _ in 0..5 {
            assert_eq!(take().await.unwrap().0.len(), 1);
        }
        assert!(take().await.is_err());
        store.close().await;
    }
}
