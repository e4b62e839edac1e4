//! A change of a delivery, as events report it.

use super::{EditedPart, duration_of, given, next_attempt};
use gatehouse_domain::{DeliveryId, DeliveryStatus, Timestamp, WebhookId};
use gatehouse_store::{DeliveryRow, NewDelivery};
use schemars::JsonSchema;
use serde::Serialize;

/// The payload of the `webhooks.delivery` event: a delivery without its potentially long fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeliveryChange {
    pub id: DeliveryId,
    pub webhook_id: WebhookId,
    pub status: DeliveryStatus,
    /// The event type. Absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_type: Option<String>,
    /// The entity that the event is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity_key: Option<String>,
    /// The sender's key for this delivery, used for deduplication.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_key: Option<String>,
    /// The first delivery with the same key, if this one is a duplicate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicate_of: Option<DeliveryId>,
    /// The original delivery, if this one is a replay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay_of: Option<DeliveryId>,
    /// The owner's changes for this replay. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edited: Vec<EditedPart>,
    pub received_at: Timestamp,
    /// When the latest attempt started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
    /// When a channel accepted the text: the payload, or the agent's answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered_at: Option<Timestamp>,
    /// Duration of the final attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<i64>,
    /// How many attempts have started.
    pub attempts: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_attempt_at: Option<Timestamp>,
    /// Input tokens that the model used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<i64>,
    /// Output tokens that the model generated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<i64>,
    /// The size of the body in bytes.
    pub body_size: i64,
    /// The chat session that the delivery ran in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The key of that session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_key: Option<String>,
    /// Why the delivery failed, is waiting or was rejected, or which condition of the payload filter it does not meet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// A summary of the event on one line, from the payload. Absent if the sender's format is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The beginning of the agent's answer, or of the text that a channel accepted without an agent, as one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// The channel target that the text goes to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The name of the channel that accepted the text without an agent, as it was then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
}

impl From<&DeliveryRow> for DeliveryChange {
    fn from(row: &DeliveryRow) -> Self {
        Self {
            id: row.id.clone(),
            webhook_id: row.webhook_id.clone(),
            status: row.status,
            event_type: row.event_type.clone(),
            entity_key: row.entity_key.clone(),
            delivery_key: row.delivery_key.clone(),
            duplicate_of: row.duplicate_of.clone(),
            replay_of: row.replay_of.clone(),
            edited: EditedPart::list(row.edited.as_deref()),
            received_at: row.received_at,
            started_at: row.started_at,
            finished_at: row.finished_at,
            delivered_at: row.delivered_at,
            duration_ms: duration_of(row),
            attempts: row.attempts,
            next_attempt_at: next_attempt(row.status, row.next_attempt_at, row.received_at),
            input_tokens: row.input_tokens,
            output_tokens: row.output_tokens,
            body_size: row.body_size,
            session_id: row.session_id.clone(),
            session_key: given(&row.session_key),
            error: row.error.clone(),
            summary: row.summary.clone(),
            outcome: row.outcome.clone(),
            target: row.target.as_deref().and_then(given),
            channel: row.channel.clone(),
        }
    }
}

/// The state of a newly stored delivery, before its first attempt.
impl From<&NewDelivery> for DeliveryChange {
    fn from(new: &NewDelivery) -> Self {
        Self {
            id: new.id.clone(),
            webhook_id: new.webhook_id.clone(),
            status: new.status,
            event_type: new.event_type.clone(),
            entity_key: new.entity_key.clone(),
            delivery_key: new.delivery_key.clone(),
            duplicate_of: new.duplicate_of.clone(),
            replay_of: new.replay_of.clone(),
            edited: Vec::new(),
            received_at: new.received_at,
            started_at: None,
            finished_at: None,
            delivered_at: None,
            duration_ms: None,
            attempts: 0,
            next_attempt_at: next_attempt(new.status, new.next_attempt_at, new.received_at),
            input_tokens: None,
            output_tokens: None,
            body_size: new.body_size,
            session_id: None,
            session_key: given(&new.session_key),
            error: new.error.clone(),
            summary: new.summary.clone(),
            outcome: None,
            target: new.target.as_deref().and_then(given),
            channel: None,
        }
    }
}
