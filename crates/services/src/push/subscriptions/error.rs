//! Errors of subscribing.

use super::MAX_SUBSCRIPTIONS;
use gatehouse_domain::{ErrorCode, Problem};
use gatehouse_store::StoreError;

/// The reason why a subscription could not be changed.
#[derive(Debug, thiserror::Error)]
pub enum PushError {
    #[error("the caller has neither a session nor a device")]
    NoCredential,
    #[error("the endpoint is refused: {0}")]
    Endpoint(String),
    #[error("the keys are invalid")]
    Keys,
    #[error("there are already {MAX_SUBSCRIPTIONS} subscriptions")]
    TooMany,
    #[error("the subscription does not exist")]
    NotFound,
    #[error("the caller may remove only its own subscription")]
    NotOwn,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<PushError> for Problem {
    fn from(error: PushError) -> Self {
        match error {
            PushError::NoCredential => Self::new(
                ErrorCode::Forbidden,
                "Notifications through a push service require a session or a paired device.",
            ),
            PushError::Endpoint(reason) => Self::invalid_params("endpoint", reason),
            PushError::Keys => {
                Self::invalid_params("keys", "expected a public key of P-256 and 16 bytes")
            }
            PushError::TooMany => Self::new(
                ErrorCode::Conflict,
                format!(
                    "{MAX_SUBSCRIPTIONS} browsers already receive notifications. Remove one and try again."
                ),
            ),
            PushError::NotFound => Self::not_found("subscription"),
            PushError::NotOwn => Self::new(
                ErrorCode::Forbidden,
                "Removing another browser requires operator.pairing.",
            ),
            PushError::Store(error) => error.into(),
        }
    }
}
