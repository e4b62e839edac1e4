//! The outcome of a drill, and what `doctor` and the list of backups report about it.

use super::{CheckResult, CheckedBackup};
use crate::doctor::check::Check;
use gatehouse_domain::Timestamp;
use serde::{Deserialize, Serialize};

/// The check of backups that are restored.
pub(super) const RESTORED: &str = "backup_drill";
/// The check of encrypted backups that are not restored.
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
/// What the success of a drill with the key of the file leaves open.
pub(super) const NOT_YOUR_KEY: &str = "The server used the key of the file, which it kept in memory after the backup. \
    To find out whether your identity or passphrase decrypts a backup, run `gatehouse backup verify FILE` with it.";

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
    pub(super) fn is_of_content(&self) -> bool {
        self.extent == Extent::Restored || self.had_key
    }

    /// What `doctor` reports about a drill that failed or was not made.
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

    /// What `doctor` reports about a drill that found no fault. `tested` is the last one that read the content of a
    /// backup.
    pub(super) fn success(&self, tested: Option<&Self>) -> Check {
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
