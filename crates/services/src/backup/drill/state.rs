//! The stored state of the drill: when it is due, which node makes it, and what `doctor` reports.

mod finding;

use super::last::{Extent, Last};
use gatehouse_backup::folder;
use gatehouse_domain::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

const DAY_MS: i64 = 24 * 3_600_000;
/// The longest wait before a failed drill is repeated.
const RETRY_MS: i64 = DAY_MS;
/// How much earlier a drill may be if the key of a backup is only kept now. Otherwise a backup of each night would be
/// tested every eighth day instead of every seventh.
const EARLY_MS: i64 = 6 * 3_600_000;

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

/// An encrypted backup that this installation made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OwnBackup {
    pub(super) name: String,
    /// SHA-256 of the file, in hexadecimal.
    pub(super) sha256: String,
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
        // A drill whose process ended is repeated, as far as the backup can be read now.
        !is_running && (self.started.is_some() || !was_made)
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
}

#[cfg(test)]
mod tests;
