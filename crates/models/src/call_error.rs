//! Converts a provider's refusal or a failed connection into an error.

use crate::ModelError;
use crate::keys::Key;
use crate::refusal::{Reason, Refusal};
use gatehouse_outbound::OutboundError;
use std::time::Duration;

/// Converts a refusal into an error.
pub(crate) fn refused(
    provider: &str,
    refusal: Refusal,
    key: &Key<'_>,
    wait: Option<Duration>,
) -> ModelError {
    // Only a local server is called without a key. This one requires a key, which may be in the sealed vault.
    if key.is_sealed() && matches!(refusal.status, Some(401 | 403)) {
        return ModelError::Sealed;
    }
    vendor_error(provider, refusal, wait)
}

pub(crate) fn vendor_error(provider: &str, refusal: Refusal, wait: Option<Duration>) -> ModelError {
    let provider = provider.to_owned();
    match refusal.reason {
        Reason::ContextTooLong => ModelError::ContextTooLong { provider },
        reason => ModelError::Failed {
            provider,
            status: refusal.status,
            reason: Some(reason),
            retryable: refusal.is_retryable(),
            retry_after: wait.filter(|_| refusal.is_retryable()),
            vendor_message: None,
        },
    }
}

pub(crate) fn outbound_error(provider: &str, error: OutboundError) -> ModelError {
    let provider = provider.to_owned();
    match error {
        OutboundError::RefusedAddress | OutboundError::BadUrl(_) => {
            ModelError::RefusedAddress { provider }
        }
        OutboundError::Timeout => ModelError::Timeout { provider },
        error => ModelError::failed(provider, error.is_retryable()),
    }
}

pub(crate) fn unknown_provider(id: &str) -> ModelError {
    ModelError::not_configured(
        format!("models.providers.{id}"),
        format!(
            "There is no model provider {id}. Define it in the settings or choose another one."
        ),
    )
}
