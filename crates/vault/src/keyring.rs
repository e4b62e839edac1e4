//! The seal state machine: whether the data key is in memory, and the transitions that load and drop it. The caller
//! passes in an opened [`Dek`].

use crate::{Dek, DekId};
use gatehouse_domain::{ErrorCode, Problem};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// The vault's state, as the status endpoint reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// No vault exists yet.
    Uninitialized,
    /// A vault exists, but its key is not in memory.
    Sealed,
    /// The key is in memory.
    Unsealed,
    /// Secrets are stored in plaintext.
    Disabled,
}

impl Status {
    /// Returns the name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Uninitialized => "uninitialized",
            Self::Sealed => "sealed",
            Self::Unsealed => "unsealed",
            Self::Disabled => "disabled",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The vault's state in the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordState {
    /// No record and no encrypted rows.
    Absent,
    /// A record exists.
    Present,
    /// No record exists, but encrypted rows do. Initialization is refused, because the record in a backup could
    /// still open the rows.
    Lost,
}

/// A transition that the current state does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransitionError {
    /// A vault already exists.
    #[error("the vault is already initialized")]
    AlreadyInitialized,
    /// No vault exists yet.
    #[error("the vault is not initialized")]
    NotInitialized,
    #[error("the vault is disabled")]
    Disabled,
    /// Encrypted rows exist, but the vault's record is missing.
    #[error("encrypted secrets exist, but the vault record is missing")]
    RecordLost,
}

impl From<TransitionError> for Problem {
    fn from(error: TransitionError) -> Self {
        let message = match error {
            TransitionError::AlreadyInitialized => "The vault is already initialized.",
            TransitionError::NotInitialized => "The vault is not initialized.",
            TransitionError::Disabled => "The vault is disabled.",
            TransitionError::RecordLost => {
                "Encrypted secrets exist, but the vault record is missing. Restore a backup."
            }
        };
        Self::new(ErrorCode::Conflict, message)
    }
}

/// Contains the data key while the vault is unsealed. Clones share the key, which is wiped when the last reference
/// is dropped.
#[derive(Clone, Debug)]
pub struct Keyring {
    record: RecordState,
    disabled: bool,
    dek: Option<Arc<Dek>>,
}

impl Keyring {
    /// Returns the state after a start, which is never unsealed.
    pub const fn start(record: RecordState, disabled: bool) -> Self {
        Self {
            record,
            disabled,
            dek: None,
        }
    }

    pub fn status(&self) -> Status {
        match (self.disabled, &self.dek, self.record) {
            (true, ..) => Status::Disabled,
            (false, Some(_), _) => Status::Unsealed,
            (false, None, RecordState::Absent) => Status::Uninitialized,
            (false, None, RecordState::Present | RecordState::Lost) => Status::Sealed,
        }
    }

    /// Returns the database state that this keyring last observed.
    pub const fn record(&self) -> RecordState {
        self.record
    }

    /// Returns the data key; `None` unless the vault is unsealed.
    pub fn dek(&self) -> Option<Arc<Dek>> {
        self.dek.clone()
    }

    /// Returns the ID of the data key in memory.
    pub fn dek_id(&self) -> Option<&DekId> {
        self.dek.as_deref().map(Dek::id)
    }

    /// Records that a vault was created: Uninitialized → Unsealed.
    pub fn initialized(&mut self, dek: Arc<Dek>) -> Result<Status, TransitionError> {
        match (self.disabled, self.record) {
            (true, _) => Err(TransitionError::Disabled),
            (_, RecordState::Present) => Err(TransitionError::AlreadyInitialized),
            (_, RecordState::Lost) => Err(TransitionError::RecordLost),
            (false, RecordState::Absent) => Ok(self.hold(dek)),
        }
    }

    /// Loads the key that opened the record: Sealed → Unsealed. Also allowed while unsealed.
    pub fn unsealed(&mut self, dek: Arc<Dek>) -> Result<Status, TransitionError> {
        self.require_record()?;
        Ok(self.hold(dek))
    }

    /// Replaces the old key with the new one after a rotation was committed.
    pub fn rotated(&mut self, dek: Arc<Dek>) -> Result<Status, TransitionError> {
        self.unsealed(dek)
    }

    /// Drops the key: Unsealed → Sealed. Also allowed while sealed.
    pub fn sealed(&mut self) -> Result<Status, TransitionError> {
        self.require_record()?;
        self.dek = None;
        Ok(self.status())
    }

    /// Records that all secrets were decrypted and the flag was stored: any state → Disabled. Also allowed while
    /// disabled.
    pub fn disabled(&mut self) -> Result<Status, TransitionError> {
        if !self.disabled && self.record == RecordState::Lost {
            return Err(TransitionError::RecordLost);
        }
        self.disabled = true;
        self.dek = None;
        Ok(self.status())
    }

    /// Records that the flag was cleared. With a key (from the record, or newly created): Disabled → Unsealed.
    /// Without a key: Disabled → Sealed if a record exists, otherwise Uninitialized. If the vault is already
    /// enabled, a key unseals it, and `None` changes nothing.
    pub fn enabled(&mut self, dek: Option<Arc<Dek>>) -> Result<Status, TransitionError> {
        if dek.is_some() && self.record == RecordState::Lost {
            return Err(TransitionError::RecordLost);
        }
        self.disabled = false;
        Ok(match dek {
            Some(dek) => self.hold(dek),
            None => self.status(),
        })
    }

    /// Applies the current database state, which another node may have changed. `dek_id` is the ID in the record. A
    /// key with a different ID is dropped.
    pub fn observed(
        &mut self,
        record: RecordState,
        disabled: bool,
        dek_id: Option<&str>,
    ) -> Status {
        self.record = record;
        self.disabled = disabled;
        let held = self.dek_id().map(DekId::as_str);
        if disabled || record != RecordState::Present || held != dek_id {
            self.dek = None;
        }
        self.status()
    }

    fn require_record(&self) -> Result<(), TransitionError> {
        match (self.disabled, self.record) {
            (true, _) => Err(TransitionError::Disabled),
            (_, RecordState::Absent) => Err(TransitionError::NotInitialized),
            (_, RecordState::Lost) => Err(TransitionError::RecordLost),
            (false, RecordState::Present) => Ok(()),
        }
    }

    fn hold(&mut self, dek: Arc<Dek>) -> Status {
        self.record = RecordState::Present;
        self.dek = Some(dek);
        self.status()
    }
}

#[cfg(test)]
mod tests;
