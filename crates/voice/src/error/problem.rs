//! What a caller sees of an error.

use super::{VoiceError, status_text};
use gatehouse_domain::{ErrorCode, Problem};

/// When to retry if too many jobs are waiting, in milliseconds. A program takes a few seconds.
const BUSY_RETRY_MS: u64 = 5000;

impl VoiceError {
    pub(crate) fn code(&self) -> ErrorCode {
        match self {
            Self::Invalid { .. } => ErrorCode::InvalidParams,
            Self::NotConfigured { .. } => ErrorCode::NotConfigured,
            Self::Provider { .. } | Self::Reported { .. } => ErrorCode::ProviderFailed,
            Self::Attempts { first, .. } => first.code(),
            Self::Timeout { .. } | Self::TooSlow => ErrorCode::Timeout,
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
                said,
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
                if let Some(said) = said {
                    problem = problem.with("provider_message", said.0);
                }
                problem
            }
            VoiceError::Reported { provider, text } => {
                let message = format!("{provider} reported: {}", text.0);
                Self::new(ErrorCode::ProviderFailed, message)
                    .with("provider", provider)
                    .with("retryable", false)
            }
            VoiceError::Attempts { first, attempts } => {
                let attempts = serde_json::to_value(attempts).unwrap_or_default();
                Self::from(*first).with("attempts", attempts)
            }
            VoiceError::Timeout { provider } => Self::new(
                ErrorCode::Timeout,
                format!("{provider} did not respond in time."),
            )
            .with("provider", provider),
            VoiceError::TooSlow => {
                Self::new(ErrorCode::Timeout, "Speaking the answer took too long.")
            }
            VoiceError::Busy => Self::rate_limited(BUSY_RETRY_MS),
            VoiceError::TooLarge { max_bytes } => Self::too_large("audio", max_bytes),
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
