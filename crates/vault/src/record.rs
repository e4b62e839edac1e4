//! The vault record, which contains the wrapped data key. Functions that derive a key take at least about a tenth
//! of a second. The caller stores the record.

mod keys;

use crate::cipher::{self, CryptoError, KEY_BYTES};
use crate::kdf::{KdfParams, KdfRefused};
use crate::{Aad, Dek, DekId, HoldPrivateKey, HoldPublicKey};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gatehouse_domain::{ErrorCode, Problem, Random};
pub use keys::{
    create, new_recovery_key, open_with_password, open_with_recovery_key, rewrap_password, rotate,
};

const SALT_BYTES: usize = 16;

/// The single row of the table `vault`. All columns are stored in plaintext, because none of them is secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VaultRecord {
    /// The format version.
    pub version: i64,
    /// Base64 of 16 random bytes, new with each password.
    pub kdf_salt: String,
    /// [`KdfParams`] as JSON.
    pub kdf_params: String,
    /// The data key, wrapped with the password's key. AAD: `vault:dek`.
    pub wrapped_dek: String,
    /// The data key, wrapped with the recovery key's key. AAD: `vault:dek:recovery`.
    pub recovery_wrapped_dek: Option<String>,
    /// [`RecoveryKey::hash`] of the current recovery key.
    pub recovery_key_hash: Option<String>,
    /// [`Dek::id`] of the data key.
    pub dek_id: String,
    /// [`Dek::commitment`] of the data key.
    pub dek_commitment: String,
    /// Base64 of the public key for held deliveries. `None` in records of earlier releases until
    /// [`VaultRecord::with_hold_key`] adds it.
    pub hold_public_key: Option<String>,
    /// The matching private key, encrypted with the data key. AAD: `vault:hold`.
    pub hold_private_key: Option<String>,
    /// Unix milliseconds.
    pub created_at: i64,
    /// Unix milliseconds.
    pub updated_at: i64,
}

/// Why a vault record was not opened or changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// The password or recovery key is wrong, or the wrapped key was modified. These cases cannot be distinguished.
    #[error("the key does not unlock the vault record")]
    BadKey,
    /// The record's key derivation cost is too low or too high.
    #[error("the key derivation of the vault record is not acceptable: {0}")]
    Refused(#[from] KdfRefused),
    /// A column has an invalid value, or the key does not match its commitment.
    #[error("the vault record is damaged: {0}")]
    Damaged(&'static str),
    /// The record has no copy for a recovery key.
    #[error("the vault record has no recovery copy")]
    NoRecovery,
    /// The version of the record is unknown. Version 1 is the first.
    #[error("the vault record has version {0}, but only version 1 is supported")]
    UnsupportedVersion(i64),
    /// The data key in memory is not the record's key, because it was rotated in the meantime.
    #[error("the data key in memory does not belong to the vault record")]
    StaleDek,
    #[error(transparent)]
    Crypto(#[from] CryptoError),
}

impl From<OpenError> for Problem {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::BadKey | OpenError::NoRecovery => Self::new(
                ErrorCode::VaultBadKey,
                "This key does not unlock the vault.",
            ),
            OpenError::StaleDek => Self::new(
                ErrorCode::Conflict,
                "The vault's key has changed. Unlock the vault again.",
            ),
            OpenError::Crypto(error) => error.into(),
            OpenError::Refused(_) | OpenError::Damaged(_) | OpenError::UnsupportedVersion(_) => {
                Self::new(
                    ErrorCode::Internal,
                    "The vault record cannot be used. The server's log has the reason.",
                )
            }
        }
    }
}

impl VaultRecord {
    /// The version that [`create`] writes. Records of other versions cannot be opened.
    pub const VERSION: i64 = 1;

    /// Runs every check that needs no key, so that a damaged or weakened record causes no derivation. The error
    /// text is for the log.
    pub fn check(&self) -> Result<(), OpenError> {
        self.check_version()?;
        self.params()?;
        self.salt()?;
        check_wrapped(&self.wrapped_dek, "wrapped_dek")?;
        self.check_dek_columns()
    }

    /// Returns the key that encrypts held deliveries, if the record has a valid one.
    pub fn hold_public_key(&self) -> Option<HoldPublicKey> {
        HoldPublicKey::parse(self.hold_public_key.as_deref()?)
    }

