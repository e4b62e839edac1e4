//! The stored state of the drill: when it is due, which node makes it, and what `doctor` reports.

use super::{CheckResult, CheckedBackup};
use crate::doctor::check::Check;
use gatehouse_backup::folder;
use gatehouse_domain::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The check of backups that are restored.
const RESTORED: &str = "backup_drill";
/// The check of encrypted backups that are not restored.
const ENCRYPTED: &str = "backup_encrypted";
const HINT: &str = "Run `gatehouse backup verify` with a backup. If that also fails, make a new backup and verify it.";
const NOT_MADE_HINT: &str = "The backup may be intact. Free some space in the data directory. The trial restore is \
    repeated within a day.";
const NEXT_HINT: &str = "The backup may be intact. If the data directory is full, free some space. The next test is of \
    a backup that the server makes a day later.";
const ENCRYPTED_HINT: &str =
    "Make a new backup, and run `gatehouse backup verify` with it where the key is.";
const NOT_READ_HINT: &str = "The backup may be intact. Check the directory in [backup]. The check is repeated within a day.";
const WAITING_ENCRYPTED: &str = "Backups are encrypted. The server will test the next one that it makes, with the \
    key of the file, which it has in memory until then. Of other encrypted backups, it will check only that the file \
    is unchanged. Run `gatehouse backup verify FILE --identity KEY` where the key is.";

/// What the success of a drill with the key of the file leaves open.
const NOT_YOUR_KEY: &str = "The server used the key of the file, which it kept in memory after the backup. To find \
    out whether your identity or passphrase decrypts a backup, run `gatehouse backup verify FILE` with it.";

const DAY_MS: i64 = 24 * 3_600_000;
/// The longest wait before a failed drill is repeated.
const RETRY_MS: i64 = DAY_MS;
/// How much earlier a drill may be if the key of a backup is only kept now. Otherwise a backup of each night would be
/// tested every eighth day instead of every seventh.
const EARLY_MS: i64 = 6 * 3_600_000;
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
    /// The last check that read the content of a backup and found no fault.
    #[serde(default)]
    tested: Option<Last>,
}

/// How the server can read a backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// It is not encrypted.
    Plain,
    /// It is encrypted, and this process has just made it and still has the key of the file.
    KeptKey,
    /// It is encrypted, and only its file can be read.
    File,
}

/// How far a backup was checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Extent {
    /// The backup was restored. Earlier versions did nothing else.
    #[default]
    Restored,
    /// The backup is encrypted to a key that this server does not have. Its file was compared with its checksum. With
    /// [`Last::had_key`], it was decrypted, and every checksum in it was compared.
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
    /// Whether the backup is encrypted and was decrypted with the kept key of its file.
    #[serde(default)]
    pub(super) had_key: bool,
}

impl Last {
    /// Whether the content of the backup was read.
    fn is_of_content(&self) -> bool {
        self.extent == Extent::Restored || self.had_key
    }

