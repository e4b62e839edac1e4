//! How a request ends, and what its sender is told.

use crate::error::WebhooksError;
use crate::payload::PayloadError;
use crate::verify::VerifyError;
use gatehouse_domain::{DeliveryId, DeliveryStatus, ErrorCode, Problem};
use gatehouse_store::StoreError;
use serde_json::Value;

/// A request that was taken.
#[derive(Clone, Debug, PartialEq)]
pub enum Ingested {
    /// It is on disk and will be worked on: 202.
    Accepted(DeliveryId),
    /// Its event type is not wanted: 200.
    Filtered(DeliveryId),
    /// It came before; this is the first one: 200.
    Deduplicated(DeliveryId),
    /// The sender asks whether the address is ours: 200 with this.
    Handshake(Value),
}

impl Ingested {
    /// Where the delivery stands; none for a handshake.
    pub const fn status(&self) -> Option<DeliveryStatus> {
        match self {
            Self::Accepted(_) => Some(DeliveryStatus::Queued),
            Self::Filtered(_) => Some(DeliveryStatus::Filtered),
            Self::Deduplicated(_) => Some(DeliveryStatus::Deduplicated),
            Self::Handshake(_) => None,
        }
    }
}

/// A request that was not taken.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// No such webhook, or it is disabled: the same in every respect.
    #[error("there is no such webhook")]
    NotFound,
    /// The vault is sealed.
    #[error("the vault is sealed")]
    Sealed,
    /// It comes from an address that the owner did not allow.
    #[error("the address is not allowed")]
    AddressNotAllowed,
    /// The body is over the webhook's limit.
    #[error("the body is over the limit of {max_bytes} bytes")]
    TooLarge {
        /// The limit.
        max_bytes: u64,
    },
    /// It could not be verified.
    #[error("not verified")]
    Unverified(#[from] VerifyError),
    /// Its body is not what the profile sends.
    #[error("the body cannot be read")]
    Unreadable(#[from] PayloadError),
    /// Too many of late.
    #[error("too many deliveries; wait {wait_ms} ms")]
    RateLimited {
        /// How long to wait.
        wait_ms: u64,
    },
    /// It could not be stored.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The webhook's secrets could not be read.
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
                "This webhook takes nothing from your address.",
            ),
            IngestError::TooLarge { max_bytes } => Self::new(
                ErrorCode::PayloadTooLarge,
                format!("The body is over the limit of {max_bytes} bytes."),
            )
            .with("max_bytes", max_bytes),
            IngestError::Unverified(error) => error.into(),
            IngestError::Unreadable(error) => error.into(),
            IngestError::RateLimited { wait_ms } => Self::rate_limited(wait_ms),
            IngestError::Store(error) => error.into(),
            IngestError::Reload(error) => error.into(),
        }
    }
}
