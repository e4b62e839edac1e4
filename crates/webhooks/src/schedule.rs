//! Schedules: webhooks that the clock triggers. Validates a schedule and calculates its runs. Pure; `runs` starts
//! the runs.
//!
//! A `cron` pattern is in the wall-clock time of its zone. When clocks go forward, the hour that they skip has no
//! run of a pattern with `*` or a step in the fields for hours, minutes or seconds. A pattern with fixed values in
//! these fields runs at the first moment after that hour. When clocks go back, a pattern with fixed values runs in
//! the first of the two equal hours, and a pattern with `*` or a step runs in both. See docs/API-webhooks.md.

mod caught_up;
mod input;
mod message;
mod preview;
mod row;
mod runs;
mod set_back;
#[cfg(test)]
mod tests;

pub(crate) use caught_up::CaughtUp;
pub use input::ScheduleInput;
pub use preview::SchedulePreview;
pub(crate) use row::{DueChange, set_due};
pub(crate) use runs::{ScheduleTurns, serve};

use caught_up::ON_TIME;
use croner::Cron;
use gatehouse_domain::{Timestamp, Zone};
use gatehouse_store::StoreError;
use jiff::Zoned;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Maximum number of next runs that are shown.
pub const SHOWN_RUNS: usize = 5;

/// When a webhook of the profile `schedule` runs. Has one of `cron`, `every_seconds` and `at`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Schedule {
    /// A pattern of five fields (minute, hour, day of month, month, day of week) or six (seconds first).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cron: Option<String>,
    /// The time between runs. The first run is this long after the schedule was created, changed or enabled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    every_seconds: Option<u32>,
    /// The time of the only run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<Timestamp>,
    /// The IANA name of the time zone of `cron`.
    timezone: String,
}

/// The kinds of schedules.
#[derive(Clone, Debug, PartialEq, Eq)]
enum When {
    Cron(String),
    Every(u32),
    At(Timestamp),
}

/// The runs of a stored schedule cannot be calculated. The zone may be missing from this machine.
#[derive(Debug, thiserror::Error)]
#[error("the runs of the schedule cannot be calculated: {0}")]
pub(crate) struct NoRuns(String);

/// Why a due run was not started, or why its next run was not corrected.
#[derive(Debug, thiserror::Error)]
enum RunError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    NoRuns(#[from] NoRuns),
    #[error("the calculation did not complete")]
    BrokenOff,
}

impl Schedule {
    fn new(when: When, zone: &Zone) -> Self {
        let mut schedule = Self {
            cron: None,
            every_seconds: None,
            at: None,
            timezone: zone.rules().iana_name().unwrap_or("UTC").to_owned(),
        };
        match when {
            When::Cron(pattern) => schedule.cron = Some(pattern),
            When::Every(seconds) => schedule.every_seconds = Some(seconds),
            When::At(at) => schedule.at = Some(at),
        }
        schedule
    }

    pub fn timezone(&self) -> &str {
        &self.timezone
    }

    /// Returns whether this machine does not have the time zone, so that no run can be calculated.
    pub(crate) fn lacks_zone(&self) -> bool {
        self.cron.is_some() && self.timezone.parse::<Zone>().is_err()
    }

    /// Returns the first run of a schedule that begins at `now`. `None` if there is none.
    pub(crate) fn first_run(&self, now: Timestamp) -> Result<Option<Timestamp>, NoRuns> {
        match (self.every_seconds, self.at) {
            (Some(seconds), _) => Ok(Some(now.after(seconds_of(seconds)))),
            (None, Some(at)) => Ok(Some(at).filter(|at| now < *at)),
            (None, None) => self.cron_after(now),
        }
    }

    /// Returns the run after `run`. `None` if `run` was the last.
    pub(crate) fn run_after(&self, run: Timestamp) -> Result<Option<Timestamp>, NoRuns> {
        match (self.every_seconds, self.at) {
            (Some(seconds), _) => Ok(Some(run.after(seconds_of(seconds)))),
            (None, Some(_)) => Ok(None),
            (None, None) => self.cron_after(run),
        }
    }

    /// Returns up to [`SHOWN_RUNS`] runs, beginning with `first`.
    pub(crate) fn runs_from(&self, first: Option<Timestamp>) -> Vec<Timestamp> {
        let next = |run: &Timestamp| self.run_after(*run).ok().flatten();
        std::iter::successors(first, next)
            .take(SHOWN_RUNS)
            .collect()
    }

    fn cron_after(&self, after: Timestamp) -> Result<Option<Timestamp>, NoRuns> {
        let (pattern, after) = self.pattern_at(after)?;
        Ok(occurrence(pattern.find_next_occurrence(&after, false)))
    }

    /// Returns the pattern, and the given time in the zone.
    fn pattern_at(&self, at: Timestamp) -> Result<(Cron, Zoned), NoRuns> {
        let failed = |error: &dyn std::fmt::Display| NoRuns(error.to_string());
        let pattern = self.cron.as_deref().unwrap_or_default();
        let pattern: Cron = pattern.parse().map_err(|error| failed(&error))?;
        let zone: Zone = self.timezone.parse().map_err(|error| failed(&error))?;
        let at =
            jiff::Timestamp::from_millisecond(at.as_millis()).map_err(|error| failed(&error))?;
        Ok((pattern, at.to_zoned(zone.rules().clone())))
    }

    /// Returns the wall-clock time of a run with its offset, such as `2026-03-29T03:00:00+02:00`.
    pub(crate) fn local_time(&self, run: Timestamp) -> Option<String> {
        let zone: Zone = self.timezone.parse().ok()?;
        let run = jiff::Timestamp::from_millisecond(run.as_millis()).ok()?;
        let local = run.to_zoned(zone.rules().clone());
        Some(local.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string())
    }
}

fn seconds_of(seconds: u32) -> Duration {
    Duration::from_secs(u64::from(seconds))
}

/// Returns the time that a search found. A search fails if the pattern never occurs again.
fn occurrence(found: Result<Zoned, croner::errors::CronError>) -> Option<Timestamp> {
    let moment = found.ok()?.timestamp();
    Some(Timestamp::from_millis(moment.as_millisecond()))
}