    /// What `doctor` reports about a drill that failed or was not made.
    fn failure(&self) -> Check {
        let Self { name, at, .. } = self;
        let error = self.error.as_deref().unwrap_or_default();
        let is_restore = self.extent == Extent::Restored;
        let (id, hint) = match (is_restore, self.was_made) {
            (true, true) if self.had_key => (RESTORED, ENCRYPTED_HINT),
            (true, true) => (RESTORED, HINT),
            (true, false) if self.had_key => (RESTORED, NEXT_HINT),
            (true, false) => (RESTORED, NOT_MADE_HINT),
            (false, true) => (ENCRYPTED, ENCRYPTED_HINT),
            (false, false) if self.had_key => (ENCRYPTED, NEXT_HINT),
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

    /// What `doctor` reports about a drill that found no fault. `tested` is the last one that read the content of a
    /// backup.
    fn success(&self, tested: Option<&Self>) -> Check {
        if self.is_of_content() {
            return self.content_success();
        }
        let Self { name, at, .. } = self;
        let is_unchanged = self.extent == Extent::Unchanged;
        // What was found then is still in the file.
        if let Some(tested) = tested.filter(|tested| is_unchanged && tested.name == *name) {
            let check = tested.content_success();
            let message = format!("{} At {at}, its file was unchanged.", check.message);
            return Check { message, ..check };
        }
        let found = if is_unchanged {
            "its file was unchanged"
        } else {
            "its file had the header of an encrypted backup, and the content was not compared"
        };
        let message = format!(
            "The backup {name} is encrypted to a key that this server does not have. At {at}, {found}. That check \
             neither decrypted nor restored it: run `gatehouse backup verify FILE` with `--identity` or \
             `--passphrase-file` where the key is."
        );
        Check::fine(ENCRYPTED, message)
    }

    /// The same for a drill that read the content.
    fn content_success(&self) -> Check {
        let Self { name, at, .. } = self;
        let seconds = self.took_ms.div_ceil(1000);
        if !self.had_key {
            let message = format!(
                "The trial restore of the backup {name} at {at} took {seconds} s. The backup is intact."
            );
            return Check::fine(RESTORED, message);
        }
        let (id, what) = if self.extent == Extent::Restored {
            let what = format!(
                "The trial restore of the encrypted backup {name} at {at} took {seconds} s. The backup is intact."
            );
            (RESTORED, what)
        } else {
            let what = format!(
                "The encrypted backup {name} was decrypted at {at}, and every checksum in it matches. It was not \
                 restored, because the database is not on the disk of the data directory."
            );
            (ENCRYPTED, what)
        };
        let message = format!("{what} {NOT_YOUR_KEY}");
        Check::fine(id, message)
    }

    /// What a list of backups shows.
    pub(super) fn result(&self) -> CheckedBackup {
        CheckedBackup {
            at: self.at,
            result: match (&self.error, self.was_made, self.extent) {
                (Some(_), true, _) => CheckResult::Unusable,
                (Some(_), false, _) => CheckResult::NotChecked,
                (None, _, Extent::Unchanged) if self.had_key => CheckResult::Decrypted,
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
        // A node of an earlier version stores the state without `extent` or without `had_key`. It then says less than
        // was done.
        for last in [&mut state.last, &mut state.unusable].into_iter().flatten() {
            let is_encrypted = folder::is_encrypted(&last.name);
            if last.extent == Extent::Restored && is_encrypted && !last.had_key {
                last.extent = Extent::Header;
            }
        }
        state
    }

    /// Whether a drill is due, with an interval of `days` days, if the server can read the backup in this way.
    pub(super) fn is_due(&self, days: u16, access: Access, now: Timestamp) -> bool {
        let is_running = self
            .started
            .is_some_and(|at| is_recent(at, LONGEST_MS, now));
        let interval = i64::from(days).saturating_mul(DAY_MS);
        let last = self.last.as_ref();
        // A check of only the file does not delay the next restore. A restore of an unencrypted backup says nothing
        // about the encrypted ones.
        let (known, early) = match access {
            Access::File => (last, 0),
            Access::Plain => (last.filter(|last| last.extent == Extent::Restored), 0),
            Access::KeptKey => {
                let mut all = last.into_iter().chain(&self.tested);
                (all.find(|last| last.had_key), EARLY_MS)
            }
        };
        // A failed drill is repeated sooner, because a newer backup may be intact.
        let was_made = known.is_some_and(|last| {
            let pause = if last.error.is_some() {
                RETRY_MS.min(interval)
            } else {
                interval
            };
            is_recent(last.at, pause - early, now)
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
            self.unusable = self.unusable.take().filter(|unusable| match last.extent {
                _ if last.is_of_content() => false,
                // The header of a damaged file can be readable.
                Extent::Header => unusable.name == last.name,
                // A file can be unchanged since it was written with a wrong content.
                Extent::Unchanged | Extent::Restored => unusable.is_of_content(),
            });
            if last.is_of_content() {
                self.tested = Some(last.clone());
            }
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
        Some(last.had_key || last.extent != Extent::Restored)
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
        let is_of_today = |last: &&Last| {
            !is_locked || last.error.is_some() || last.had_key || last.extent != Extent::Restored
        };
        let Some(last) = self.last.as_ref().filter(is_of_today) else {
            return if is_locked {
                Check::fine(ENCRYPTED, WAITING_ENCRYPTED)
            } else {
                Check::fine(RESTORED, "A trial restore of the first backup will follow.")
            };
        };
        // A backup that is known to be unusable matters more than a later one that could not be checked, and more than
        // its own file.
        if let Some(failed) = &self.unusable {
            return failed.failure();
        }
        if last.error.is_some() {
            return last.failure();
        }
        let at = last.at;
        let interval = i64::from(days).saturating_mul(DAY_MS);
        if !passed(at, interval.saturating_add(LATE_MS).saturating_add(1), now) {
            return last.success(self.tested.as_ref());
        }
        if last.extent == Extent::Restored {
            let message = format!("No trial restore has succeeded since {at}.");
            return Check::bad(RESTORED, message, HINT);
        }
        let message = format!("No encrypted backup has been checked since {at}.");
        Check::bad(ENCRYPTED, message, ENCRYPTED_HINT)
    }

    /// The result of a backup's last check, if it is the most recently checked backup, the most recent one whose content
    /// was read, or the most recent unusable one.
    pub(super) fn result_of(&self, name: &str) -> Option<CheckedBackup> {
        let of_this = |last: &&Last| last.name == name;
        let last = self.last.as_ref().filter(of_this);
        let tested = self.tested.as_ref().filter(of_this);
        // A test of the content says more than a later check that the file is unchanged.
        let is_less =
            last.is_none_or(|last| last.error.is_none() && last.extent == Extent::Unchanged);
        let found = if is_less { tested.or(last) } else { last };
        let unusable = self.unusable.as_ref().filter(of_this);
        unusable.or(found).map(Last::result)
    }
}

#[cfg(test)]
mod tests;
