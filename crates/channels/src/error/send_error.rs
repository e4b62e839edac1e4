//! Errors of sending a message, as returned to callers.

use super::{Failure, STORAGE_UNAVAILABLE, incomplete_text};
use gatehouse_secrets::SecretsError;
use std::time::Duration;

/// Why a message was not sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// A later attempt may succeed.
    #[error("{why}")]
    Retry {
        /// The wait that the vendor requested.
        after: Option<Duration>,
        /// A reason to show to the user. Contains no secret.
        why: String,
    },
    /// The connection failed or timed out. A later attempt may succeed.
    #[error("{why}")]
    Unreachable {
        /// A reason to show to the user. Contains no secret.
        why: String,
    },
    /// The account is disabled; nothing was sent.
    #[error("{why}")]
    Disabled {
        /// A reason to show to the user. Contains no secret.
        why: String,
    },
    /// A retry cannot succeed without a change.
    #[error("{why}")]
    GiveUp {
        /// A reason to show to the user. Contains no secret.
        why: String,
    },
    /// The message needs a secret from the vault, and the vault is sealed.
    #[error("the vault is sealed")]
    Sealed,
}

impl From<Failure> for SendError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Later { after, why } => Self::Retry { after, why },
            Failure::Unreachable(why) => Self::Unreachable { why },
            Failure::Disabled(why) => Self::Disabled { why },
            Failure::Refused(why) => Self::GiveUp { why },
            Failure::Incomplete { field, why } => Self::GiveUp {
                why: incomplete_text(field, &why),
            },
            Failure::Ours(SecretsError::Sealed) => Self::Sealed,
            Failure::Ours(error) => {
                let damaged = matches!(error, SecretsError::Damaged(_));
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "a message could not be sent"
                );
                if damaged {
                    Self::GiveUp {
                        why: "A stored secret of this channel cannot be read; enter it again."
                            .to_owned(),
                    }
                } else {
                    Self::Retry {
                        after: None,
                        why: STORAGE_UNAVAILABLE.to_owned(),
                    }
                }
            }
        }
    }
}
