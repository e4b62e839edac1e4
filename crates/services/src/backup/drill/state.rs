//! The stored state of the drill: when it is due, which node makes it, and what `doctor` reports.

use crate::doctor::Check;
use gatehouse_domain::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

const DAY_MS: i64 = 24 * 3_600_000;
/// The longest wait before a failed drill is repeated.
const RETRY_MS: i64 = DAY_MS;
/// How late a drill may be before `doctor` reports it.
const LATE_MS: i64 = 2 * DAY_MS;
/// A drill that takes longer was ended with its process.
const LONGEST_MS: i64 = 6 * 3_600_000;
/// How long nodes wait for another one with a newer backup. Longer than the interval between two checks of
/// the state.
pub(super) const GATHER: Duration = Duration::from_mins(20);
/// A node that offered a backup and has not begun after this time is gone.
const OFFER_MS: i64 = 3_600_000;

/// The stored state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) last: Option<Last>,
    /// The last drill that found its backup unusable, until one succeeds.
    #[serde(default)]
    unusable: Option<Last>,
    /// When the running drill began.
    pub(super) started: Option<Timestamp>,
    /// When the last drill that succeeded began.
    #[serde(default)]
    pub(super) succeeded: Option<Timestamp>,
    /// The newest backup that a node has offered for the drill that is due.
    #[serde(default)]
    offer: Option<Offer>,
}

/// The last drill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Last {
    pub(super) at: Timestamp,
    /// The name of the backup.
    pub(super) name: String,
    pub(super) took_ms: u64,
    /// `None` if it succeeded.
    pub(super) error: Option<String>,
    /// Whether the backup was checked.
    #[serde(default = "yes")]
    pub(super) was_made: bool,
}

impl Last {
    /// Returns the finding of `doctor` about a drill that failed or did not run.
    fn finding(&self, id: &'static str, hint: &str) -> Check {
        let Self { name, at, .. } = self;
        let error = self.error.as_deref().unwrap_or_default();
        let message = if self.was_made {
            format!("Restoring the backup {name} on trial at {at} failed: {error}.")
        } else {
            format!("The backup {name} was not checked at {at}: {error}.")
        };
        Check::bad(id, message, hint)
    }
}

/// Earlier versions did not distinguish.
const fn yes() -> bool {
    true
}

/// A backup that a node has. Each node has its own directory, unless they share one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Offer {
    /// When the backup was made.
    created_at: Timestamp,
    /// When the first of the offers that it replaced was made.
    at: Timestamp,
}

fn passed(at: Timestamp, ms: i64, now: Timestamp) -> bool {
    at.as_millis().saturating_add(ms) <= now.as_millis()
}

impl State {
    /// An unreadable state counts as none.
    pub(super) fn read(stored: Option<serde_json::Value>) -> Self {
        let stored = stored.and_then(|value| serde_json::from_value(value).ok());
        stored.unwrap_or_default()
    }

    /// Whether a drill is due, with an interval of `days` days.
    pub(super) fn is_due(&self, days: u16, now: Timestamp) -> bool {
        let is_running = self.started.is_some_and(|at| !passed(at, LONGEST_MS, now));
        let interval = i64::from(days).saturating_mul(DAY_MS);
        // A failed drill is repeated sooner: a newer backup may be good.
        let was_made = self.last.as_ref().is_some_and(|last| {
            let pause = if last.error.is_some() {
                RETRY_MS.min(interval)
            } else {
                interval
            };
            !passed(last.at, pause, now)
        });
        !is_running && !was_made
    }

    /// Begins a drill that is due, on a database of a single node.
    pub(super) fn begin(&mut self, now: Timestamp) {
        self.started = Some(now);
        self.offer = None;
    }

