//! Why a change was not stored.

use crate::error::WebhooksError;
use gatehouse_domain::{ErrorCode, Problem};
use gatehouse_secrets::SecretsError;
use gatehouse_store::StoreError;

/// The reason why a change was not written. `Crossed` means that another change was written first.
pub(crate) enum Miss {
    Crossed,
    Failed(WebhooksError),
}

impl From<WebhooksError> for Miss {
    fn from(error: WebhooksError) -> Self {
        Self::Failed(error)
    }
}

impl From<SecretsError> for Miss {
    fn from(error: SecretsError) -> Self {
        Self::Failed(error.into())
    }
}

impl From<StoreError> for Miss {
    fn from(error: StoreError) -> Self {
        Self::Failed(error.into())
    }
}

impl From<Miss> for WebhooksError {
    fn from(miss: Miss) -> Self {
        match miss {
            Miss::Failed(error) => error,
            Miss::Crossed => Self::Refused(Problem::new(
                ErrorCode::Conflict,
                "The webhook was changed at the same time; try again.",
            )),
        }
    }
}
