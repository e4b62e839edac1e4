//! Limits how many refusals per client are recorded, so that a flood of requests fills neither the database nor the
//! log. The limit does not affect the refusal itself.

use gatehouse_domain::{ClientKey, Clock, KeyedWindows};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, PoisonError};

const WINDOW_MS: u32 = 60_000;
/// Maximum number of tracked clients. When the limit is reached, new clients share one counter.
const CAPACITY: usize = 10_000;

/// The kinds of refusals. Each has its own limit, so one kind does not hide another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// Refused before verification because of the IP address or the body size.
    Early,
    Unverified,
    /// The body could not be parsed.
    Unreadable,
    /// No webhook with this public ID is known on this node. The limit applies to the lookups in the database.
    Unknown,
}

/// How many refusals are recorded per minute, kind and client.
const PER_MINUTE: u32 = 60;

/// Counts refusals per kind and client.
pub(crate) struct Refusals {
    clock: Arc<dyn Clock>,
    windows: Mutex<KeyedWindows<(Kind, ClientKey)>>,
}

impl fmt::Debug for Refusals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refusals").finish_non_exhaustive()
    }
}

impl Refusals {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        let windows = Mutex::new(KeyedWindows::new(WINDOW_MS, CAPACITY, clock.monotonic_ms()));
        Self { clock, windows }
    }

    /// Counts a refusal and returns whether to record it.
    pub(crate) fn is_noted(&self, kind: Kind, client: ClientKey) -> bool {
        let everybody = ClientKey::of(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.monotonic_ms();
        windows.tick(now);
        let place = windows.place((kind, client), (kind, everybody), 0, now);
        let is_noted = windows.wait(&place, PER_MINUTE, now).is_none();
        if is_noted {
            windows.record(place, now);
        }
        is_noted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_domain::{ManualClock, Timestamp};
    use std::time::Duration;

    #[test]
    fn sixty_of_a_kind_are_noted_in_a_minute() {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(0)));
        let refusals = Refusals::new(clock.clone());
        let client = |last| ClientKey::of(IpAddr::V4(Ipv4Addr::new(192, 0, 2, last)));
        for _ in 0..60 {
            assert!(refusals.is_noted(Kind::Early, client(1)));
        }
        for _ in 0..100 {
            assert!(!refusals.is_noted(Kind::Early, client(1)));
        }
        assert!(refusals.is_noted(Kind::Unverified, client(1)));
        assert!(refusals.is_noted(Kind::Early, client(2)));
        clock.advance(Duration::from_mins(1));
        assert!(refusals.is_noted(Kind::Early, client(1)));
    }
}
