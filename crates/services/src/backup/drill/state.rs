//! The stored state of the drill: when it is due, which node makes it, and what `doctor` reports.

use super::{CheckResult, CheckedBackup};
use crate::doctor::Check;
use gatehouse_backup::folder;
use gatehouse_domain::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The check of backups that are restored.
const RESTORED: &str = "backup_drill";
/// The check of encrypted backups, of which the server can only read the file.
const ENCRYPTED: &str = "backup_encrypted";
const HINT: &str = "Run `gatehouse backup verify` with a backup. If it fails too, make a new backup and verify that one.";
const NOT_MADE_HINT: &str = "The backup may be intact. Make room in the data directory. The drill is repeated within a day.";
const ENCRYPTED_HINT: &str =
    "Make a new backup, and run `gatehouse backup verify` with it where the key is.";
const NOT_READ_HINT: &str = "The backup may be intact. Check the directory in [backup]. The check is repeated within a day.";
const WAITING_ENCRYPTED: &str = "Backups are encrypted to a key that this server does not have, so it cannot restore them \
    on trial. It will check only that the file of the newest one is unchanged. Run `gatehouse backup verify` where the key is.";

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
    /// The newest encrypted backup that a server made.
    #[serde(default)]
    pub(super) made: Option<Made>,
}

/// How far a backup was checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Extent {
    /// It was restored. Earlier versions did nothing else.
    #[default]
    Restored,
    /// It is encrypted to a key that this server does not have. Its file was compared with its checksum.
    Unchanged,
    /// As [`Self::Unchanged`], without a checksum: only the header was read.
    Header,
}

/// An encrypted backup that this installation made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Made {
    pub(super) name: String,
    /// SHA-256 of the file, in hexadecimal.
    pub(super) sha256: String,
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
    #[serde(default)]
    pub(super) extent: Extent,
}

impl Last {
    /// What `doctor` reports about a drill that failed or was not made.
    fn failure(&self) -> Check {
        let Self { name, at, .. } = self;
        let error = self.error.as_deref().unwrap_or_default();
        let is_restore = self.extent == Extent::Restored;
        let (id, hint) = match (is_restore, self.was_made) {
            (true, true) => (RESTORED, HINT),
            (true, false) => (RESTORED, NOT_MADE_HINT),
            (false, true) => (ENCRYPTED, ENCRYPTED_HINT),
            (false, false) => (ENCRYPTED, NOT_READ_HINT),
        };
        let message = match (is_restore, self.was_made) {
            (true, true) => {
                format!("Restoring the backup {name} on trial at {at} failed: {error}.")
            }
            (false, true) => {
                format!("The encrypted backup {name} was found damaged at {at}: {error}.")
            }
            (_, false) => format!("The backup {name} was not checked at {at}: {error}."),
        };
        Check::bad(id, message, hint)
    }

    /// What `doctor` reports about a drill that found no fault.
    fn success(&self) -> Check {
        let Self { name, at, .. } = self;
        let found = match self.extent {
            Extent::Restored => {
                let seconds = self.took_ms.div_ceil(1000);
                let message = format!(
                    "The backup {name} was restored on trial at {at}, in {seconds} s, and is intact."
                );
                return Check::fine(RESTORED, message);
            }
            Extent::Unchanged => "its file was as it was written",
            Extent::Header => {
                "its file began like an encrypted backup, and its content was not compared"
            }
        };
        let message = format!(
            "The backup {name} is encrypted to a key that this server does not have. At {at}, {found}. It was neither \
             decrypted nor restored on trial: run `gatehouse backup verify` where the key is."
        );
        Check::fine(ENCRYPTED, message)
    }

