//! What can go wrong with accounts and with sending, and what a caller is told.

use gatehouse_domain::{ErrorCode, Problem, Scope};
use gatehouse_secrets::SecretsError;
use gatehouse_store::StoreError;
use std::time::Duration;

/// An account could not be listed, stored or used.
#[derive(Debug, thiserror::Error)]
pub enum ChannelsError {
    /// The caller's input is not acceptable.
    #[error("invalid {field}: {reason}")]
    Invalid {
        /// Which field.
        field: String,
        /// Why, for a person.
        reason: String,
    },
    /// There is no such thing; the text is a noun.
    #[error("there is no such {0}")]
    NotFound(&'static str),
    /// The account's id is in use.
    #[error("the id is taken")]
    IdTaken,
    /// The inbox and the log are always there.
    #[error("the account is built in")]
    BuiltIn,
    /// Another room still needs the account, in words for the caller.
    #[error("{0}")]
    InUse(Problem),
    /// It names an address that Gatehouse would call.
    #[error("it needs operator.admin")]
    NeedsAdmin,
    /// A test message did not get through.
    #[error("{why}")]
    NotSent {
        /// The channel's type.
        kind: &'static str,
        /// Why, for a person; holds no secret.
        why: String,
        /// Whether it may work later.
        retryable: bool,
    },
    /// The vault.
    #[error(transparent)]
    Secrets(#[from] SecretsError),
    /// The database.
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
                "A channel with this id exists already.",
            ),
            ChannelsError::BuiltIn => Self::new(
                ErrorCode::Conflict,
                "This channel is built in; it cannot be changed or deleted.",
            ),
            ChannelsError::InUse(problem) => problem,
            ChannelsError::NeedsAdmin => Self::new(
                ErrorCode::Forbidden,
                "Setting an address that Gatehouse calls needs the scope operator.admin.",
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

/// A message was not sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// It may work later.
    #[error("{why}")]
    Retry {
        /// The vendor's wish.
        after: Option<Duration>,
        /// Why, for a person; holds no secret.
        why: String,
    },
    /// Nobody answered: no connection, or no answer in time. It may work later.
    #[error("{why}")]
    Unreachable {
        /// Why, for a person; holds no secret.
        why: String,
    },
    /// The account is disabled; nothing was sent.
    #[error("{why}")]
    Disabled {
        /// Why, for a person; holds no secret.
        why: String,
    },
    /// It will not work by itself.
    #[error("{why}")]
    GiveUp {
        /// Why, for a person; holds no secret.
        why: String,
    },
    /// It needs a secret that the vault holds, and the vault is sealed.
    #[error("the vault is sealed")]
    Sealed,
}

/// Why a sender did not send. [`SendError`] for those who send, [`ChannelsError`] for a test.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It may work later.
    Later {
        after: Option<Duration>,
        why: String,
    },
    /// Nobody answered. It may work later.
    Unreachable(String),
    /// The account is disabled.
    Disabled(String),
    /// The vendor or we refuse it.
    Refused(String),
    /// The account or the message lacks something that only its owner can add.
    Incomplete { field: &'static str, why: String },
    /// What is ours does not work.
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

    /// Whether the same message may be sent again.
    pub(crate) const fn may_be_repeated(&self) -> bool {
        matches!(
            self,
            Self::Later { .. } | Self::Unreachable(_) | Self::Disabled(_)
        )
    }

    pub(crate) fn refused(why: impl Into<String>) -> Self {
        Self::Refused(why.into())
    }

    pub(crate) fn incomplete(field: &'static str, why: impl Into<String>) -> Self {
        Self::Incomplete {
            field,
            why: why.into(),
        }
    }

    /// As the result of a test.
    pub(crate) fn of_test(self, kind: &'static str) -> ChannelsError {
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

impl From<Failure> for SendError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Later { after, why } => Self::Retry { after, why },
            Failure::Unreachable(why) => Self::Unreachable { why },
            Failure::Disabled(why) => Self::Disabled { why },
            Failure::Refused(why) => Self::GiveUp { why },
            Failure::Incomplete { field, why } => Self::GiveUp {
                why: format!("`{field}` is missing or wrong: {why}."),
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
                        why: "The database or the vault could not be used.".to_owned(),
                    }
                }
            }
        }
    }
}
