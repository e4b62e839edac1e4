//! Rate limits for unauthenticated clients: the specification's limits as data, each with an exact sliding window.
//! [`crate::Auth::admit`] counts over all nodes, [`Throttle`] only on this node. Callers decide whether a request
//! is counted; authenticated requests are exempt.

mod admit;
mod class;

pub(crate) use class::asks_to_upgrade;
pub use class::{ThrottleClass, class_of, is_ingest};

use crate::client_address::Client;
use gatehouse_domain::{ClientKey, Clock, KeyedWindows, Problem, WindowKey};
use gatehouse_store::{Permits, RateKey, RateRefused};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The maximum number of clients tracked separately. Further clients share one bucket per class.
pub const DEFAULT_CAPACITY: usize = 100_000;
/// The window of every limit here.
pub(crate) const WINDOW_MS: u32 = 60_000;

/// Too many requests. Contains the time until the next request would be admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many requests; wait {ms} ms")]
pub struct RetryAfter {
    /// The wait in milliseconds, at least 1.
    pub ms: u64,
}

impl From<RateRefused> for RetryAfter {
    fn from(refused: RateRefused) -> Self {
        Self {
            ms: refused.wait_ms,
        }
    }
}

impl From<RetryAfter> for Problem {
    fn from(wait: RetryAfter) -> Self {
        Self::rate_limited(wait.ms)
    }
}

/// The key of a window. A proxy has its own window, even if a client has the same address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Bucket {
    class: ThrottleClass,
    factor: u32,
    client: Option<ClientKey>,
}

impl Bucket {
    const fn limit(self) -> u32 {
        self.class.limit().saturating_mul(self.factor)
    }

    /// Returns the bucket for clients that cannot be tracked separately because the table is full.
    const fn shared(self) -> Self {
        Self {
            client: None,
            ..self
        }
    }
}

impl RateKey for Bucket {
    fn name(&self) -> String {
        let client = self.client.map_or("*".to_owned(), |key| key.to_string());
        format!("throttle:{}:{}:{client}", self.class.name(), self.factor)
    }
}

/// The windows of the client and of its proxy.
type WindowKeys = [Option<WindowKey<Bucket>>; 2];

/// A slot reserved before it is known whether the request counts. The request counts unless the slot is released.
#[derive(Debug)]
#[must_use = "a permit that is not returned counts"]
pub struct Reserved<'a> {
    throttle: &'a Throttle,
    at_ms: u64,
    places: WindowKeys,
}

impl Reserved<'_> {
    /// Releases the slot. The request then does not count.
    pub fn give_back(self) {
        let mut windows = self.throttle.lock();
        for place in self.places.iter().flatten() {
            windows.take_back(place, self.at_ms);
        }
    }
}

/// Returns the limits that nodes share. Excludes loopback addresses, which are a different client on each node.
fn shared_buckets(places: &WindowKeys) -> Vec<(Bucket, u32)> {
    let buckets = places.iter().flatten().map(|place| {
        let (WindowKey::Own(bucket) | WindowKey::Shared(bucket)) = place;
        (*bucket, bucket.limit())
    });
    buckets
        .filter(|(bucket, _)| !bucket.client.is_some_and(ClientKey::is_loopback))
        .collect()
}

/// A slot reserved on all nodes. The request counts unless the slot is released.
#[derive(Debug)]
#[must_use = "a permit that is not returned counts"]
pub(crate) struct ReservedByAll<'a> {
    here: Reserved<'a>,
    everywhere: Permits<Bucket>,
}

impl ReservedByAll<'_> {
    /// Releases the slot. The request then does not count.
    pub(crate) fn give_back(self) {
        self.here.give_back();
        self.everywhere.give_back();
    }
}

/// Counts requests per class and client. Any 60-second window admits at most the limit; refused
/// requests are not counted.
#[derive(Debug)]
pub struct Throttle {
    clock: Arc<dyn Clock>,
    windows: Mutex<KeyedWindows<Bucket>>,
}

impl Throttle {
    /// Creates a throttle that tracks at most `capacity` keys separately ([`DEFAULT_CAPACITY`]).
    pub fn new(clock: Arc<dyn Clock>, capacity: usize) -> Self {
        let windows = Mutex::new(KeyedWindows::new(WINDOW_MS, capacity, clock.monotonic_ms()));
        Self { clock, windows }
    }

    /// Counts one request, or returns how long to wait. While the table is full, a new client shares its class's
    /// bucket. Behind an unlisted proxy, the proxy's bucket must also have a free slot.
    pub fn admit(&self, class: ThrottleClass, client: &Client) -> Result<(), RetryAfter> {
        self.decide(class, client, true).map(drop)
    }

    /// Like [`Self::admit`], for requests whose outcome decides whether they count. Reserves the
    /// slot before the work starts, so concurrent requests cannot exceed the limit.
    pub fn reserve(
        &self,
        class: ThrottleClass,
        client: &Client,
    ) -> Result<Reserved<'_>, RetryAfter> {
        self.decide(class, client, true)
            .map(|(at_ms, places)| Reserved {
                throttle: self,
                at_ms,
                places,
            })
    }

    /// Returns the refusal that [`Self::admit`] would return, without counting.
    pub fn would_refuse(&self, class: ThrottleClass, client: &Client) -> Option<RetryAfter> {
        self.decide(class, client, false).err()
    }

    /// Removes clients whose window has passed. Requests also remove them. A timer should call it to free memory
    /// after a flood.
    pub fn sweep(&self) {
        let mut windows = self.lock();
        // The clock is read under the lock, here and below: an earlier reading could be older than a recorded
        // timestamp.
        let now = self.clock.monotonic_ms();
        windows.sweep(now);
    }

    /// Returns the time and the slots of a request that is admitted. Counts it if `count` is set.
    fn decide(
        &self,
        class: ThrottleClass,
        client: &Client,
        count: bool,
    ) -> Result<(u64, WindowKeys), RetryAfter> {
        let own = Bucket {
            class,
            factor: client.limit_factor,
            client: Some(client.key),
        };
        let proxy = client.peer_bucket.map(|key| Bucket {
            class,
            factor: Client::PEER_LIMIT_FACTOR,
            client: Some(key),
        });
        let mut windows = self.lock();
        let now = self.clock.monotonic_ms();
        windows.tick(now);
        let own_place = windows.place(own, own.shared(), 0, now);
        let promised = usize::from(windows.is_new(&own_place));
        let proxy_place = proxy.map(|bucket| {
            (
                windows.place(bucket, bucket.shared(), promised, now),
                bucket,
            )
        });
        let wait =
            |place: &WindowKey<Bucket>, bucket: Bucket| windows.wait(place, bucket.limit(), now);
        let proxy_wait = proxy_place
            .as_ref()
            .and_then(|(place, bucket)| wait(place, *bucket));
        if let Some(ms) = wait(&own_place, own).max(proxy_wait) {
            return Err(RetryAfter { ms });
        }
        let places = [Some(own_place), proxy_place.map(|(place, _)| place)];
        if count {
            for place in places.iter().flatten() {
                windows.record(place.clone(), now);
            }
        }
        Ok((now, places))
    }

    fn lock(&self) -> MutexGuard<'_, KeyedWindows<Bucket>> {
        // The counts stay usable even if a thread panicked while holding the lock.
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