    /// Returns the key that decrypts held deliveries. Returns `None` if the record has none.
    pub fn hold_private_key(&self, dek: &Dek) -> Result<Option<HoldPrivateKey>, CryptoError> {
        let wrapped = self.hold_private_key.as_deref();
        wrapped
            .map(|text| HoldPrivateKey::unwrap_with(dek, text))
            .transpose()
    }

    /// Returns the record with a new key pair for held deliveries. Returns `None` if the record already has a key
    /// pair.
    pub fn with_hold_key(&self, dek: &Dek, random: &dyn Random) -> Result<Option<Self>, OpenError> {
        if self.hold_private_key.is_some() {
            return Ok(None);
        }
        self.check_is_mine(dek)?;
        let pair = HoldPrivateKey::generate(random);
        Ok(Some(Self {
            hold_public_key: Some(pair.public().encode()),
            hold_private_key: Some(pair.wrap(dek, random)?),
            ..self.clone()
        }))
    }

    /// Copies the key pair for held deliveries from the record that this one replaces, because deliveries may
    /// already be encrypted with it.
    pub fn keep_hold_key(
        self,
        dek: &Dek,
        old: &Self,
        old_dek: &Dek,
        random: &dyn Random,
    ) -> Result<Self, CryptoError> {
        let Some(pair) = old.hold_private_key(old_dek)? else {
            return Ok(self);
        };
        Ok(Self {
            hold_public_key: Some(pair.public().encode()),
            hold_private_key: Some(pair.wrap(dek, random)?),
            ..self
        })
    }

    fn check_version(&self) -> Result<(), OpenError> {
        if self.version == Self::VERSION {
            Ok(())
        } else {
            Err(OpenError::UnsupportedVersion(self.version))
        }
    }

    fn check_dek_columns(&self) -> Result<(), OpenError> {
        if self.dek_id.is_empty() {
            return Err(OpenError::Damaged("dek_id"));
        }
        match STANDARD.decode(&self.dek_commitment) {
            Ok(bytes) if bytes.len() == 32 => Ok(()),
            _ => Err(OpenError::Damaged("dek_commitment")),
        }
    }

    fn params(&self) -> Result<KdfParams, OpenError> {
        let params: KdfParams =
            serde_json::from_str(&self.kdf_params).map_err(|_| OpenError::Damaged("kdf_params"))?;
        params.check()?;
        Ok(params)
    }

    fn salt(&self) -> Result<[u8; SALT_BYTES], OpenError> {
        let bytes = STANDARD
            .decode(&self.kdf_salt)
            .map_err(|_| OpenError::Damaged("kdf_salt"))?;
        bytes.try_into().map_err(|_| OpenError::Damaged("kdf_salt"))
    }

    /// Unwraps the data key. Compares it with the commitment before returning it.
    fn unwrap_dek(
        &self,
        kek: &[u8; KEY_BYTES],
        aad: &Aad,
        wrapped: &str,
    ) -> Result<Dek, OpenError> {
        let bytes = cipher::open(kek, aad, wrapped).map_err(|_| OpenError::BadKey)?;
        let dek = Dek::from_bytes(DekId::from_text(&self.dek_id), &bytes)
            .ok_or(OpenError::Damaged("the wrapped key is not 32 bytes"))?;
        if dek.matches_commitment(&self.dek_commitment) {
            Ok(dek)
        } else {
            Err(OpenError::Damaged("dek_commitment belongs to another key"))
        }
    }

    /// Refuses a key that is not the record's key, because wrapping it would make every secret unreadable.
    fn check_is_mine(&self, dek: &Dek) -> Result<(), OpenError> {
        self.check_version()?;
        if dek.id().as_str() == self.dek_id && dek.matches_commitment(&self.dek_commitment) {
            Ok(())
        } else {
            Err(OpenError::StaleDek)
        }
    }
}

fn check_wrapped(text: &str, column: &'static str) -> Result<(), OpenError> {
    if cipher::has_shape_of(text, KEY_BYTES) {
        Ok(())
    } else {
        Err(OpenError::Damaged(column))
    }
}

#[cfg(test)]
mod tests;
