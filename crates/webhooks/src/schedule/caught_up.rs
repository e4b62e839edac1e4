//! Determines the due runs of a schedule. Runs that could not start in time are combined into one run.

use super::{NoRuns, Schedule, occurrence};
use gatehouse_domain::Timestamp;
use std::time::Duration;

/// A run counts as missed if it starts later than this after its time.
pub(super) const ON_TIME: Duration = Duration::from_secs(30);
/// Maximum number of missed runs of a pattern that are counted.
pub(crate) const MAX_MISSED: u64 = 10_000;

/// The due runs, combined into one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CaughtUp {
    /// The last due run.
    pub(crate) run: Timestamp,
    /// How many of the due runs could not start in time.
    pub(crate) missed: u64,
    /// The next run. `None` if there is none.
    pub(crate) next: Option<Timestamp>,
}

impl Schedule {
    /// Combines the runs from `first` up to `now`. `first` is due.
    pub(crate) fn catch_up(&self, first: Timestamp, now: Timestamp) -> Result<CaughtUp, NoRuns> {
        let (run, due) = match (self.every_seconds, self.at) {
            (Some(seconds), _) => every(first, seconds, now),
            (None, Some(_)) => (first, 1),
            (None, None) => self.last_due(first, now)?,
        };
        let is_on_time = run.until(now) <= ON_TIME;
        Ok(CaughtUp {
            run,
            missed: (due - u64::from(is_on_time)).min(MAX_MISSED),
            next: self.run_after(run)?,
        })
    }

    /// Returns the last run of the pattern up to `now`, and the number of runs since `first`. Stops counting at one
    /// more than [`MAX_MISSED`].
    fn last_due(&self, first: Timestamp, now: Timestamp) -> Result<(Timestamp, u64), NoRuns> {
        let (pattern, start) = self.pattern_at(first)?;
        let (mut run, mut due) = (first, 1);
        for next in pattern.iter_after(start) {
            let next = Timestamp::from_millis(next.timestamp().as_millisecond());
            if now < next {
                return Ok((run, due));
            }
            if due > MAX_MISSED {
                let (pattern, now) = self.pattern_at(now)?;
                let last = occurrence(pattern.find_previous_occurrence(&now, true));
                return Ok((last.unwrap_or(next), due));
            }
            (run, due) = (next, due + 1);
        }
        Ok((run, due))
    }
}

/// Returns the last run up to `now`, and the number of runs since `first`.
fn every(first: Timestamp, seconds: u32, now: Timestamp) -> (Timestamp, u64) {
    let period_ms = i64::from(seconds.max(1)) * 1000;
    let late_ms = now.as_millis().saturating_sub(first.as_millis()).max(0);
    let more = late_ms / period_ms;
    let run = first.as_millis().saturating_add(more * period_ms);
    (Timestamp::from_millis(run), more.unsigned_abs() + 1)
}
