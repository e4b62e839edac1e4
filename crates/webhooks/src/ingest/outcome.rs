//! The results of ingest and their responses.

use crate::error::WebhooksError;
use gatehouse_domain::{DeliveryId, DeliveryStatus, ErrorCode, Problem};
use gatehouse_secrets::SecretsError;
use gatehouse_sources::event::HandshakeReply;
use gatehouse_sources::payload::PayloadError;
use gatehouse_sources::verify::VerifyError;
use gatehouse_store::StoreError;
use serde_json::Value;

/// A request that was not refused.
#[derive(Clone, Debug, PartialEq)]
pub enum Ingested {
    /// Stored and queued; the response is 202.
    Accepted(DeliveryId),
    /// The event filter or the payload filter excludes it; the response is 200.
    Filtered(DeliveryId),
    /// A duplicate of this delivery; the response is 200.
    Deduplicated(DeliveryId),
    /// Accepted, filtered or deduplicated; the response is 200 with this JSON, which the sender needs.
    Answered(Box<Self>, Value),
    /// The sender verifies the URL; the response is 200 with this content.
    Handshake(HandshakeReply),
}

impl Ingested {
    /// Returns the outcome without the JSON for the sender.
    pub(crate) fn without_reply(&self) -> &Self {
        match self {
            Self::Answered(outcome, _) => outcome.without_reply(),
            outcome => outcome,
        }
    }

    /// Returns the status of the delivery; `None` for a handshake.
    pub fn status(&self) -> Option<DeliveryStatus> {
        match self {
            Self::Answered(outcome, _) => outcome.status(),
            Self::Accepted(_) => Some(DeliveryStatus::Queued),
            Self::Filtered(_) => Some(DeliveryStatus::Filtered),
            Self::Deduplicated(_) => Some(DeliveryStatus::Deduplicated),
            Self::Handshake(_) => None,
        }
    }
}

/// A refused request.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// There is no such webhook, or it is disabled. The response does not distinguish the two.
    #[error("there is no such webhook")]
    NotFound,
    #[error("the vault is sealed")]
    Sealed,
    /// The client IP address is not in the webhook's allowlist.
    #[error("the address is not allowed")]
    AddressNotAllowed,
    /// No profile in use has the webhook's profile or mode.
    #[error("the profile is missing")]
    ProfileMissing,
    /// The body exceeds the webhook's limit.
    #[error("the body is over the limit of {max_bytes} bytes")]
    TooLarge { max_bytes: u64 },
    #[error("not verified")]
    Unverified(#[from] VerifyError),
    /// The body does not have the format of the profile.
    #[error("the body cannot be read")]
    Unreadable(#[from] PayloadError),
    /// A limit is exceeded: for deliveries, wrong tokens, or the memory for bodies.
    #[error("too many deliveries; wait {wait_ms} ms")]
    RateLimited { wait_ms: u64 },
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The request could not be encrypted until the vault is unlocked.
    #[error("the delivery could not be held")]
    Hold(#[from] SecretsError),
    /// The webhook's secrets could not be loaded.
    #[error("the webhooks could not be read")]
    Reload(#[source] WebhooksError),
}

impl From<IngestError> for Problem {
    fn from(error: IngestError) -> Self {
        match error {
            IngestError::NotFound => Self::not_found("webhook"),
            IngestError::Sealed => Self::vault_sealed(),
            IngestError::AddressNotAllowed => Self::new(
                ErrorCode::Forbidden,
                "This webhook does not accept deliveries from your IP address.",
            ),
            IngestError::ProfileMissing => Self::new(
                ErrorCode::NotConfigured,
                "The file of this webhook's profile is missing or has a mistake. The delivery was not stored. Retry \
                 later.",
            ),
            IngestError::TooLarge { max_bytes } => Self::too_large("body", max_bytes),
            IngestError::Unverified(error) => error.into(),
            IngestError::Unreadable(error) => error.into(),
            IngestError::RateLimited { wait_ms } => Self::rate_limited(wait_ms),
            IngestError::Store(error) => error.into(),
            IngestError::Hold(error) => error.into(),
            IngestError::Reload(error) => error.into(),
        }
    }
}
