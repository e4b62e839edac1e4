//! Errors of accounts and of sending, and their mapping to API problems.

mod send_error;

use gatehouse_domain::{ErrorCode, Problem, Scope};
use gatehouse_secrets::SecretsError;
use gatehouse_store::StoreError;
pub use send_error::SendError;
use std::time::Duration;

/// Why an account could not be listed, stored or used.
#[derive(Debug, thiserror::Error)]
pub enum ChannelsError {
    #[error("invalid {field}: {reason}")]
    Invalid {
        field: String,
        /// A reason to show to the user.
        reason: String,
    },
    /// The object does not exist. The text is a noun for the message.
    #[error("there is no such {0}")]
    NotFound(&'static str),
    #[error("the id is taken")]
    IdTaken,
    /// The inbox and the log cannot be changed or deleted.
    #[error("the account is built in")]
    BuiltIn,
    /// Another module still needs the account. The problem is returned to the caller.
    #[error("{0}")]
    InUse(Problem),
    /// The change sets an address that Gatehouse would call, or changes which senders are accepted. Both need
    /// `operator.admin`.
    #[error("it needs operator.admin")]
    NeedsAdmin,
    /// A message that is never retried could not be sent.
    #[error("{why}")]
    NotSent {
        /// The channel type.
        kind: &'static str,
        /// A reason to show to the user. Contains no secret.
        why: String,
        /// Whether a later attempt may succeed.
        retryable: bool,
    },
    #[error(transparent)]
    Secrets(#[from] SecretsError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ChannelsError {
    pub(crate) fn invalid(field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Invalid {
            field: field.into(),
            reason: reason.into(),
        }
    }
}

impl From<ChannelsError> for Problem {
    fn from(error: ChannelsError) -> Self {
        match error {
            ChannelsError::Invalid { field, reason } => Self::invalid_params(&field, reason),
            ChannelsError::NotFound(what) => Self::not_found(what),
            ChannelsError::IdTaken => Self::new(
                ErrorCode::Conflict,
                "A channel with this ID already exists.",
            ),
            ChannelsError::BuiltIn => Self::new(
                ErrorCode::Conflict,
                "This channel is built in; it cannot be changed or deleted.",
            ),
            ChannelsError::InUse(problem) => problem,
            ChannelsError::NeedsAdmin => Self::new(
                ErrorCode::Forbidden,
                "Setting an address that Gatehouse calls, or a field that decides which messages are accepted, \
                 needs the scope operator.admin.",
            )
            .with("required_scope", Scope::Admin.name()),
            ChannelsError::NotSent {
                kind,
                why,
                retryable,
            } => Self::new(ErrorCode::ProviderFailed, why)
                .with("provider", kind)
                .with("retryable", retryable),
            ChannelsError::Secrets(error) => error.into(),
            ChannelsError::Store(error) => error.into(),
        }
    }
}

/// Why a sender failed. Becomes a [`SendError`] for deliveries and a [`ChannelsError`] for
/// messages that are not retried.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A later attempt may succeed.
    Later {
        after: Option<Duration>,
        why: String,
    },
    /// The connection failed or timed out. A later attempt may succeed.
    Unreachable(String),
    Disabled(String),
    /// The vendor or Gatehouse refused the message.
    Refused(String),
    /// The account or the message lacks a value that only its owner can add.
    Incomplete {
        field: &'static str,
        why: String,
    },
    /// A failure of Gatehouse, not of the vendor.
    Ours(SecretsError),
}

impl Failure {
    pub(crate) fn later(why: impl Into<String>) -> Self {
        Self::Later {
            after: None,
            why: why.into(),
        }
    }

    pub(crate) fn unreachable(why: impl Into<String>) -> Self {
        Self::Unreachable(why.into())
    }

    /// Returns the kind of failure as a single word.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Later { .. } => "later",
            Self::Unreachable(_) => "unreachable",
            Self::Disabled(_) => "disabled",
            Self::Refused(_) => "refused",
            Self::Incomplete { .. } => "incomplete",
            Self::Ours(_) => "secrets",
        }
    }

    /// Returns whether the same message may be sent again.
    pub(crate) const fn may_be_repeated(&self) -> bool {
        matches!(
            self,
            Self::Later { .. } | Self::Unreachable(_) | Self::Disabled(_)
        )
    }

    /// Returns whether the message cannot succeed without a change. Such a failure becomes a
    /// [`SendError::GiveUp`].
    pub(crate) const fn is_lasting(&self) -> bool {
        matches!(
            self,
            Self::Refused(_) | Self::Incomplete { .. } | Self::Ours(SecretsError::Damaged(_))
        )
    }

    pub(crate) fn refused(why: impl Into<String>) -> Self {
        Self::Refused(why.into())
    }

    /// Returns the failure for a file that cannot be part of a request.
    pub(crate) fn unsendable_file() -> Self {
        Self::refused("The file could not be sent.")
    }

    pub(crate) fn incomplete(field: &'static str, why: impl Into<String>) -> Self {
        Self::Incomplete {
            field,
            why: why.into(),
        }
    }

    /// Converts the failure to the result of a message that is never retried.
    pub(crate) fn of_one_attempt(self, kind: &'static str) -> ChannelsError {
        let not_sent = |why, retryable| ChannelsError::NotSent {
            kind,
            why,
            retryable,
        };
        match self {
            Self::Later { why, .. } | Self::Unreachable(why) => not_sent(why, true),
            Self::Refused(why) | Self::Disabled(why) => not_sent(why, false),
            Self::Incomplete { field, why } => ChannelsError::invalid(field, why),
            Self::Ours(error) => error.into(),
        }
    }
}

impl From<SecretsError> for Failure {
    fn from(error: SecretsError) -> Self {
        Self::Ours(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Ours(error.into())
    }
}

/// The reason if the database or the vault fails.
pub(crate) const STORAGE_UNAVAILABLE: &str = "The database or the vault is unavailable.";

/// Returns the reason if a field of the account cannot be used.
pub(crate) fn incomplete_text(field: &str, why: &str) -> String {
    format!("`{field}` is missing or wrong: {why}.")
}
