//! The report of the state of trial restores to the operator.

use super::{DAY_MS, LONGEST_MS, State, passed};
use crate::backup::drill::{
    CheckedBackup,
    last::{ENCRYPTED, ENCRYPTED_HINT, Extent, HINT, Last, RESTORED},
};
use crate::doctor::check::Check;
use gatehouse_domain::Timestamp;

const WAITING_ENCRYPTED: &str = "Backups are encrypted. The server will test the next one that it makes, with the \
    key of the file, which it keeps in memory for that. Of other encrypted backups, it will check only the file. Run \
    `gatehouse backup verify FILE --identity KEY` where the key is.";

/// How late a trial restore may be before `doctor` reports it.
const LATE_MS: i64 = 2 * DAY_MS;

impl State {
    /// Returns the check of trial restores with an interval of `days` days. `is_locked` states whether new backups
    /// are encrypted to a key that this server does not have.
    pub(in super::super) fn finding(&self, days: u16, is_locked: bool, now: Timestamp) -> Check {
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
        // A restore of an unencrypted backup proves nothing about encrypted ones.
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
        // A backup that is known to be unusable is reported first. It is more important than a later backup that
        // could not be checked, and than a later check of its file.
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

    /// Returns the result of the last check of the backup `name`. Results are stored for three backups: the one
    /// that was checked last, the one whose content was read last, and the one that was last found unusable.
    /// Returns `None` for other backups.
    pub(in super::super) fn result_of(&self, name: &str) -> Option<CheckedBackup> {
        let of_this = |last: &&Last| last.name == name;
        let last = self.last.as_ref().filter(of_this);
        let tested = self.tested.as_ref().filter(of_this);
        // A check of the content proves more than a later check that the file is unchanged.
        let is_less =
            last.is_none_or(|last| last.error.is_none() && last.extent == Extent::Unchanged);
        let found = if is_less { tested.or(last) } else { last };
        let unusable = self.unusable.as_ref().filter(of_this);
        unusable.or(found).map(Last::result)
    }
}
