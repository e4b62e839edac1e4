//! Failures of a verification.

use gatehouse_domain::{ErrorCode, Problem};

/// Why a verification failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum VerifyError {
    #[error("no signature or token")]
    Missing,
    /// No signature or token matches.
    #[error("wrong signature or token")]
    Wrong,
    #[error("malformed signature header")]
    Malformed,
    /// The scheme requires a timestamp.
    #[error("no timestamp")]
    MissingTimestamp,
    /// The signature is valid but too old.
    #[error("timestamp too old")]
    Stale,
    /// The signature is valid but its timestamp is in the future.
    #[error("timestamp in the future")]
    FromFuture,
    /// More than [`MAX_CANDIDATES`](super::MAX_CANDIDATES) signatures.
    #[error("too many signatures")]
    TooMany,
    /// More than [`MAX_HEADER_BYTES`](super::MAX_HEADER_BYTES) bytes.
    #[error("header too large")]
    HeaderTooLarge,
    #[error("no usable secret")]
    NoSecret,
}

impl VerifyError {
    /// Returns a label for metrics and for the delivery's record.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Missing => "missing_signature",
            Self::Wrong => "wrong_signature",
            Self::Malformed => "malformed_signature",
            Self::MissingTimestamp => "missing_timestamp",
            Self::Stale => "stale_timestamp",
            Self::FromFuture => "future_timestamp",
            Self::TooMany => "too_many_signatures",
            Self::HeaderTooLarge => "header_too_large",
            Self::NoSecret => "no_secret",
        }
    }
}

/// Senders get the same message for every reason.
impl From<VerifyError> for Problem {
    fn from(_: VerifyError) -> Self {
        Self::new(
            ErrorCode::InvalidCredentials,
            "The delivery could not be verified.",
        )
    }
}
