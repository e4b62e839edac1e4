//! The setting for deliveries over the rate limit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What happens to a delivery over the rate limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnLimit {
    /// Respond with 429 and do not store it.
    #[default]
    Refuse,
    /// Store it and respond with 202. The worker starts deliveries at the webhook's rate.
    Queue,
}

/// Returns whether a field has its default value. For `skip_serializing_if`.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
