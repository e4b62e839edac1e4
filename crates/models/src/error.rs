//! What can go wrong with a model, and what a caller is told. Nothing of a vendor's answer but its status
//! is kept: it may repeat the conversation or the key.

use gatehouse_domain::{ErrorCode, Problem};
use gatehouse_secrets::SecretsError;

/// A model could not be chosen, or did not answer.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// There is no such model or provider, or its key is missing.
    #[error("{what} is not configured")]
    NotConfigured {
        /// The setting that is missing.
        what: String,
        /// A sentence that says what to do.
        hint: String,
    },
    /// The provider refused, broke off, or answered what cannot be understood.
    #[error("the provider {provider} failed{}", status_text(*status))]
    Failed {
        /// The provider.
        provider: String,
        /// Its HTTP status, when it was not 200.
        status: Option<u16>,
        /// Whether the same request may work later.
        retryable: bool,
    },
    /// The conversation does not fit into the model: a shorter one may.
    #[error("the conversation is too long for the model of {provider}")]
    ContextTooLong {
        /// The provider.
        provider: String,
    },
    /// The provider kept us waiting for too long.
    #[error("the provider {provider} took too long")]
    Timeout {
        /// The provider.
        provider: String,
    },
    /// The provider's address may not be called.
    #[error("the address of the provider {provider} is refused")]
    RefusedAddress {
        /// The provider.
        provider: String,
    },
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
    pub(crate) fn not_configured(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::NotConfigured {
            what: what.into(),
            hint: hint.into(),
        }
    }

    /// Whether the same request may work later.
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
                retryable,
            } => {
                let message = match status {
                    Some(401 | 403) => {
                        format!("The model provider {provider} does not accept its key.")
                    }
                    Some(status) => {
                        format!("The model provider {provider} answered with status {status}.")
                    }
                    None if retryable => {
                        format!("The model provider {provider} could not be reached or broke off.")
                    }
                    None => format!(
                        "The model provider {provider} answered in a way that is not understood."
                    ),
                };
                failed(provider, retryable, message)
            }
            ModelError::ContextTooLong { provider } => {
                let message = format!(
                    "The conversation is too long for the chosen model of {provider}; start a new \
                     session or choose a model with a larger context."
                );
                failed(provider, false, message)
            }
            ModelError::RefusedAddress { provider } => {
                let message = format!(
                    "The address of the model provider {provider} may not be called; change its \
                     base_url."
                );
                failed(provider, false, message)
            }
            ModelError::Timeout { provider } => Self::new(
                ErrorCode::Timeout,
                format!("The model provider {provider} took too long."),
            ),
            ModelError::Sealed => Self::vault_sealed(),
            ModelError::Secrets(error) => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_caller_is_told() {
        let failed = |status, retryable| ModelError::Failed {
            provider: "p".to_owned(),
            status,
            retryable,
        };
        for (error, code, text) in [
            (failed(Some(401), false), "PROVIDER_FAILED", "key"),
            (failed(Some(500), true), "PROVIDER_FAILED", "500"),
            (failed(None, true), "PROVIDER_FAILED", "reached"),
            (failed(None, false), "PROVIDER_FAILED", "not understood"),
            (
                ModelError::Timeout {
                    provider: "p".to_owned(),
                },
                "TIMEOUT",
                "too long",
            ),
            (ModelError::Sealed, "VAULT_SEALED", "sealed"),
            (
                ModelError::not_configured("models", "Do this."),
                "NOT_CONFIGURED",
                "Do this.",
            ),
        ] {
            let retryable = error.is_retryable();
            let problem = Problem::from(error);
            assert_eq!(problem.code.name(), code);
            assert!(problem.message.contains(text), "{}", problem.message);
            if code == "PROVIDER_FAILED" {
                assert_eq!(problem.details["provider"], "p");
                assert_eq!(problem.details["retryable"], retryable);
            }
        }
    }
}
