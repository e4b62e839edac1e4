//! Errors of models, and their form in the API. The vendor's sentence is a separate field, never part of the message.
//! It is shown only to the owner and is not logged.

use crate::refusal::Reason;
use gatehouse_domain::{ErrorCode, Problem};
use gatehouse_secrets::SecretsError;
use std::time::Duration;

/// Why a model could not be selected or did not answer.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The model or provider does not exist, or its key is missing.
    #[error("{what} is not configured")]
    NotConfigured {
        /// The missing setting.
        what: String,
        /// A sentence that says what to do.
        hint: String,
    },
    /// The provider refused, broke off, or sent an invalid response.
    #[error("the provider {provider} failed{}", status_text(*status))]
    Failed {
        provider: String,
        /// The HTTP status, when it was not 200.
        status: Option<u16>,
        /// The classified reason of a refusal.
        reason: Option<Reason>,
        /// Whether the same request may succeed later.
        retryable: bool,
        /// The wait that the provider requested.
        retry_after: Option<Duration>,
        /// The vendor's own sentence. It may repeat parts of the conversation.
        vendor_message: Option<String>,
    },
    /// The conversation exceeds the model's context window. A shorter one may fit.
    #[error("the conversation is too long for the model of {provider}")]
    ContextTooLong { provider: String },
    #[error("the provider {provider} timed out")]
    Timeout { provider: String },
    /// Policy forbids calls to the provider's address.
    #[error("the address of the provider {provider} is not allowed")]
    RefusedAddress { provider: String },
    /// The key is in the vault, and the vault is sealed.
    #[error("the vault is sealed")]
    Sealed,
    /// The keys could not be read.
    #[error(transparent)]
    Secrets(SecretsError),
}

fn status_text(status: Option<u16>) -> String {
    status.map_or_else(String::new, |status| format!(" with status {status}"))
}

impl ModelError {
    /// Returns a failure without a response.
    pub(crate) const fn failed(provider: String, retryable: bool) -> Self {
        Self::Failed {
            provider,
            status: None,
            reason: None,
            retryable,
            retry_after: None,
            vendor_message: None,
        }
    }

    pub(crate) fn not_configured(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::NotConfigured {
            what: what.into(),
            hint: hint.into(),
        }
    }

    /// Returns the kind of failure as a single word.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::NotConfigured { .. } => "not_configured",
            Self::Failed {
                reason: Some(reason),
                ..
            } => reason.as_str(),
            Self::Failed { .. } => "provider_failed",
            Self::ContextTooLong { .. } => "context_too_long",
            Self::Timeout { .. } => "timeout",
            Self::RefusedAddress { .. } => "refused_address",
            Self::Sealed => "vault_sealed",
            Self::Secrets(_) => "secrets",
        }
    }

    /// Returns whether the same request may succeed later.
    pub const fn is_retryable(&self) -> bool {
        match self {
            Self::Failed { retryable, .. } => *retryable,
            Self::Timeout { .. } => true,
            _ => false,
        }
    }
}

impl From<SecretsError> for ModelError {
    fn from(error: SecretsError) -> Self {
        match error {
            SecretsError::Sealed => Self::Sealed,
            error => Self::Secrets(error),
        }
    }
}

fn failed(provider: String, retryable: bool, message: String) -> Problem {
    Problem::new(ErrorCode::ProviderFailed, message)
        .with("provider", provider)
        .with("retryable", retryable)
}

impl From<ModelError> for Problem {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::NotConfigured { what, hint } => {
                Self::new(ErrorCode::NotConfigured, hint).with("what", what)
            }
            ModelError::Failed {
                provider,
                status,
                reason,
                retryable,
                retry_after,
                vendor_message,
            } => {
                let sentence = reason.and_then(Reason::sentence);
                let message = match (sentence, status) {
                    (Some(sentence), _) => format!("The model provider {provider} {sentence}."),
                    (None, Some(status)) => {
                        format!("The model provider {provider} responded with status {status}.")
                    }
                    (None, None) if retryable => {
                        format!(
                            "The model provider {provider} could not be reached or closed the \
                             connection early."
                        )
                    }
                    (None, None) => {
                        format!("The model provider {provider} returned an invalid response.")
                    }
                };
                let mut problem = failed(provider, retryable, message);
                if let Some(status) = status {
                    problem = problem.with("status", status);
                }
                if let Some(vendor_message) = vendor_message {
                    problem = problem.with("provider_message", vendor_message);
                }
                if let Some(reason) = reason {
                    problem = problem.with("reason", reason.as_str());
                }
                if let Some(wait) = retry_after {
                    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
                    problem = problem.with("retry_after_seconds", seconds);
                }
                problem
            }
            ModelError::ContextTooLong { provider } => {
                let message = format!(
                    "The conversation is too long for the chosen model of {provider}; start a new \
                     session or choose a model with a larger context."
                );
                failed(provider, false, message).with("reason", Reason::ContextTooLong.as_str())
            }
            ModelError::RefusedAddress { provider } => {
                let message = format!(
                    "The address of the model provider {provider} is not allowed. Change its \
                     base_url."
                );
                failed(provider, false, message)
            }
            ModelError::Timeout { provider } => Self::new(
                ErrorCode::Timeout,
                format!("The model provider {provider} did not respond in time."),
            ),
            ModelError::Sealed => Self::vault_sealed(),
            ModelError::Secrets(error) => error.into(),
        }
    }
}

#[cfg(test)]
mod tests;