    /// What a list of backups shows.
    pub(super) fn result(&self) -> CheckedBackup {
        CheckedBackup {
            at: self.at,
            result: match (&self.error, self.was_made, self.extent) {
                (Some(_), true, _) => CheckResult::Unusable,
                (Some(_), false, _) => CheckResult::NotChecked,
                (None, _, Extent::Restored) => CheckResult::Restored,
                (None, _, Extent::Unchanged) => CheckResult::FileUnchanged,
                (None, _, Extent::Header) => CheckResult::HeaderOnly,
            },
        }
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
        let mut state: Self = stored.unwrap_or_default();
        // A node of an earlier version stores the state without `extent`. No node restores encrypted backups.
        for last in [&mut state.last, &mut state.unusable].into_iter().flatten() {
            if last.extent == Extent::Restored && folder::is_encrypted(&last.name) {
                last.extent = Extent::Header;
            }
        }
        state
    }

    /// Whether a drill is due, with an interval of `days` days. `restores` states whether the newest backup can be
    /// restored.
    pub(super) fn is_due(&self, days: u16, restores: bool, now: Timestamp) -> bool {
        let is_running = self.started.is_some_and(|at| !passed(at, LONGEST_MS, now));
        let interval = i64::from(days).saturating_mul(DAY_MS);
        // One that failed is repeated sooner: a newer backup may be good.
        // A restore does not wait because the file of another backup was read.
        let known = self.last.as_ref();
        let known = known.filter(|last| !restores || last.extent == Extent::Restored);
        let was_made = known.is_some_and(|last| {
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
            if last.extent == Extent::Restored {
                self.succeeded = Some(last.at);
            }
            // The header of a damaged file can be readable.
            self.unusable = self
                .unusable
                .take()
                .filter(|unusable| last.extent == Extent::Header && unusable.name == last.name);
        } else if last.was_made {
            self.unusable = Some(last.clone());
        }
        self.last = Some(last);
        self.started = None;
    }

    /// What `doctor` reports about drills with an interval of `days` days. `is_locked` states whether new backups are
    /// encrypted to a key that this server does not have.
    pub(super) fn finding(&self, days: u16, is_locked: bool, now: Timestamp) -> Check {
        let did_not_end =
            |at: &Timestamp| at.as_millis().saturating_add(LONGEST_MS) < now.as_millis();
        if let Some(began) = self.started.filter(did_not_end) {
            if is_locked {
                let message = format!(
                    "The check of an encrypted backup, which began at {began}, did not end."
                );
                return Check::bad(ENCRYPTED, message, ENCRYPTED_HINT);
            }
            let message =
                format!("Restoring a backup on trial, which began at {began}, did not end.");
            return Check::bad(RESTORED, message, HINT);
        }
        // A restore from before backups were encrypted shows nothing about those of today.
        let is_of_today =
            |last: &&Last| !is_locked || last.error.is_some() || last.extent != Extent::Restored;
        let Some(last) = self.last.as_ref().filter(is_of_today) else {
            return if is_locked {
                Check::fine(ENCRYPTED, WAITING_ENCRYPTED)
            } else {
                Check::fine(RESTORED, "The first backup will be restored on trial.")
            };
        };
        // A backup that is known to be unusable matters more than a later one that could not be checked, and more than
        // its own header.
        let is_known = |failed: &&Last| !last.was_made || failed.name == last.name;
        if let Some(failed) = self.unusable.as_ref().filter(is_known) {
            return failed.failure();
        }
        if last.error.is_some() {
            return last.failure();
        }
        let at = last.at;
        let interval = i64::from(days).saturating_mul(DAY_MS);
        if !passed(at, interval.saturating_add(LATE_MS).saturating_add(1), now) {
            return last.success();
        }
        if last.extent == Extent::Restored {
            let message = format!("No backup has been restored on trial since {at}.");
            return Check::bad(RESTORED, message, HINT);
        }
        let message = format!("No encrypted backup has been checked since {at}.");
        Check::bad(ENCRYPTED, message, ENCRYPTED_HINT)
    }

    /// The result for a backup if it was the last one that was unusable, or the last one that was checked.
    pub(super) fn result_of(&self, name: &str) -> Option<CheckedBackup> {
        let known = [&self.unusable, &self.last].into_iter().flatten();
        let mut of_this = known.filter(|last| last.name == name);
        of_this.next().map(Last::result)
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
                extent: Extent::Restored,
            }),
            ..State::default()
        }
    }

    #[test]
    fn it_is_due_each_week_and_again_if_its_process_ended() {
        assert!(State::default().is_due(7, true, at("2026-01-01T00:00:00Z")));
        let mut state = state(None);
        assert!(!state.is_due(7, true, at("2026-01-07T23:59:59Z")));
        assert!(state.is_due(7, true, at("2026-01-08T00:00:00Z")));
        let failed = self::state(Some("it is cut off"));
        assert!(!failed.is_due(7, true, at("2026-01-01T23:59:59Z")));
        assert!(failed.is_due(7, true, at("2026-01-02T00:00:00Z")));
        state.started = Some(at("2026-01-08T00:00:00Z"));
        assert!(!state.is_due(7, true, at("2026-01-08T05:59:59Z")));
        assert!(state.is_due(7, true, at("2026-01-08T06:00:00Z")));
    }

    #[test]
    fn failed_and_late_drills_are_reported() {
        let now = at("2026-01-09T23:59:59Z");
        assert!(State::default().finding(7, false, now).ok);
        let good = state(None).finding(7, false, now);
        assert!(good.ok && good.message.contains("in 2 s"), "{good:?}");
        assert!(!state(None).finding(7, false, at("2026-01-10T00:00:01Z")).ok);
        let mut unfinished = state(None);
        unfinished.started = Some(at("2026-01-09T17:59:58Z"));
        assert!(!unfinished.finding(7, false, now).ok);
        unfinished.started = Some(at("2026-01-09T17:59:59Z"));
        assert!(unfinished.finding(7, false, now).ok);
        let failed = state(Some("it is cut off")).finding(7, false, now);
        assert!(!failed.ok && failed.message.contains("it is cut off"));
    }

    #[test]
    fn the_interval_is_a_setting_and_a_failed_drill_is_repeated_within_it() {
        let state = state(None);
        assert!(!state.is_due(1, true, at("2026-01-01T23:59:59Z")));
        assert!(state.is_due(1, true, at("2026-01-02T00:00:00Z")));
        assert!(!state.is_due(365, true, at("2026-12-31T23:59:59Z")));
        assert!(state.is_due(365, true, at("2027-01-01T00:00:00Z")));
        assert!(state.finding(1, false, at("2026-01-04T00:00:00Z")).ok);
        assert!(!state.finding(1, false, at("2026-01-04T00:00:01Z")).ok);
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
            extent: Extent::Restored,
        };
        let now = at("2026-01-04T00:00:00Z");
        let mut state = State::default();
        state.end(drill("2026-01-01", Some("the disk is full"), false));
        assert!(state.finding(7, false, now).message.contains("not checked"));
        state.end(drill("2026-01-02", Some("it is cut off"), true));
        state.end(drill("2026-01-03", Some("the disk is full"), false));
        let found = state.finding(7, false, now);
        assert!(!found.ok);
        assert!(found.message.contains("2026-01-02.backup"), "{found:?}");
        state.end(drill("2026-01-04", None, true));
        assert!(state.finding(7, false, now).ok);
        state.end(drill("2026-01-05", Some("the disk is full"), false));
        assert!(state.finding(7, false, now).message.contains("not checked"));
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
                extent: Extent::Restored,
            });
        }
        assert_eq!(state.succeeded, Some(at("2026-01-01T00:00:00Z")));
        // A state of an earlier version.
        let stored = serde_json::json!({ "last": null, "started": null });
        assert_eq!(State::read(Some(stored)), State::default());
    }

    /// The end of a drill that did not restore its backup.
    fn of_file(day: &str, error: Option<&str>, extent: Extent) -> Last {
        Last {
            at: at(&format!("{day}T00:00:00Z")),
            name: format!("{day}.backup.age"),
            took_ms: 1,
            error: error.map(str::to_owned),
            was_made: true,
            extent,
        }
    }

    #[test]
    fn an_encrypted_backup_that_was_not_restored_is_not_reported_as_restored() {
        let now = at("2026-01-04T00:00:00Z");
        let mut state = state(None);
        // What an earlier restore showed is not reported when backups are encrypted since.
        let waiting = state.finding(7, true, now);
        assert_eq!((waiting.id, waiting.ok), (ENCRYPTED, true));
        assert!(waiting.message.contains("cannot restore"), "{waiting:?}");
        let before = state.succeeded;
        for extent in [Extent::Unchanged, Extent::Header] {
            state.end(of_file("2026-01-03", None, extent));
            let found = state.finding(7, true, now);
            assert_eq!((found.id, found.ok), (ENCRYPTED, true));
            assert!(
                found.message.contains("neither decrypted nor restored"),
                "{found:?}"
            );
            assert_eq!(state.succeeded, before);
        }
        assert!(state.finding(7, true, at("2026-01-12T00:00:00Z")).ok);
        assert!(!state.finding(7, true, at("2026-01-12T00:00:00.001Z")).ok);
        state.end(of_file("2026-01-03", Some("it is cut off"), Extent::Header));
        let damaged = state.finding(7, true, now);
        assert_eq!((damaged.id, damaged.ok), (ENCRYPTED, false));
        let result = state.result_of("2026-01-03.backup.age").unwrap().result;
        assert_eq!(result, CheckResult::Unusable);
        assert!(state.result_of("2026-01-02.backup.age").is_none());
    }

    #[test]
    fn an_encrypted_backup_without_an_extent_counts_as_not_restored() {
        let mut state = State::default();
        state.end(of_file("2026-01-02", Some("it is cut off"), Extent::Header));
        state.end(of_file("2026-01-02", None, Extent::Header));
        let mut stored = serde_json::json!(state);
        for member in ["last", "unusable"] {
            let last = stored[member].as_object_mut().unwrap();
            assert!(last.remove("extent").is_some());
        }
        assert_eq!(State::read(Some(stored)), state);
        let restored = self::state(None);
        assert_eq!(State::read(Some(serde_json::json!(restored))), restored);
    }

    #[test]
    fn a_readable_header_does_not_hide_that_the_file_was_damaged() {
        let now = at("2026-01-04T00:00:00Z");
        let mut state = State::default();
        state.end(of_file("2026-01-02", Some("it is cut off"), Extent::Header));
        state.end(of_file("2026-01-02", None, Extent::Header));
        let found = state.finding(7, true, now);
        assert!(!found.ok && found.message.contains("it is cut off"));
        let result = state.result_of("2026-01-02.backup.age").unwrap().result;
        assert_eq!(result, CheckResult::Unusable);
        let mut compared = state.clone();
        compared.end(of_file("2026-01-02", None, Extent::Unchanged));
        assert!(compared.finding(7, true, now).ok);
        state.end(of_file("2026-01-03", None, Extent::Header));
        assert!(state.finding(7, true, now).ok);
    }

    #[test]
    fn a_check_of_an_encrypted_backup_that_did_not_end_is_not_called_a_restore() {
        let state = State {
            started: Some(at("2026-01-01T00:00:00Z")),
            ..State::default()
        };
        let now = at("2026-01-01T06:00:01Z");
        let found = state.finding(7, true, now);
        assert_eq!((found.id, found.ok), (ENCRYPTED, false));
        assert!(!found.message.contains("Restoring"), "{found:?}");
        assert_eq!(state.finding(7, false, now).id, RESTORED);
    }

    #[test]
    fn a_backup_that_can_be_restored_does_not_wait_for_the_check_of_an_encrypted_one() {
        let mut state = State::default();
        state.end(of_file("2026-01-03", None, Extent::Unchanged));
        let now = at("2026-01-03T00:00:01Z");
        assert!(!state.is_due(7, false, now));
        assert!(state.is_due(7, true, now));
        assert!(state.is_due(7, false, at("2026-01-10T00:00:00Z")));
    }
}
