//! The errors of webhook operations and their mapping to API problems.

use gatehouse_domain::Problem;
use gatehouse_secrets::SecretsError;
use gatehouse_store::StoreError;

/// A webhook operation was refused or failed.
#[derive(Debug, thiserror::Error)]
pub enum WebhooksError {
    /// The caller's input is invalid.
    #[error("invalid {field}: {reason}")]
    Invalid {
        field: &'static str,
        /// A human-readable reason.
        reason: String,
    },
    /// Contains the noun for the missing record.
    #[error("there is no such {0}")]
    NotFound(&'static str),
    /// The operation needs a secret, and the vault is sealed.
    #[error("the vault is sealed")]
    Sealed,
    /// Another crate refused, with a message for the caller.
    #[error("{0}")]
    Refused(Problem),
    /// A secret could not be read or written.
    #[error(transparent)]
    Secrets(SecretsError),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The task was aborted or panicked.
    #[error("the work did not complete")]
    BrokenOff,
}

impl WebhooksError {
    pub(crate) fn invalid(field: &'static str, reason: impl Into<String>) -> Self {
        Self::Invalid {
            field,
            reason: reason.into(),
        }
    }
}

impl From<SecretsError> for WebhooksError {
    fn from(error: SecretsError) -> Self {
        match error {
            SecretsError::Sealed => Self::Sealed,
            SecretsError::Store(error) => Self::Store(error),
            other => Self::Secrets(other),
        }
    }
}

impl From<WebhooksError> for Problem {
    fn from(error: WebhooksError) -> Self {
        match error {
            WebhooksError::Invalid { field, reason } => Self::invalid_params(field, reason),
            WebhooksError::NotFound(what) => Self::not_found(what),
            WebhooksError::Sealed => Self::vault_sealed(),
            WebhooksError::Refused(problem) => problem,
            WebhooksError::Secrets(error) => error.into(),
            WebhooksError::Store(error) => error.into(),
            WebhooksError::BrokenOff => Self::internal(),
        }
    }
}
