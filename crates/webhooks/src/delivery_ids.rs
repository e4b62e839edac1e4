//! Generates delivery IDs that sort in creation order. The order holds within one millisecond, after the clock is
//! set back, and across restarts. Deliveries of a session run in ID order.

use data_encoding::HEXLOWER;
use gatehouse_domain::{Clock, DeliveryId, Random, Timestamp};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The timestamp of an ID, and its counter within that millisecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct LastId {
    millis: u64,
    number: u16,
}

/// Generates increasing delivery IDs.
#[derive(Debug, Default)]
pub(crate) struct DeliveryIds(Mutex<LastId>);

/// The layout of an ID: `del_`, 12 hex digits of milliseconds, the version digit, and 12 bits that RFC 9562
/// (section 6.2, method 1) allows as a counter.
const PREFIX: &str = "del_";
const MILLIS: std::ops::Range<usize> = 4..16;
const COUNTER: std::ops::Range<usize> = 17..20;
const COUNTER_MAX: u16 = 0xfff;
const LENGTH: usize = 36;
/// The version and the variant of a `UUIDv7`, and the random bits after the variant (RFC 9562, section 5.7).
const VERSION: u128 = 7 << 76;
const VARIANT: u128 = 0b10 << 62;
const RANDOM: u64 = (1 << 62) - 1;

impl LastId {
    /// Parses an ID generated here; returns `None` for any other text.
    fn of(id: &str) -> Option<Self> {
        if id.len() != LENGTH || !id.starts_with(PREFIX) {
            return None;
        }
        Some(Self {
            millis: u64::from_str_radix(id.get(MILLIS)?, 16).ok()?,
            number: u16::from_str_radix(id.get(COUNTER)?, 16).ok()?,
        })
    }

    /// Builds the ID with these random bits.
    fn id(self, random: u64) -> DeliveryId {
        let millis = u128::from(self.millis & 0xffff_ffff_ffff) << 80;
        let counter = u128::from(self.number) << 64;
        let id = millis | VERSION | counter | VARIANT | u128::from(random & RANDOM);
        let mut text = String::with_capacity(LENGTH);
        text.push_str(PREFIX);
        HEXLOWER.encode_append(&id.to_be_bytes(), &mut text);
        DeliveryId::from_text(text)
    }

    const fn next(self) -> Self {
        if self.number < COUNTER_MAX {
            Self {
                millis: self.millis,
                number: self.number + 1,
            }
        } else {
            Self {
                millis: self.millis.saturating_add(1),
                number: 0,
            }
        }
    }
}

/// Returns when an ID was generated; `None` for text that was not generated here.
pub(crate) fn time_of(id: &DeliveryId) -> Option<Timestamp> {
    let millis = LastId::of(id.as_str())?.millis;
    i64::try_from(millis).ok().map(Timestamp::from_millis)
}

impl DeliveryIds {
    fn lock(&self) -> MutexGuard<'_, LastId> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ensures that every later ID sorts after this one.
    pub(crate) fn go_on_after(&self, id: &DeliveryId) {
        if let Some(place) = LastId::of(id.as_str()) {
            let mut last = self.lock();
            *last = place.max(*last);
        }
    }

    pub(crate) fn next(&self, clock: &dyn Clock, random: &dyn Random) -> DeliveryId {
        // Reads the random bits before taking the lock, because reading them is a system call.
        let bits = u64::from_be_bytes(random.bytes());
        self.next_place(clock).id(bits)
    }

    fn next_place(&self, clock: &dyn Clock) -> LastId {
        let mut last = self.lock();
        // Reads the clock under the lock: an earlier reading could be older than the last ID.
        let millis = u64::try_from(clock.now().as_millis()).unwrap_or(0);
        *last = if millis > last.millis {
            LastId { millis, number: 0 }
        } else {
            last.next()
        };
        *last
    }

    /// Returns how far the IDs are ahead of `now`, in milliseconds. Nonzero after the clock was set back.
    pub(crate) fn ahead_of(&self, now: Timestamp) -> u64 {
        let now = u64::try_from(now.as_millis()).unwrap_or(0);
        self.lock().millis.saturating_sub(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_domain::{ManualClock, SeededRandom};
    use std::time::Duration;

    const START: i64 = 1_795_000_000_123;

    #[test]
    fn an_id_has_the_layout_of_other_ids() {
        let clock = ManualClock::at(Timestamp::from_millis(START));
        for seed in 0..100 {
            let random = SeededRandom::new(seed);
            let ids = DeliveryIds::default();
            let (first, second) = (ids.next(&clock, &random), ids.next(&clock, &random));
            let other = DeliveryId::generate(&clock, &random);
            assert_eq!(first.as_str()[..17], other.as_str()[..17]);
            assert_eq!(first.as_str()[17..20], *"000");
            assert_eq!(second.as_str()[17..20], *"001");
            for id in [&first, &second, &other] {
                assert!(matches!(
                    id.as_str().as_bytes()[20],
                    b'8' | b'9' | b'a' | b'b'
                ));
                assert_eq!(time_of(id), Some(clock.now()));
            }
            assert_ne!(first.as_str()[20..], second.as_str()[20..]);
        }
    }

    #[test]
    fn ids_of_a_millisecond_are_in_order_and_differ() {
        let clock = ManualClock::at(Timestamp::from_millis(START));
        let random = SeededRandom::new(1);
        let ids = DeliveryIds::default();
        let mut all = Vec::new();
        for _ in 0..3 {
            for _ in 0..5000 {
                all.push(ids.next(&clock, &random));
            }
            clock.advance(Duration::from_millis(1));
        }
        assert!(all.is_sorted_by(|one, other| one < other));
        assert!(
            all.iter()
                .all(|id| id.as_str().len() == 36 && id.as_str().as_bytes()[16] == b'7')
        );
    }

    #[test]
    fn ids_never_go_back_whatever_the_clock_does_and_not_over_a_restart() {
        let clock = ManualClock::at(Timestamp::from_millis(START));
        let random = SeededRandom::new(1);
        let mut ids = DeliveryIds::default();
        let mut all = Vec::new();
        for step in [0, 5_000, -5_000, -86_400_000, 3_600_000, 1, -1, 0] {
            clock.set_wall(Timestamp::from_millis(clock.now().as_millis() + step));
            all.push(ids.next(&clock, &random));
            let restarted = DeliveryIds::default();
            restarted.go_on_after(all.last().unwrap());
            ids = restarted;
            all.push(ids.next(&clock, &random));
        }
        assert!(all.is_sorted_by(|one, other| one < other), "{all:?}");
        assert_eq!(ids.ahead_of(clock.now()), 5_000 + 86_400_000 - 3_600_000);
        // IDs that were not generated here are ignored.
        ids.go_on_after(&DeliveryId::from_text("del_zzzz"));
        ids.go_on_after(&DeliveryId::from_text(format!("del_{}", "z".repeat(32))));
        assert!(ids.next(&clock, &random) > all[all.len() - 1]);
    }
}
