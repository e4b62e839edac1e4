//! How often one client may ask without being recognised: the limits of the specification as data
//! and an exact sliding window for each. Whether a request is counted at all (bypass for the
//! authenticated) is the gate's decision, not known here.

mod class;

pub use class::{ThrottleClass, asks_to_upgrade, class_of, is_ingest};

use crate::client_address::Client;
use gatehouse_domain::{ClientKey, Clock, KeyedWindows, Place, Problem};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many client keys are told apart at most; further ones share one bucket per class.
pub const DEFAULT_CAPACITY: usize = 100_000;
/// The window of every limit here.
const WINDOW_MS: u32 = 60_000;

/// Too many: how long until the next request would be let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many requests; wait {ms} ms")]
pub struct RetryAfter {
    /// The wait in milliseconds, at least 1.
    pub ms: u64,
}

impl From<RetryAfter> for Problem {
    fn from(wait: RetryAfter) -> Self {
        Self::rate_limited(wait.ms)
    }
}

/// What one window belongs to. A proxy's window is apart from that of a client with its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Bucket {
    class: ThrottleClass,
    factor: u32,
    client: Option<ClientKey>,
}

impl Bucket {
    const fn limit(self) -> u32 {
        self.class.limit().saturating_mul(self.factor)
    }

    /// Where clients are counted together when there is no room to tell them apart.
    const fn shared(self) -> Self {
        Self {
            client: None,
            ..self
        }
    }
}

/// The client's window and its proxy's.
type Places = [Option<Place<Bucket>>; 2];

/// A place that was taken before it was known whether it counts. It counts unless it is given back.
#[derive(Debug)]
#[must_use = "a place that is not given back counts"]
pub struct Reserved<'a> {
    throttle: &'a Throttle,
    at_ms: u64,
    places: Places,
}

impl Reserved<'_> {
    /// It does not count after all.
    pub fn give_back(self) {
        let mut windows = self.throttle.lock();
        for place in self.places.iter().flatten() {
            windows.take_back(place, self.at_ms);
        }
    }
}

/// Counts requests per class and client: no 60 seconds admit more than the limit, and a refused
/// request is not counted.
#[derive(Debug)]
pub struct Throttle {
    clock: Arc<dyn Clock>,
    windows: Mutex<KeyedWindows<Bucket>>,
}

impl Throttle {
    /// An empty throttle that tells at most `capacity` keys apart ([`DEFAULT_CAPACITY`]).
    pub fn new(clock: Arc<dyn Clock>, capacity: usize) -> Self {
        let windows = Mutex::new(KeyedWindows::new(WINDOW_MS, capacity, clock.monotonic_ms()));
        Self { clock, windows }
    }

    /// Counts one request, or says how long to wait. While the table is full a new client shares
    /// its class's bucket; behind an unnamed proxy the proxy's bucket must have room as well.
    pub fn admit(&self, class: ThrottleClass, client: &Client) -> Result<(), RetryAfter> {
        self.decide(class, client, true).map(drop)
    }

    /// As [`Self::admit`], where only some outcomes count: takes the place before the work begins, so
    /// that work in parallel is no more than work in a row.
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

    /// What [`Self::admit`] would answer, without counting.
    pub fn would_refuse(&self, class: ThrottleClass, client: &Client) -> Option<RetryAfter> {
        self.decide(class, client, false).err()
    }

    /// Forgets clients whose window has passed. Requests do this as they come; a timer that calls
    /// it too gives the memory of a flood back while nothing comes.
    pub fn sweep(&self) {
        let mut windows = self.lock();
        // Read under the lock, here as below: a time read before it could lie behind a newer stamp.
        let now = self.clock.monotonic_ms();
        windows.sweep(now);
    }

    /// When and where it was counted, if it was.
    fn decide(
        &self,
        class: ThrottleClass,
        client: &Client,
        count: bool,
    ) -> Result<(u64, Places), RetryAfter> {
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
        let wait = |place: &Place<Bucket>, bucket: Bucket| windows.wait(place, bucket.limit(), now);
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
        // Counts stay usable whatever a panicking holder left half done.
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