    /// Begins a drill that is due with this node's newest backup, made at `created_at`, unless another node may have a
    /// newer one. Otherwise offers this one, and the next calls decide. Returns whether the drill began.
    pub(super) fn begin_with_newest(&mut self, created_at: Timestamp, now: Timestamp) -> bool {
        let offer = self.offer.as_ref();
        let offer = offer.filter(|offer| !passed(offer.at, OFFER_MS, now));
        let gather_ms = i64::try_from(GATHER.as_millis()).unwrap_or(i64::MAX);
        let first = offer.map_or(now, |offer| offer.at);
        if offer.is_some_and(|offer| offer.created_at > created_at) {
            return false;
        }
        if passed(first, gather_ms, now) {
            self.begin(now);
            return true;
        }
        self.offer = Some(Offer {
            created_at,
            at: first,
        });
        false
    }

    /// Stores the end of a drill.
    pub(super) fn end(&mut self, last: Last) {
        if last.error.is_none() {
            self.succeeded = Some(last.at);
            self.unusable = None;
        } else if last.was_made {
            self.unusable = Some(last.clone());
        }
        self.last = Some(last);
        self.started = None;
    }

    /// Returns the finding of `doctor` about drills with an interval of `days` days.
    pub(super) fn finding(&self, days: u16, now: Timestamp) -> Check {
        const ID: &str = "backup_drill";
        const HINT: &str = "Run `gatehouse backup verify` with a backup. If it fails too, make a new backup and verify that one.";
        const NOT_MADE_HINT: &str = "The backup may be intact. Make room in the data directory. The drill is repeated within a day.";
        let did_not_end =
            |at: &Timestamp| at.as_millis().saturating_add(LONGEST_MS) < now.as_millis();
        if let Some(began) = self.started.filter(did_not_end) {
            let message =
                format!("Restoring a backup on trial, which began at {began}, did not end.");
            return Check::bad(ID, message, HINT);
        }
        let Some(last) = &self.last else {
            return Check::fine(ID, "The first backup will be restored on trial.");
        };
        // A backup that is known to be unusable matters more than a later one that could not be checked.
        if let Some(failed) = self.unusable.as_ref().filter(|_| !last.was_made) {
            return failed.finding(ID, HINT);
        }
        if last.error.is_some() {
            return last.finding(ID, if last.was_made { HINT } else { NOT_MADE_HINT });
        }
        let (name, at) = (&last.name, last.at);
        let interval = i64::from(days).saturating_mul(DAY_MS);
        let due = at
            .as_millis()
            .saturating_add(interval)
            .saturating_add(LATE_MS);
        if due < now.as_millis() {
            let message = format!("No backup has been restored on trial since {at}.");
            return Check::bad(ID, message, HINT);
        }
        let seconds = last.took_ms.div_ceil(1000);
        let message = format!(
            "The backup {name} was restored on trial at {at}, in {seconds} s, and is intact."
        );
        Check::fine(ID, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn state(error: Option<&str>) -> State {
        State {
            last: Some(Last {
                at: at("2026-01-01T00:00:00Z"),
                name: "a.backup".to_owned(),
                took_ms: 1001,
                error: error.map(str::to_owned),
                was_made: true,
            }),
            ..State::default()
        }
    }

    #[test]
    fn it_is_due_each_week_and_again_if_its_process_ended() {
        assert!(State::default().is_due(7, at("2026-01-01T00:00:00Z")));
        let mut state = state(None);
        assert!(!state.is_due(7, at("2026-01-07T23:59:59Z")));
        assert!(state.is_due(7, at("2026-01-08T00:00:00Z")));
        let failed = self::state(Some("it is cut off"));
        assert!(!failed.is_due(7, at("2026-01-01T23:59:59Z")));
        assert!(failed.is_due(7, at("2026-01-02T00:00:00Z")));
        state.started = Some(at("2026-01-08T00:00:00Z"));
        assert!(!state.is_due(7, at("2026-01-08T05:59:59Z")));
        assert!(state.is_due(7, at("2026-01-08T06:00:00Z")));
    }

    #[test]
    fn failed_and_late_drills_are_reported() {
        let now = at("2026-01-09T23:59:59Z");
        assert!(State::default().finding(7, now).ok);
        let good = state(None).finding(7, now);
        assert!(good.ok && good.message.contains("in 2 s"), "{good:?}");
        assert!(!state(None).finding(7, at("2026-01-10T00:00:01Z")).ok);
        let mut unfinished = state(None);
        unfinished.started = Some(at("2026-01-09T17:59:58Z"));
        assert!(!unfinished.finding(7, now).ok);
        unfinished.started = Some(at("2026-01-09T17:59:59Z"));
        assert!(unfinished.finding(7, now).ok);
        let failed = state(Some("it is cut off")).finding(7, now);
        assert!(!failed.ok && failed.message.contains("it is cut off"));
    }

    #[test]
    fn the_interval_is_a_setting_and_a_failed_drill_is_repeated_within_it() {
        let state = state(None);
        assert!(!state.is_due(1, at("2026-01-01T23:59:59Z")));
        assert!(state.is_due(1, at("2026-01-02T00:00:00Z")));
        assert!(!state.is_due(365, at("2026-12-31T23:59:59Z")));
        assert!(state.is_due(365, at("2027-01-01T00:00:00Z")));
        assert!(state.finding(1, at("2026-01-04T00:00:00Z")).ok);
        assert!(!state.finding(1, at("2026-01-04T00:00:01Z")).ok);
    }

    #[test]
    fn the_node_with_the_newest_backup_begins() {
        let (old, new) = (at("2026-01-01T00:00:00Z"), at("2026-01-02T00:00:00Z"));
        let mut state = State::default();
        assert!(!state.begin_with_newest(old, at("2026-01-03T00:00:00Z")));
        assert!(!state.begin_with_newest(new, at("2026-01-03T00:19:59Z")));
        for minute in ["2026-01-03T00:20:00Z", "2026-01-03T00:59:59Z"] {
            assert!(!state.begin_with_newest(old, at(minute)), "{minute}");
        }
        let mut other = state.clone();
        assert!(other.begin_with_newest(new, at("2026-01-03T00:20:00Z")));
        assert_eq!(other.started, Some(at("2026-01-03T00:20:00Z")));
        // A backup that was made in the meantime does not start the wait again.
        let mut other = state.clone();
        assert!(other.begin_with_newest(at("2026-01-03T00:19:00Z"), at("2026-01-03T00:20:00Z")));
        // The node with the newest one is gone.
        assert!(!state.begin_with_newest(old, at("2026-01-03T01:00:00Z")));
        assert!(!state.begin_with_newest(old, at("2026-01-03T01:19:59Z")));
        assert!(state.begin_with_newest(old, at("2026-01-03T01:20:00Z")));
    }

    #[test]
    fn a_drill_that_was_not_made_does_not_hide_a_damaged_backup() {
        let drill = |day: &str, error: Option<&str>, was_made| Last {
            at: at(&format!("{day}T00:00:00Z")),
            name: format!("{day}.backup"),
            took_ms: 1,
            error: error.map(str::to_owned),
            was_made,
        };
        let now = at("2026-01-04T00:00:00Z");
        let mut state = State::default();
        state.end(drill("2026-01-01", Some("the disk is full"), false));
        assert!(state.finding(7, now).message.contains("not checked"));
        state.end(drill("2026-01-02", Some("it is cut off"), true));
        state.end(drill("2026-01-03", Some("the disk is full"), false));
        let found = state.finding(7, now);
        assert!(!found.ok);
        assert!(found.message.contains("2026-01-02.backup"), "{found:?}");
        state.end(drill("2026-01-04", None, true));
        assert!(state.finding(7, now).ok);
        state.end(drill("2026-01-05", Some("the disk is full"), false));
        assert!(state.finding(7, now).message.contains("not checked"));
    }

    #[test]
    fn a_failure_does_not_hide_when_the_last_drill_succeeded() {
        let mut state = State::default();
        for (day, error) in [("2026-01-01", None), ("2026-01-08", Some("it is cut off"))] {
            state.end(Last {
                at: at(&format!("{day}T00:00:00Z")),
                name: "a.backup".to_owned(),
                took_ms: 1,
                error: error.map(str::to_owned),
                was_made: true,
            });
        }
        assert_eq!(state.succeeded, Some(at("2026-01-01T00:00:00Z")));
        // A state of an earlier version.
        let stored = serde_json::json!({ "last": null, "started": null });
        assert_eq!(State::read(Some(stored)), State::default());
    }
}
