//! The outcome of a trial restore, and the reports about it in `doctor` and in the list of backups.

use super::{CheckResult, CheckedBackup};
use crate::doctor::check::Check;
use gatehouse_domain::Timestamp;
use serde::{Deserialize, Serialize};

/// The ID of the check for backups that are restored.
pub(super) const RESTORED: &str = "backup_drill";
/// The ID of the check for encrypted backups that are not restored.
pub(super) const ENCRYPTED: &str = "backup_encrypted";
pub(super) const HINT: &str = "Run `gatehouse backup verify` with a backup. If that also fails, make a new backup and \
    verify it.";
const NOT_MADE_HINT: &str = "The backup may be intact. Free some space in the data directory. The trial restore is \
    repeated within a day.";
const NEXT_HINT: &str = "The backup may be intact. If the data directory is full, free some space. The server \
    tests the next backup that it makes after a day.";
pub(super) const ENCRYPTED_HINT: &str =
    "Make a new backup, and run `gatehouse backup verify` with it where the key is.";
const NOT_READ_HINT: &str = "The backup may be intact. Check the directory in [backup]. The check is repeated within a day.";
/// The note on what a successful check with the kept key does not prove.
pub(super) const NOT_YOUR_KEY: &str = "The server used the key of the file, which it kept in memory after the backup. \
    To find out whether your identity or passphrase decrypts a backup, run `gatehouse backup verify FILE` with it.";

/// How thoroughly a backup was checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Extent {
    /// The backup was restored. Earlier versions had only this check.
    #[default]
    Restored,
    /// The backup is encrypted to a key that this server does not have. The file was compared with its checksum.
    /// With [`Last::had_key`], the backup was decrypted, and every checksum in it was compared.
    Unchanged,
    /// Like [`Self::Unchanged`], but without a checksum of the file: only the header was read.
    Header,
}

/// The last trial restore.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Last {
    pub(super) at: Timestamp,
    /// The name of the backup.
    pub(super) name: String,
    pub(super) took_ms: u64,
    /// The error; `None` if the trial restore succeeded.
    pub(super) error: Option<String>,
    /// Whether the backup was checked.
    #[serde(default = "yes")]
    pub(super) was_made: bool,
    #[serde(default)]
    pub(super) extent: Extent,
    /// Whether the backup is encrypted and was decrypted with the kept key.
    #[serde(default)]
    pub(super) had_key: bool,
}

impl Last {
    /// Returns whether the content of the backup was read.
    pub(super) fn is_of_content(&self) -> bool {
        self.extent == Extent::Restored || self.had_key
    }

    /// Returns the check for a trial restore that failed or could not run.
    pub(super) fn failure(&self) -> Check {
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

    /// Returns the check for a trial restore that found no fault. `tested` is the last trial restore that read the
    /// content of a backup.
    pub(super) fn success(&self, tested: Option<&Self>) -> Check {
        if self.is_of_content() {
            return self.content_success();
        }
        let Self { name, at, .. } = self;
        let is_unchanged = self.extent == Extent::Unchanged;
        // The unchanged file still has the content that was read at that time.
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
        let before = tested.filter(|tested| tested.had_key);
        let before = before.map(|Self { name, at, .. }| {
            format!(" The last encrypted backup that the server tested was {name} at {at}.")
        });
        let before = before.unwrap_or_default();
        let message = format!(
            "The backup {name} is encrypted to a key that this server does not have. At {at}, {found}. That check \
             neither decrypted nor restored it: run `gatehouse backup verify FILE` with `--identity` or \
             `--passphrase-file` where the key is.{before}"
        );
        Check::fine(ENCRYPTED, message)
    }

    /// Returns the check for a trial restore that read the content and found no fault.
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

    /// Returns the result for the list of backups.
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

/// Returns the default of fields that earlier versions do not store.
const fn yes() -> bool {
    true
}
