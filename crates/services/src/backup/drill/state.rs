//! The stored state of the drill: when it is due, which node makes it, and what `doctor` reports.

use super::{CheckResult, CheckedBackup};
use crate::doctor::check::Check;
use gatehouse_backup::folder;
use gatehouse_domain::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The check of backups that are restored.
const RESTORED: &str = "backup_drill";
/// The check of encrypted backups, of which the server can only read the file.
const ENCRYPTED: &str = "backup_encrypted";
const HINT: &str = "Run `gatehouse backup verify` with a backup. If that also fails, make a new backup and verify it.";
const NOT_MADE_HINT: &str = "The backup may be intact. Free some space in the data directory. The trial restore is \
    repeated within a day.";
const ENCRYPTED_HINT: &str =
    "Make a new backup, and run `gatehouse backup verify` with it where the key is.";
const NOT_READ_HINT: &str = "The backup may be intact. Check the directory in [backup]. The check is repeated within a day.";
const WAITING_ENCRYPTED: &str = "Backups are encrypted to a key that this server does not have, so it cannot do \
    trial restores. It will check only that the file of the newest backup is unchanged. Run `gatehouse backup verify \
    FILE --identity KEY` where the key is.";

const DAY_MS: i64 = 24 * 3_600_000;
/// The longest wait before a failed drill is repeated.
const RETRY_MS: i64 = DAY_MS;
/// How late a drill may be before `doctor` reports it.
const LATE_MS: i64 = 2 * DAY_MS;
/// A drill that has run for longer than this is over: its process has ended.
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
    pub(super) made: Option<OwnBackup>,
}

/// How far a backup was checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Extent {
    /// The backup was restored. Earlier versions did nothing else.
    #[default]
    Restored,
    /// The backup is encrypted to a key that this server does not have. Its file was compared with its checksum.
    Unchanged,
    /// As [`Self::Unchanged`], without a checksum: only the header was read.
    Header,
}

/// An encrypted backup that this installation made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OwnBackup {
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
                format!("The trial restore of the backup {name} at {at} failed: {error}.")
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
                    "The trial restore of the backup {name} at {at} took {seconds} s. The backup is intact."
                );
                return Check::fine(RESTORED, message);
            }
            Extent::Unchanged => "its file was unchanged",
            Extent::Header => {
                "its file had the header of an encrypted backup, and the content was not compared"
            }
        };
        let message = format!(
            "The backup {name} is encrypted to a key that this server does not have. At {at}, {found}. It was neither \
             decrypted nor restored: run `gatehouse backup verify FILE` with `--identity` or `--passphrase-file` \
             where the key is."
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

/// Whether less than this time has passed. A time more than a day ahead was stored while a clock was ahead, and counts
/// as long ago.
fn is_recent(at: Timestamp, ms: i64, now: Timestamp) -> bool {
    let is_ahead = at.as_millis() > now.as_millis().saturating_add(DAY_MS);
    !passed(at, ms, now) && !is_ahead
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
        let is_running = self
            .started
            .is_some_and(|at| is_recent(at, LONGEST_MS, now));
        let interval = i64::from(days).saturating_mul(DAY_MS);
        // A failed drill is repeated sooner, because a newer backup may be intact. A check of only the file does not
        // delay the next restore.
        let known = self.last.as_ref();
        let known = known.filter(|last| !restores || last.extent == Extent::Restored);
        let was_made = known.is_some_and(|last| {
            let pause = if last.error.is_some() {
                RETRY_MS.min(interval)
            } else {
                interval
            };
            is_recent(last.at, pause, now)
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
        let offer = offer.filter(|offer| is_recent(offer.at, OFFER_MS, now));
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

    /// Whether the backup of the last drill was encrypted to a key that this server does not have. `None` if there was
    /// no drill.
    pub(super) fn was_locked(&self) -> Option<bool> {
        let last = self.last.as_ref()?;
        Some(last.extent != Extent::Restored)
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
            let message = format!("The trial restore that began at {began} did not end.");
            return Check::bad(RESTORED, message, HINT);
        }
        // A restore of an unencrypted backup says nothing about the encrypted ones.
        let is_of_today =
            |last: &&Last| !is_locked || last.error.is_some() || last.extent != Extent::Restored;
        let Some(last) = self.last.as_ref().filter(is_of_today) else {
            return if is_locked {
                Check::fine(ENCRYPTED, WAITING_ENCRYPTED)
            } else {
                Check::fine(RESTORED, "A trial restore of the first backup will follow.")
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
            let message = format!("No trial restore has succeeded since {at}.");
            return Check::bad(RESTORED, message, HINT);
        }
        let message = format!("No encrypted backup has been checked since {at}.");
        Check::bad(ENCRYPTED, message, ENCRYPTED_HINT)
    }

    /// The result of a backup's last check, if it is the most recently checked backup or the most recent unusable one.
    pub(super) fn result_of(&self, name: &str) -> Option<CheckedBackup> {
        let known = [&self.unusable, &self.last].into_iter().flatten();
        let mut of_this = known.filter(|last| last.name == name);
        of_this.next().map(Last::result)
    }
}

#[cfg(test)]
mod tests;
