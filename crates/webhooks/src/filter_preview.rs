//! Compares a payload with the conditions of a payload filter, for a form. Uses the same comparison as a delivery.

use crate::error::WebhooksError;
use crate::handle::Webhooks;
use crate::input::{Patch, WebhookInput};
use gatehouse_sources::payload_filter::{self, Condition};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Conditions and the payload to compare: one of `delivery_id` and `payload`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PayloadFilterInput {
    /// As in `webhooks.create`.
    #[serde(default)]
    #[schemars(with = "Option<Vec<Condition>>")]
    pub payload_filter: Patch<Value>,
    /// The delivery whose stored payload is used.
    pub delivery_id: Option<String>,
    /// JSON, as text.
    pub payload: Option<String>,
}

/// Whether a payload meets the conditions of a payload filter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PayloadFilterPreview {
    /// Whether the payload passes the filter: for each condition, the condition or one of its alternatives is met.
    pub met: bool,
    /// For each condition, in order, whether it is met. Its alternatives are not considered.
    pub conditions: Vec<bool>,
}

impl Webhooks {
    /// Compares a payload with conditions, or returns why they would be refused.
    pub async fn preview_payload_filter(
        &self,
        input: PayloadFilterInput,
    ) -> Result<PayloadFilterPreview, WebhooksError> {
        let webhook = WebhookInput {
            payload_filter: input.payload_filter,
            ..WebhookInput::default()
        };
        let filter = webhook.first_config()?.webhook.payload_filter;
        let payload = self
            .previewed_payload(input.delivery_id, input.payload)
            .await?;
        let conditions: Vec<bool> = filter
            .iter()
            .map(|condition| condition.is_met(&payload))
            .collect();
        Ok(PayloadFilterPreview {
            met: payload_filter::unmet(&filter, &payload).is_none(),
            conditions,
        })
    }
}
