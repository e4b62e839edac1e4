//! Results of trial restores, as callers see them.

use super::state::State;
use gatehouse_domain::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The last check of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CheckedBackup {
    pub at: Timestamp,
    pub result: CheckResult,
}

/// The result of the last check of a backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckResult {
    /// The backup was restored to a temporary directory and is intact.
    Restored,
    /// The backup was decrypted and every checksum in it matches. It was not restored.
    Decrypted,
    /// The backup is encrypted to a key that the server does not have. Its file is unchanged.
    FileUnchanged,
    /// The backup is encrypted to a key that the server does not have. Only its header was read.
    HeaderOnly,
    /// The backup is damaged.
    Unusable,
    /// The backup could not be checked, for example for lack of disk space.
    NotChecked,
}

/// The stored results of checks.
#[derive(Debug, Default)]
pub struct Checks(pub(super) State);

impl Checks {
    /// Reads the stored value of [`KEY`](super::KEY).
    pub(in super::super) fn read(stored: Option<Value>) -> Self {
        Self(State::read(stored))
    }

    /// Returns the last check of a backup by the name of its file, if it is known.
    pub fn of(&self, name: &str) -> Option<CheckedBackup> {
        self.0.result_of(name)
    }
}
