//! The vault's status as callers see it.

use gatehouse_secrets::Status;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The vault's status as callers see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VaultStatus {
    /// There is no vault yet.
    Uninitialized,
    /// There is one, and its key is not in memory.
    Sealed,
    /// Its key is in memory.
    Unsealed,
    /// Switched off: secrets are stored as they are.
    Disabled,
}

impl From<Status> for VaultStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::Uninitialized => Self::Uninitialized,
            Status::Sealed => Self::Sealed,
            Status::Unsealed => Self::Unsealed,
            Status::Disabled => Self::Disabled,
        }
    }
}
