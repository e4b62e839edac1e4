//! The time of day as far as it may be trusted for removing what is old. A clock that jumps ahead must not
//! make everything old at once.

use crate::{Clock, Timestamp};

/// How far the clock may be from the expected time without being doubted: an hour.
const TOLERANCE_MS: i64 = 3_600_000;
/// For how long a clock must be ahead or behind until it is believed: a day.
const BELIEVED_AFTER_MS: u64 = 86_400_000;

/// The time that sweeps go by. It advances with monotonic time from a mark that outlives the process, and
/// follows the clock while that is near. A clock that jumped ahead is believed after it has been ahead for a
/// day of running; until then less is removed than the clock says. The same is true after the process was
/// not running for more than an hour.
#[derive(Clone, Debug)]
pub struct SweepTime {
    mark: i64,
    at_monotonic_ms: u64,
    /// Since when the clock is off, by the monotonic clock.
    off_since: Option<u64>,
}

impl SweepTime {
    /// From the mark that was stored last; without one the clock is believed.
    pub fn new(mark: Option<Timestamp>, clock: &dyn Clock) -> Self {
        Self {
            mark: mark.unwrap_or_else(|| clock.now()).as_millis(),
            at_monotonic_ms: clock.monotonic_ms(),
            off_since: None,
        }
    }

    /// The moment up to which sweeps may take it to be; never later than the clock's.
    pub fn now(&mut self, clock: &dyn Clock) -> Timestamp {
        let (wall, monotonic) = (clock.now().as_millis(), clock.monotonic_ms());
        let elapsed = monotonic.saturating_sub(self.at_monotonic_ms);
        let elapsed = i64::try_from(elapsed).unwrap_or(i64::MAX);
        self.at_monotonic_ms = monotonic;
        self.mark = self.mark.saturating_add(elapsed);
        if wall.abs_diff(self.mark) <= TOLERANCE_MS.unsigned_abs() {
            self.off_since = None;
            self.mark = self.mark.max(wall);
        } else {
            let since = *self.off_since.get_or_insert(monotonic);
            if monotonic.saturating_sub(since) >= BELIEVED_AFTER_MS {
                self.off_since = None;
                self.mark = wall;
            }
        }
        Timestamp::from_millis(self.mark.min(wall))
    }

    /// What is to be stored for the next start.
    pub const fn mark(&self) -> Timestamp {
        Timestamp::from_millis(self.mark)
    }

    /// Whether the clock is doubted.
    pub const fn doubts_the_clock(&self) -> bool {
        self.off_since.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ManualClock;
    use std::time::Duration;

    const START: i64 = 1_795_000_000_000;
    const HOUR: i64 = TOLERANCE_MS;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    #[test]
    fn a_jump_of_an_hour_is_followed_and_one_of_more_is_not() {
        for (jump, seen) in [(HOUR, HOUR), (HOUR + 1, 0), (1000 * HOUR, 0), (-1, -1)] {
            let clock = ManualClock::at(at(START));
            let mut time = SweepTime::new(None, &clock);
            assert_eq!(time.now(&clock), at(START));
            clock.set_wall(at(START + jump));
            assert_eq!(time.now(&clock), at(START + seen), "{jump}");
            assert_eq!(time.doubts_the_clock(), jump > HOUR);
        }
    }

    #[test]
    fn a_clock_that_stays_ahead_is_believed_after_a_day_of_running() {
        let clock = ManualClock::at(at(START));
        let mut time = SweepTime::new(None, &clock);
        clock.set_wall(at(START + 1000 * HOUR));
        assert_eq!(time.now(&clock), at(START));
        clock.advance(Duration::from_millis(BELIEVED_AFTER_MS - 1));
        let day = i64::try_from(BELIEVED_AFTER_MS).unwrap();
        assert_eq!(time.now(&clock), at(START + day - 1));
        clock.advance(Duration::from_millis(1));
        assert_eq!(time.now(&clock), clock.now());
        assert!(!time.doubts_the_clock());
    }

    #[test]
    fn a_clock_that_comes_back_is_trusted_at_once() {
        let clock = ManualClock::at(at(START));
        let mut time = SweepTime::new(None, &clock);
        clock.set_wall(at(START + 1000 * HOUR));
        time.now(&clock);
        clock.set_wall(at(START));
        assert_eq!(time.now(&clock), at(START));
        clock.advance(Duration::from_hours(48));
        assert_eq!(time.now(&clock), clock.now());
        // Set back, nothing is removed that the clock calls young.
        clock.set_wall(at(START - 5 * HOUR));
        assert_eq!(time.now(&clock), clock.now());
    }

    #[test]
    fn after_a_start_the_stored_mark_counts() {
        let clock = ManualClock::at(at(START + 1000 * HOUR));
        let mut time = SweepTime::new(Some(at(START)), &clock);
        assert_eq!(time.now(&clock), at(START));
        clock.advance(Duration::from_hours(2));
        assert_eq!(time.now(&clock), at(START + 2 * HOUR));
        assert_eq!(time.mark(), at(START + 2 * HOUR));
    }
}
