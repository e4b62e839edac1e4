//! The state of the vault as callers see it.

use gatehouse_secrets::Status;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The state of the vault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VaultStatus {
    /// The vault does not exist yet.
    Uninitialized,
    /// The vault exists, but its key is not in memory.
    Sealed,
    /// The vault's key is in memory.
    Unsealed,
    /// The vault is disabled: secrets are stored unencrypted.
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
