//! What a webhook's owner may choose for deliveries that are repeated or too many.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What tells that a delivery came before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReplayGuard {
    /// The delivery key. Where no signature covers the sender's id, a captured delivery can be sent
    /// again under a new id.
    #[default]
    Key,
    /// The delivery key, or the verified bytes: the body, and the id, time and URL where they are
    /// signed.
    Bytes,
}

/// What happens to a delivery over the rate limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnLimit {
    /// It is answered 429 and not stored.
    #[default]
    Refuse,
    /// It is stored and answered 202, and the worker starts deliveries at the webhook's rate.
    Queue,
}

/// Whether a field has its default value.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
