//! The stored state of scheduled backups: when one is due, whether one runs, and what `doctor` reports.

use crate::backup::FAILED;
use crate::doctor::check::Check;
use croner::Cron;
use gatehouse_domain::{Timestamp, Zone};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How late a backup may be before `doctor` reports it: one hour. If the process ended during a backup, the backup
/// is repeated after the same time.
const LATE_MS: i64 = 3_600_000;
/// How long a backup counts as running after the last renewal of its lease.
const LEASE: Duration = Duration::from_mins(5);
/// Delay after a failed backup.
const RETRY: Duration = Duration::from_hours(1);

/// The stored state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    /// The pattern that `next` was calculated from.
    pattern: String,
    next: Option<Timestamp>,
    last: Option<Last>,
    /// When the running backup began.
    started: Option<Timestamp>,
    /// Until when the running backup counts as running. The node that creates the backup extends this time. Earlier
    /// versions do not store it; their backups count as running for [`LATE_MS`] from the start.
    #[serde(default)]
    leased_until: Option<Timestamp>,
    /// When the last successful backup began. Earlier versions do not store it; [`read`] takes it from `last`.
    #[serde(default)]
    pub(super) succeeded: Option<Timestamp>,
}

/// The last scheduled backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Last {
    at: Timestamp,
    /// The error; `None` if the backup succeeded.
    error: Option<String>,
}

/// Reads the stored state. An unreadable state counts as none.
pub(super) fn read(stored: Option<serde_json::Value>) -> State {
    let stored = stored.and_then(|value| serde_json::from_value(value).ok());
    let mut state: State = stored.unwrap_or_default();
    if state.succeeded.is_none() {
        let last = state.last.as_ref().filter(|last| last.error.is_none());
        state.succeeded = last.map(|last| last.at);
    }
    state
}

impl State {
    /// Returns whether a backup is due, and calculates the time of the next one. Several missed times result in one
    /// backup. If the process ended during a backup, the backup is due again an hour after it began.
    pub(super) fn advance(&mut self, pattern: &str, zone: &Zone, now: Timestamp) -> bool {
        let is_same = self.pattern == pattern;
        self.forget_times_ahead(zone, now);
        let passed = |moment: Option<Timestamp>, ms: i64| {
            moment.is_some_and(|at| at.as_millis().saturating_add(ms) <= now.as_millis())
        };
        let ended = passed(self.started, LATE_MS) && !self.is_running(now);
        let is_due = is_same && (ended || (passed(self.next, 0) && self.started.is_none()));
        if is_due || !is_same || self.next.is_none() {
            pattern.clone_into(&mut self.pattern);
            self.next = next_after(pattern, zone, now);
        }
        if is_due {
            self.started = Some(now);
            self.leased_until = Some(now.after(LEASE));
        }
        is_due
    }

    /// Corrects times that were stored while a clock was more than [`LATE_MS`] ahead. Without the correction, no
    /// backup would be created until these times. Smaller differences are normal between the clocks of nodes;
    /// correcting them would repeat the last backup.
    fn forget_times_ahead(&mut self, zone: &Zone, now: Timestamp) {
        let latest = Timestamp::from_millis(now.as_millis().saturating_add(LATE_MS));
        self.started = self.started.filter(|at| *at <= latest);
        self.leased_until = self.leased_until.filter(|at| *at <= latest);
        // The last success was in the past even if the clock was wrong. It is set to the current time, from which
        // it ages if no other backup succeeds.
        self.succeeded = self.succeeded.map(|at| if at > latest { now } else { at });
        let next = next_after(&self.pattern, zone, latest);
        if let (Some(stored), Some(next)) = (self.next, next)
            && next < stored
        {
            self.next = next_after(&self.pattern, zone, now);
        }
    }

    /// Returns whether the backup that began last is still running according to its lease.
    fn is_running(&self, now: Timestamp) -> bool {
        let Some(started) = self.started else {
            return false;
        };
        let legacy_end = started.as_millis().saturating_add(LATE_MS);
        let end = self.leased_until.map_or(legacy_end, Timestamp::as_millis);
        end > now.as_millis()
    }

    /// Extends the lease of the backup that began at `began`. Returns `false` if another backup has begun since
    /// then.
    pub(super) fn renew(&mut self, began: Timestamp, now: Timestamp) -> bool {
        let is_own = self.started == Some(began);
        if is_own {
            self.leased_until = Some(now.after(LEASE));
        }
        is_own
    }

    /// Stores that the backup that began at `began` ended at `now`. A failed backup is retried after an hour. If
    /// another backup has begun since then, it stays marked as running.
    pub(super) fn end(&mut self, began: Timestamp, now: Timestamp, error: Option<String>) {
        if error.is_some() {
            let again = now.after(RETRY);
            self.next = Some(self.next.map_or(again, |next| next.min(again)));
        } else {
            self.succeeded = Some(began);
        }
        self.last = Some(Last { at: began, error });
        if self.started == Some(began) {
            self.started = None;
            self.leased_until = None;
        }
    }
}

fn next_after(pattern: &str, zone: &Zone, now: Timestamp) -> Option<Timestamp> {
    let pattern: Cron = pattern.parse().ok()?;
    let now = jiff::Timestamp::from_millisecond(now.as_millis()).ok()?;
    let now = now.to_zoned(zone.rules().clone());
    let next = pattern.find_next_occurrence(&now, false).ok()?;
    Some(Timestamp::from_millis(next.timestamp().as_millisecond()))
}

pub(super) fn finding(state: &State, now: Timestamp) -> Check {
    const HINT: &str =
        "Check the directory and the recipient in [backup], and run `gatehouse backup create`.";
    let is_late = |next: Timestamp| next.as_millis().saturating_add(LATE_MS) < now.as_millis();
    let late = state.started.filter(|started| is_late(*started));
    if let Some(started) = late {
        if state.is_running(now) {
            let message = format!("The backup of {started} is still running.");
            return Check::fine("backup", message);
        }
        let message = format!("The backup of {started} did not end.");
        return Check::bad("backup", message, HINT);
    }
    match (&state.last, state.next) {
        (
            Some(Last {
                at,
                error: Some(error),
            }),
            _,
        ) => {
            let reason = error.strip_prefix(FAILED).unwrap_or(error);
            Check::bad(
                "backup",
                format!("The backup of {at} failed: {reason}"),
                HINT,
            )
        }
        (_, Some(next)) if is_late(next) => Check::bad(
            "backup",
            format!("The backup of {next} was not made."),
            HINT,
        ),
        (Some(Last { at, .. }), _) => Check::fine(
            "backup",
            format!("The last scheduled backup was made at {at}."),
        ),
        (None, Some(next)) => Check::fine(
            "backup",
            format!("The first scheduled backup is due at {next}."),
        ),
        (None, None) => Check::fine("backup", "Backups are scheduled."),
    }
}

#[cfg(test)]
mod tests;
