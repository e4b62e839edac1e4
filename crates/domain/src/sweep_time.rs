//! The time that retention sweeps use. If a clock jumps ahead, the rows must not all expire at once.

use crate::{Clock, Timestamp};

/// The tolerated difference between the clock and the expected time: one hour.
const TOLERANCE_MS: i64 = 3_600_000;
/// How long the clock must stay ahead or behind before it is trusted: one day.
const BELIEVED_AFTER_MS: u64 = 86_400_000;

/// The time for retention sweeps. It advances with monotonic time from a mark that survives restarts. It follows
/// the wall clock while the two differ by at most an hour. A larger jump ahead is trusted only after a day of
/// uptime. Until then, sweeps remove less than the wall clock would allow. The same applies after the process was
/// down for more than an hour.
#[derive(Clone, Debug)]
pub struct SweepTime {
    mark: i64,
    at_monotonic_ms: u64,
    /// The monotonic time at which the wall clock became implausible.
    off_since: Option<u64>,
}

impl SweepTime {
    /// Starts from the last stored mark. Without a mark, trusts the wall clock.
    pub fn new(mark: Option<Timestamp>, clock: &dyn Clock) -> Self {
        Self {
            mark: mark.unwrap_or_else(|| clock.now()).as_millis(),
            at_monotonic_ms: clock.monotonic_ms(),
            off_since: None,
        }
    }

    /// Returns the current time for sweeps, never later than the wall clock.
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

    /// Returns the mark to store for the next start.
    pub const fn mark(&self) -> Timestamp {
        Timestamp::from_millis(self.mark)
    }

    /// Returns whether the wall clock is currently not trusted.
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
        // If the clock was set back, the sweep uses the earlier time, so it removes nothing recent.
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
