//! Ids of deliveries, in the order in which they were made also within a millisecond: deliveries of a
//! session run in the order of their ids.

use gatehouse_domain::{Clock, DeliveryId, Random};
use std::sync::{Mutex, PoisonError};

/// The last id's milliseconds, as they stand in it, and its number among those.
#[derive(Debug, Default)]
pub(crate) struct DeliveryIds(Mutex<(String, u16)>);

/// Where the 12 bits stand in an id that RFC 9562 (section 6.2, method 1) lets count: behind `del_`,
/// 12 digits of milliseconds and the version.
const MILLIS: std::ops::Range<usize> = 4..16;
const COUNTER: std::ops::Range<usize> = 17..20;
const COUNTER_MAX: u16 = 0xfff;

impl DeliveryIds {
    /// The next one.
    pub(crate) fn next(&self, clock: &dyn Clock, random: &dyn Random) -> DeliveryId {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Under the lock: a time read before it could lie behind that of a later id.
        let mut text = DeliveryId::generate(clock, random).as_str().to_owned();
        let (millis, number) = &mut *last;
        match text.get(MILLIS) {
            Some(now) if now == millis => *number = number.saturating_add(1).min(COUNTER_MAX),
            Some(now) => (*millis, *number) = (now.to_owned(), 0),
            None => {}
        }
        if text.get(COUNTER).is_some() {
            text.replace_range(COUNTER, &format!("{number:03x}"));
        }
        DeliveryId::from_text(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_domain::{ManualClock, SeededRandom, Timestamp};
    use std::time::Duration;

    #[test]
    fn ids_of_a_millisecond_are_in_order_and_differ() {
        let clock = ManualClock::at(Timestamp::from_millis(1_795_000_000_123));
        let random = SeededRandom::new(1);
        let ids = DeliveryIds::default();
        let mut all = Vec::new();
        for _ in 0..3 {
            for _ in 0..4096 {
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
}
