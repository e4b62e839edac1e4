//! Errors of speech and transcription, and their public form. Of a vendor's response, only the status is kept, because
//! the body may repeat the text or the key. Two exceptions reach the caller but not the log. The first is the vendor's
//! sentence when a provider test is refused, because the gateway chose the tested text. The second is an error message
//! of a Wyoming program, which has no key.

mod problem;

use crate::attempt::Attempt;
use gatehouse_agents::AgentsError;
use gatehouse_secrets::SecretsError;
use gatehouse_store::StoreError;
use std::fmt;

/// The value of `what` in the error for a persona that speaks only through its bindings.
pub(crate) const NO_BINDING: &str = "persona_binding";

/// An error of speech, transcription or persona storage.
#[derive(Debug, thiserror::Error)]
pub enum VoiceError {
    #[error("invalid {field}: {reason}")]
    Invalid {
        field: String,
        /// A message for people.
        reason: String,
    },
    /// A setting is missing or disabled.
    #[error("{what} is not configured")]
    NotConfigured {
        /// The name of the setting or of the missing part.
        what: String,
        /// A sentence that says what to do.
        hint: String,
    },
    /// The provider rejected the request, broke off, or sent an unusable response.
    #[error("the provider {provider} failed: {reason}{}", status_text(*status))]
    Provider {
        /// The provider's ID.
        provider: &'static str,
        /// A short phrase such as "rejected the key" or "returned no audio". Never text from the vendor's response.
        reason: &'static str,
        /// The HTTP status, unless it was a success.
        status: Option<u16>,
        /// Whether the same request may succeed later.
        retryable: bool,
        /// The delay that the provider requested.
        retry_after_seconds: Option<u64>,
        /// The vendor's own sentence. Set only in a provider test.
        said: Option<Words>,
    },
    /// A Wyoming program of the owner reported an error.
    #[error("the provider {provider} reported an error")]
    Reported {
        /// The provider's ID.
        provider: &'static str,
        /// The error message of the program, in one line.
        text: Words,
    },
    /// Several providers were tried and all failed.
    #[error("all {} providers failed", attempts.len())]
    Attempts {
        /// The error of the first provider.
        first: Box<Self>,
        /// All attempts, including the first.
        attempts: Vec<Attempt>,
    },
    /// The provider did not respond in time.
    #[error("the provider {provider} timed out")]
    Timeout {
        /// The provider's ID.
        provider: &'static str,
    },
    /// All providers together took too long.
    #[error("speaking took too long")]
    TooSlow,
    /// Too many jobs are waiting for a local program.
    #[error("too many requests are waiting")]
    Busy,
    /// The input exceeds the size limit.
    #[error("the audio is over the limit of {max_bytes} bytes")]
    TooLarge { max_bytes: u64 },
    /// The object does not exist. The text is a noun.
    #[error("the {0} does not exist")]
    NotFound(&'static str),
    /// The object already exists. The text is a sentence.
    #[error("{0}")]
    Conflict(String),
    /// The key is in the vault, and the vault is sealed.
    #[error("the vault is sealed")]
    Sealed,
    /// A local file could not be read or written.
    #[error("a file could not be read or written")]
    Io(#[from] std::io::Error),
    /// The keys could not be read.
    #[error(transparent)]
    Secrets(SecretsError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Agents(#[from] AgentsError),
    /// A bug in this crate.
    #[error("{0}")]
    Internal(&'static str),
}

/// Text from a program for the caller. The text may repeat the caller's input, so `Debug` omits it, which keeps it out
/// of logs.
#[derive(Clone, PartialEq, Eq)]
pub struct Words(pub(crate) String);

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Words(…)")
    }
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

    /// Returns the error for a setting that names a file that does not exist.
    pub(crate) fn missing_file(setting: &str) -> Self {
        Self::not_configured(setting, "The file does not exist.")
    }

    /// Returns an error without an HTTP status, for a failed connection or response body.
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
            said: None,
        }
    }

    /// Adds the vendor's sentence to the error.
    pub(crate) fn saying(mut self, sentence: Option<String>) -> Self {
        if let Self::Provider { said, .. } = &mut self {
            *said = sentence.map(Words);
        }
        self
    }

    /// Copies the error for another caller that waited for the same work.
    pub(crate) fn copied(&self) -> Self {
        match self {
            Self::Invalid { field, reason } => Self::invalid(field.clone(), reason.clone()),
            Self::NotConfigured { what, hint } => Self::not_configured(what.clone(), hint.clone()),
            Self::Provider {
                provider,
                reason,
                status,
                retryable,
                retry_after_seconds,
                said,
            } => Self::Provider {
                provider,
                reason,
                status: *status,
                retryable: *retryable,
                retry_after_seconds: *retry_after_seconds,
                said: said.clone(),
            },
            Self::Reported { provider, text } => Self::Reported {
                provider,
                text: text.clone(),
            },
            Self::Timeout { provider } => Self::Timeout { provider },
            Self::TooSlow => Self::TooSlow,
            Self::Busy => Self::Busy,
            Self::TooLarge { max_bytes } => Self::TooLarge {
                max_bytes: *max_bytes,
            },
            Self::Sealed => Self::Sealed,
            _ => Self::Internal("the speech of an identical request failed"),
        }
    }

    /// Returns whether a fallback may be tried: the provider caused the failure, not the input, and the persona permits
    /// other providers.
    pub(crate) fn is_providers(&self) -> bool {
        match self {
            Self::Provider { .. } | Self::Reported { .. } | Self::Timeout { .. } | Self::Busy => {
                true
            }
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
