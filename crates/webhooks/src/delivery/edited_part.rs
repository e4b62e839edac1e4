//! Parts of a webhook that can differ from its configuration at receipt.

use schemars::JsonSchema;
use serde::Serialize;

/// A part of a delivery that the owner changed for a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EditedPart {
    /// The payload is not the sender's, so it is not verified.
    Payload,
    /// An agent or a channel other than the webhook's.
    Target,
}

impl EditedPart {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Payload => "payload",
            Self::Target => "target",
        }
    }

    /// Reads the column `edited`.
    pub(crate) fn list(stored: Option<&str>) -> Vec<Self> {
        let parts = [Self::Payload, Self::Target].into_iter();
        let named: Vec<&str> = stored.unwrap_or_default().split(',').collect();
        parts
            .filter(|part| named.contains(&part.as_str()))
            .collect()
    }
}
