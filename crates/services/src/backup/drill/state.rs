//! The stored state of trial restores: when the next one is due, which node runs it, and what `doctor` reports.

mod finding;

use super::last::{Extent, Last};
use gatehouse_backup::folder;
use gatehouse_domain::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

const DAY_MS: i64 = 24 * 3_600_000;
/// The longest delay before a failed trial restore is repeated.
const RETRY_MS: i64 = DAY_MS;
/// How early a trial restore may run if the key of a new backup is currently kept. Without this margin, daily
/// backups would be tested every eighth day instead of every seventh.
const EARLY_MS: i64 = 6 * 3_600_000;

/// The maximum duration of a trial restore. After this time, its process counts as ended.
const LONGEST_MS: i64 = 6 * 3_600_000;
/// How long nodes wait for a node with a newer backup. Longer than the interval between two checks of the state.
pub(super) const GATHER: Duration = Duration::from_mins(20);
/// How long a node that offered a backup may take to begin. After this time, the node counts as gone.
const OFFER_MS: i64 = 3_600_000;

/// The stored state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) last: Option<Last>,
    /// The last trial restore that found its backup unusable. Deleted when one succeeds.
    #[serde(default)]
    unusable: Option<Last>,
    /// When the running trial restore began.
    pub(super) started: Option<Timestamp>,
    /// When the last successful trial restore began.
    #[serde(default)]
    pub(super) succeeded: Option<Timestamp>,
    /// The newest backup that a node has offered for the trial restore that is due.
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
    /// The backup is not encrypted.
    Plain,
    /// The backup is encrypted. This process has just created it and still has the key of the file.
    KeptKey,
    /// The backup is encrypted, and only its file can be read.
    File,
}

/// An encrypted backup that this installation made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OwnBackup {
    pub(super) name: String,
    /// SHA-256 of the file, in hexadecimal.
    pub(super) sha256: String,
}

/// A backup that a node offers. Each node has its own directory, unless they share one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Offer {
    /// When the backup was made.
    created_at: Timestamp,
    /// When the first offer for this trial restore was made. Later offers with newer backups keep this time.
    at: Timestamp,
}

fn passed(at: Timestamp, ms: i64, now: Timestamp) -> bool {
    at.as_millis().saturating_add(ms) <= now.as_millis()
}

/// Returns whether less than this time has passed. A time more than a day ahead was stored while a clock was ahead,
/// and does not count as recent.
fn is_recent(at: Timestamp, ms: i64, now: Timestamp) -> bool {
    let is_ahead = at.as_millis() > now.as_millis().saturating_add(DAY_MS);
    !passed(at, ms, now) && !is_ahead
}

impl State {
    /// Reads the stored state. An unreadable state counts as none.
    pub(super) fn read(stored: Option<serde_json::Value>) -> Self {
        let stored = stored.and_then(|value| serde_json::from_value(value).ok());
        let mut state: Self = stored.unwrap_or_default();
        // A node of an earlier version stores the state without `extent` or `had_key`. The defaults then claim less
        // than was checked.
        for last in [&mut state.last, &mut state.unusable].into_iter().flatten() {
            let is_encrypted = folder::is_encrypted(&last.name);
            if last.extent == Extent::Restored && is_encrypted && !last.had_key {
                last.extent = Extent::Header;
            }
        }
        state
    }

    /// Returns whether a trial restore is due. `days` is the interval in days, and `access` is how the server can
    /// read the backup.
    pub(super) fn is_due(&self, days: u16, access: Access, now: Timestamp) -> bool {
        let is_running = self
            .started
            .is_some_and(|at| is_recent(at, LONGEST_MS, now));
        let interval = i64::from(days).saturating_mul(DAY_MS);
        let last = self.last.as_ref();
        // A check of only the file does not delay the next restore. A restore of an unencrypted backup does not
        // delay the check of encrypted ones.
        let (known, early) = match access {
            Access::File => (last, 0),
            Access::Plain => (last.filter(|last| last.extent == Extent::Restored), 0),
            Access::KeptKey => {
                let mut all = last.into_iter().chain(&self.tested);
                (all.find(|last| last.had_key), EARLY_MS)
            }
        };
        // A failed trial restore is repeated sooner, because a newer backup may be intact.
        let was_made = known.is_some_and(|last| {
            let pause = if last.error.is_some() {
                RETRY_MS.min(interval)
            } else {
                interval
            };
            is_recent(last.at, pause - early, now)
        });
        // If the process ended during a trial restore, the backup is checked again, as far as it can be read now.
        !is_running && (self.started.is_some() || !was_made)
    }

    /// Begins a trial restore that is due, on a database of a single node.
    pub(super) fn begin(&mut self, now: Timestamp) {
        self.started = Some(now);
        self.offer = None;
    }

    /// Begins a trial restore that is due with this node's newest backup, created at `created_at`. If another node
    /// may have a newer backup, offers this backup instead; a later call then decides. Returns whether the trial
    /// restore began.
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

    /// Stores the end of a trial restore.
    pub(super) fn end(&mut self, last: Last) {
        if last.error.is_none() {
            if last.extent == Extent::Restored {
                self.succeeded = Some(last.at);
            }
            self.unusable = self.unusable.take().filter(|unusable| match last.extent {
                _ if last.is_of_content() => false,
                // The header of a damaged file can be readable.
                Extent::Header => unusable.name == last.name,
                // A file that was written with damaged content can be unchanged.
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

    /// Returns whether the backup of the last trial restore was encrypted to a key that this server does not have.
    /// Returns `None` if there was none.
    pub(super) fn was_locked(&self) -> Option<bool> {
        let last = self.last.as_ref()?;
        Some(last.had_key || last.extent != Extent::Restored)
    }
}

#[cfg(test)]
mod tests;
