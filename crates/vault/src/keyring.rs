//! Whether the data key is in memory, and by which steps it gets there and leaves. Must not know
//! where keys come from: a caller hands over a [`Dek`] that it has opened.

use crate::{Dek, DekId};
use gatehouse_domain::{ErrorCode, Problem};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// What the status endpoint says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// There is no vault yet.
    Uninitialized,
    /// There is one, and its key is not in memory.
    Sealed,
    /// The key is in memory.
    Unsealed,
    /// Switched off: secrets are stored as they are.
    Disabled,
}

impl Status {
    /// As in JSON.
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

/// What the database holds of the vault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordState {
    /// No record and nothing encrypted.
    Absent,
    /// A record.
    Present,
    /// No record, yet rows are encrypted: the record is lost, and nothing may be initialised over
    /// what a restored backup could still open.
    Lost,
}

/// A step that the present state does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransitionError {
    /// There is a vault already.
    #[error("the vault has been initialised already")]
    AlreadyInitialized,
    /// There is no vault yet.
    #[error("the vault has not been initialised")]
    NotInitialized,
    /// The vault is switched off.
    #[error("the vault is disabled")]
    Disabled,
    /// Rows are encrypted and the vault's record is gone.
    #[error("encrypted secrets exist but the vault's record is missing")]
    RecordLost,
}

impl From<TransitionError> for Problem {
    fn from(error: TransitionError) -> Self {
        let message = match error {
            TransitionError::AlreadyInitialized => "The vault has been initialised already.",
            TransitionError::NotInitialized => "The vault has not been initialised.",
            TransitionError::Disabled => "The vault is disabled.",
            TransitionError::RecordLost => {
                "Encrypted secrets exist but the vault's record is missing; restore a backup."
            }
        };
        Self::new(ErrorCode::Conflict, message)
    }
}

/// Holds the data key while the vault is unsealed. Cheap to clone: the key itself is shared, and
/// wiped when the last holder lets go of it.
#[derive(Clone, Debug)]
pub struct Keyring {
    record: RecordState,
    disabled: bool,
    dek: Option<Arc<Dek>>,
}

impl Keyring {
    /// The state after a start: never unsealed.
    pub const fn start(record: RecordState, disabled: bool) -> Self {
        Self {
            record,
            disabled,
            dek: None,
        }
    }

    /// The present state.
    pub fn status(&self) -> Status {
        match (self.disabled, &self.dek, self.record) {
            (true, ..) => Status::Disabled,
            (false, Some(_), _) => Status::Unsealed,
            (false, None, RecordState::Absent) => Status::Uninitialized,
            (false, None, RecordState::Present | RecordState::Lost) => Status::Sealed,
        }
    }

    /// What the database holds, as far as this keyring was told.
    pub const fn record(&self) -> RecordState {
        self.record
    }

    /// The data key; only while unsealed.
    pub fn dek(&self) -> Option<Arc<Dek>> {
        self.dek.clone()
    }

    /// Which data key is in memory.
    pub fn dek_id(&self) -> Option<&DekId> {
        self.dek.as_deref().map(Dek::id)
    }

    /// A record was made: Uninitialized → Unsealed.
    pub fn initialized(&mut self, dek: Arc<Dek>) -> Result<Status, TransitionError> {
        match (self.disabled, self.record) {
            (true, _) => Err(TransitionError::Disabled),
            (_, RecordState::Present) => Err(TransitionError::AlreadyInitialized),
            (_, RecordState::Lost) => Err(TransitionError::RecordLost),
            (false, RecordState::Absent) => Ok(self.hold(dek)),
        }
    }

    /// A key opened the record: Sealed → Unsealed; also while unsealed.
    pub fn unsealed(&mut self, dek: Arc<Dek>) -> Result<Status, TransitionError> {
        self.require_record()?;
        Ok(self.hold(dek))
    }

    /// A rotation was committed: the new key replaces the old one.
    pub fn rotated(&mut self, dek: Arc<Dek>) -> Result<Status, TransitionError> {
        self.unsealed(dek)
    }

    /// The key is forgotten: Unsealed → Sealed; also while sealed.
    pub fn sealed(&mut self) -> Result<Status, TransitionError> {
        self.require_record()?;
        self.dek = None;
        Ok(self.status())
    }

    /// Everything was decrypted and the flag stored: any state → Disabled; also while disabled.
    pub fn disabled(&mut self) -> Result<Status, TransitionError> {
        if !self.disabled && self.record == RecordState::Lost {
            return Err(TransitionError::RecordLost);
        }
        self.disabled = true;
        self.dek = None;
        Ok(self.status())
    }

    /// The flag was cleared: Disabled → Unsealed with a key (of the record, or of one made just
    /// now), else Sealed while a record exists, else Uninitialized. While enabled a key unseals and
    /// no key changes nothing.
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

    /// What the database says now, which another node may have changed: a key that is no longer
    /// the record's is forgotten. `dek_id` is the record's.
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
