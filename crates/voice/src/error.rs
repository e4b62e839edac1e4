//! What can go wrong with speaking and listening, and what a caller is told. Nothing of a vendor's answer
//! but its status is kept: it may repeat the text or the key.

use crate::attempt::Attempt;
use gatehouse_agents::AgentsError;
use gatehouse_domain::{ErrorCode, Problem};
use gatehouse_secrets::SecretsError;
use gatehouse_store::StoreError;

/// What is missing where a persona speaks only by its bindings.
pub(crate) const NO_BINDING: &str = "persona_binding";

/// When to ask again where too many wait, in milliseconds: a program takes some seconds.
const BUSY_RETRY_MS: u64 = 5000;

/// Speech was not made, not understood, or a persona not stored.
#[derive(Debug, thiserror::Error)]
pub enum VoiceError {
    /// The caller's input is not acceptable.
    #[error("invalid {field}: {reason}")]
    Invalid {
        /// Which field.
        field: String,
        /// Why, for a person.
        reason: String,
    },
    /// A setting is missing or off.
    #[error("{what} is not configured")]
    NotConfigured {
        /// The setting, or what is missing.
        what: String,
        /// A sentence that says what to do.
        hint: String,
    },
    /// The provider refused, broke off, or answered what cannot be understood.
    #[error("the provider {provider} failed: {reason}{}", status_text(*status))]
    Provider {
        /// The provider's id.
        provider: &'static str,
        /// In a few words of ours: "refused the key", "gave no audio". Nothing of the vendor's.
        reason: &'static str,
        /// Its HTTP status, when it was not a success.
        status: Option<u16>,
        /// Whether the same request may work later.
        retryable: bool,
        /// How long it asks us to wait.
        retry_after_seconds: Option<u64>,
    },
    /// Several were asked, and none spoke.
    #[error("none of {} providers did it", attempts.len())]
    Attempts {
        /// What the first one said.
        first: Box<Self>,
        /// All of them.
        attempts: Vec<Attempt>,
    },
    /// The provider kept us waiting for too long.
    #[error("the provider {provider} took too long")]
    Timeout {
        /// The provider's id.
        provider: &'static str,
    },
    /// Too many wait for a program on this machine.
    #[error("too many are waiting already")]
    Busy,
    /// More bytes than are taken.
    #[error("over the limit of {max_bytes} bytes")]
    TooLarge {
        /// The most.
        max_bytes: u64,
    },
    /// There is no such thing; the text is a noun.
    #[error("there is no such {0}")]
    NotFound(&'static str),
    /// It is there already; a sentence.
    #[error("{0}")]
    Conflict(String),
    /// The key is in the vault, and the vault is sealed.
    #[error("the vault is sealed")]
    Sealed,
    /// Files of ours could not be read or written.
    #[error("a file could not be read or written")]
    Io(#[from] std::io::Error),
    /// Keys could not be read.
    #[error(transparent)]
    Secrets(SecretsError),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Sessions.
    #[error(transparent)]
    Agents(#[from] AgentsError),
    /// A fault of ours.
    #[error("{0}")]
    Internal(&'static str),
}

fn status_text(status: Option<u16>) -> String {
    status.map_or_else(String::new, |status| format!(" (status {status})"))
}

impl VoiceError {
    pub(crate) fn invalid(field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Invalid {
            field: field.into(),
            reason: reason.into(),
        }
    }

    pub(crate) fn not_configured(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::NotConfigured {
            what: what.into(),
            hint: hint.into(),
        }
    }

    /// A failure without a status: the connection, or what was answered.
    pub(crate) const fn failed(
        provider: &'static str,
        reason: &'static str,
        retryable: bool,
    ) -> Self {
        Self::Provider {
            provider,
            reason,
            status: None,
            retryable,
            retry_after_seconds: None,
        }
    }

    /// The code that a caller gets.
    pub(crate) fn code(&self) -> ErrorCode {
        match self {
            Self::Invalid { .. } => ErrorCode::InvalidParams,
            Self::NotConfigured { .. } => ErrorCode::NotConfigured,
            Self::Provider { .. } => ErrorCode::ProviderFailed,
            Self::Attempts { first, .. } => first.code(),
            Self::Timeout { .. } => ErrorCode::Timeout,
            Self::Busy => ErrorCode::RateLimited,
            Self::TooLarge { .. } => ErrorCode::PayloadTooLarge,
            Self::NotFound(_) => ErrorCode::NotFound,
            Self::Conflict(_) => ErrorCode::Conflict,
            Self::Sealed => ErrorCode::VaultSealed,
            Self::Store(_) => ErrorCode::StorageUnavailable,
            Self::Io(_) | Self::Secrets(_) | Self::Agents(_) | Self::Internal(_) => {
                ErrorCode::Internal
            }
        }
    }

    /// Whether another provider may be tried in its place: the failure is the provider's, not the input's,
    /// and not a persona's that wants nobody else.
    pub(crate) fn is_providers(&self) -> bool {
        match self {
            Self::Provider { .. } | Self::Timeout { .. } | Self::Busy => true,
            Self::NotConfigured { what, .. } => what != NO_BINDING,
            _ => false,
        }
    }
}

impl From<SecretsError> for VoiceError {
    fn from(error: SecretsError) -> Self {
        match error {
            SecretsError::Sealed => Self::Sealed,
            error => Self::Secrets(error),
        }
    }
}

impl From<VoiceError> for Problem {
    fn from(error: VoiceError) -> Self {
        match error {
            VoiceError::Invalid { field, reason } => Self::invalid_params(&field, reason),
            VoiceError::NotConfigured { what, hint } => {
                Self::new(ErrorCode::NotConfigured, hint).with("what", what)
            }
            VoiceError::Provider {
                provider,
                reason,
                status,
                retryable,
                retry_after_seconds,
            } => {
                let message = format!("{provider} {reason}{}.", status_text(status));
                let mut problem = Self::new(ErrorCode::ProviderFailed, message)
                    .with("provider", provider)
                    .with("retryable", retryable);
                if let Some(status) = status {
                    problem = problem.with("status", status);
                }
                if let Some(seconds) = retry_after_seconds {
                    problem = problem.with("retry_after_seconds", seconds);
                }
                problem
            }
            VoiceError::Attempts { first, attempts } => {
                let attempts = serde_json::to_value(attempts).unwrap_or_default();
                Self::from(*first).with("attempts", attempts)
            }
            VoiceError::Timeout { provider } => Self::new(
                ErrorCode::Timeout,
                format!("{provider} gave no answer in time."),
            )
            .with("provider", provider),
            VoiceError::Busy => Self::rate_limited(BUSY_RETRY_MS),
            VoiceError::TooLarge { max_bytes } => Self::new(
                ErrorCode::PayloadTooLarge,
                format!("The audio is over the limit of {max_bytes} bytes."),
            )
            .with("max_bytes", max_bytes),
            VoiceError::NotFound(what) => Self::not_found(what),
            VoiceError::Conflict(message) => Self::new(ErrorCode::Conflict, message),
            VoiceError::Sealed => Self::vault_sealed(),
            VoiceError::Secrets(error) => error.into(),
            VoiceError::Store(error) => error.into(),
            VoiceError::Agents(error) => error.into(),
            VoiceError::Io(_) | VoiceError::Internal(_) => Self::internal(),
        }
    }
}
