//! Errors of the vault and of secrets, and the responses to callers.

use crate::kdf_queue::KdfError;
use crate::provider_files::FileError;
use gatehouse_domain::{ErrorCode, Problem};
use gatehouse_store::StoreError;
use gatehouse_vault::{CryptoError, OpenError, TransitionError};

/// A vault transition was refused or failed. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    /// The key is malformed, or is not the password or recovery key of this vault.
    #[error("the key does not unlock the vault")]
    BadKey,
    #[error("the vault record does not exist")]
    NoRecord,
    #[error("the vault record already exists")]
    RecordExists,
    /// Secrets are encrypted, but the record that could open them is missing.
    #[error("encrypted secrets exist, but the vault record is missing")]
    RecordLost,
    /// The operation needs the data key, or the password that opens it.
    #[error("the vault is sealed")]
    Sealed,
    /// The operation needs an enabled vault.
    #[error("the vault is disabled")]
    Disabled,
    /// The environment or the command line fixes `auth.vault_enabled`.
    #[error("auth.vault_enabled is fixed by the environment or the command line")]
    FixedByEnvironment,
    /// The vault changed between the start of the request and its commit.
    #[error("the vault changed while the request was running")]
    Changed,
    /// A request that started later sealed, enabled or disabled the vault.
    #[error("a later request sealed, enabled or disabled the vault")]
    Superseded,
    /// The key derivation queue is full, or the job failed.
    #[error(transparent)]
    Busy(#[from] KdfError),
    /// The record is damaged, weakened or from an unsupported version.
    #[error("the vault record cannot be used")]
    Unusable(#[source] OpenError),
    /// A stored secret does not decrypt with the vault's key.
    #[error("the stored secret {0} does not decrypt")]
    Undecryptable(String),
    #[error(transparent)]
    Crypto(#[from] CryptoError),
    /// A file of provider keys could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The task ended before it finished.
    #[error("the operation did not complete")]
    TaskAborted,
}

impl From<OpenError> for VaultError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::BadKey | OpenError::NoRecovery => Self::BadKey,
            OpenError::StaleDek => Self::Changed,
            OpenError::Crypto(error) => Self::Crypto(error),
            OpenError::Refused(_) | OpenError::Damaged(_) | OpenError::UnsupportedVersion(_) => {
                Self::Unusable(error)
            }
        }
    }
}

fn conflict(message: &str) -> Problem {
    Problem::new(ErrorCode::Conflict, message)
}

impl From<VaultError> for Problem {
    fn from(error: VaultError) -> Self {
        match error {
            VaultError::BadKey => OpenError::BadKey.into(),
            VaultError::NoRecord => TransitionError::NotInitialized.into(),
            VaultError::RecordExists => TransitionError::AlreadyInitialized.into(),
            VaultError::RecordLost => TransitionError::RecordLost.into(),
            VaultError::Sealed => Self::vault_sealed(),
            VaultError::Disabled => TransitionError::Disabled.into(),
            VaultError::FixedByEnvironment => conflict(
                "`auth.vault_enabled` is set by the environment or the command line. Change it \
                 there.",
            ),
            VaultError::Changed => conflict(
                "The vault changed while this request was running. The request changed nothing. \
                 Try again.",
            ),
            VaultError::Superseded => conflict(
                "A later request sealed, enabled or disabled the vault. This request changed \
                 nothing. Try again if it is still needed.",
            ),
            VaultError::Busy(error) => error.into(),
            VaultError::Unusable(error) => error.into(),
            VaultError::Crypto(error) => error.into(),
            VaultError::File(error) => error.into(),
            VaultError::Store(error) => error.into(),
            VaultError::Undecryptable(_) => Self::new(
                ErrorCode::Internal,
                "A stored secret cannot be decrypted. Nothing was changed. The server's log has \
                 its name.",
            ),
            VaultError::TaskAborted => Self::internal(),
        }
    }
}

/// A secret could not be read or stored.
#[derive(Debug, thiserror::Error)]
pub enum SecretsError {
    /// The caller's input is invalid.
    #[error("invalid {field}: {reason}")]
    Invalid { field: &'static str, reason: String },
    /// The passphrase does not open the imported key.
    #[error("the passphrase does not decrypt the key")]
    WrongPassphrase,
    /// The text is a noun.
    #[error("the {0} does not exist")]
    NotFound(&'static str),
    #[error("no environment variable is named {}", .0.join(", "))]
    NoSuchVariables(Vec<String>),
    #[error("the name is already in use")]
    NameTaken,
    /// The operation needs the data key.
    #[error("the vault is sealed")]
    Sealed,
    /// The vault kept changing while the secret was being written.
    #[error("the vault changed during the operation")]
    Changed,
    /// The key derivation queue is full, or the job failed.
    #[error(transparent)]
    Busy(#[from] KdfError),
    /// The stored value does not match what was written; the text names the secret.
    #[error("the stored secret {0} is damaged")]
    Damaged(String),
    #[error(transparent)]
    Crypto(#[from] CryptoError),
    /// A file of provider keys could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The task ended before it finished.
    #[error("the operation did not complete")]
    TaskAborted,
}

impl SecretsError {
    pub(crate) fn invalid(field: &'static str, reason: impl Into<String>) -> Self {
        Self::Invalid {
            field,
            reason: reason.into(),
        }
    }
}

impl From<VaultError> for SecretsError {
    fn from(error: VaultError) -> Self {
        match error {
            VaultError::Sealed => Self::Sealed,
            VaultError::Changed | VaultError::Superseded => Self::Changed,
            VaultError::Busy(error) => Self::Busy(error),
            VaultError::Crypto(error) => Self::Crypto(error),
            VaultError::File(error) => Self::File(error),
            VaultError::Store(error) => Self::Store(error),
            VaultError::Undecryptable(what) => Self::Damaged(what),
            _ => Self::TaskAborted,
        }
    }
}

impl From<SecretsError> for Problem {
    fn from(error: SecretsError) -> Self {
        match error {
            SecretsError::Invalid { field, reason } => Self::invalid_params(field, reason),
            SecretsError::WrongPassphrase => {
                Self::invalid_params("passphrase", "it does not decrypt the key")
            }
            SecretsError::NotFound(what) => Self::not_found(what),
            SecretsError::NoSuchVariables(names) => Self::new(
                ErrorCode::NotFound,
                format!("No environment variable is named {}.", names.join(", ")),
            ),
            SecretsError::NameTaken => conflict("The name is already in use."),
            SecretsError::Sealed => Self::vault_sealed(),
            SecretsError::Changed => VaultError::Changed.into(),
            SecretsError::Busy(error) => error.into(),
            SecretsError::File(error) => error.into(),
            SecretsError::Store(error) => error.into(),
            SecretsError::Crypto(error) => error.into(),
            SecretsError::Damaged(_) | SecretsError::TaskAborted => Self::internal(),
        }
    }
}
