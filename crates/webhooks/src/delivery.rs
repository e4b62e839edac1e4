//! A delivery as shown to its owner: in lists, in responses and, shortened, in the `webhooks.delivery`
//! event.

mod change;
mod edited_part;

pub use change::DeliveryChange;
pub use edited_part::EditedPart;
use gatehouse_domain::{DeliveryId, DeliveryStatus, Timestamp, WebhookId};
use gatehouse_store::{DeliveryAttempt, DeliveryRow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A tool call that the agent made while processing a delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResponseAction {
    pub tool: String,
    /// `ok`, `error`, `denied` or `expired`.
    pub status: String,
    pub at: Timestamp,
}

/// An attempt that failed and was repeated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FailedAttempt {
    /// The number of the attempt, from 1.
    pub attempt: i64,
    pub started_at: Timestamp,
    pub ended_at: Timestamp,
    pub duration_ms: i64,
    /// Why it failed.
    pub error: String,
    /// The HTTP status of the receiver's response. Absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_code: Option<i64>,
    /// The beginning of the text of that response, at most 500 characters, without secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
}

fn took_ms(from: Timestamp, to: Timestamp) -> i64 {
    i64::try_from(from.until(to).as_millis()).unwrap_or(i64::MAX)
}

impl From<DeliveryAttempt> for FailedAttempt {
    fn from(row: DeliveryAttempt) -> Self {
        Self {
            attempt: row.attempt,
            started_at: row.started_at,
            ended_at: row.ended_at,
            duration_ms: took_ms(row.started_at, row.ended_at),
            error: row.error,
            status_code: row.status_code,
            answer: row.answer,
        }
    }
}

/// A webhook delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Delivery {
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
    /// The recorded headers: event type, delivery ID, content type and, if the sender is verified, `traceparent`.
    pub headers: BTreeMap<String, String>,
    /// The size of the body in bytes.
    pub body_size: i64,
    /// The start of the body, at most 2 KiB.
    pub body_preview: String,
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
    /// The HTTP status of the receiver's response to the attempt that ended the delivery. Only in
    /// `webhooks.delivery.get`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_code: Option<i64>,
    /// The beginning of the text of that response, at most 500 characters, without secrets, if the attempt failed. Only
    /// in `webhooks.delivery.get`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// The attempts that failed and were repeated, oldest first. Only in `webhooks.delivery.get`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_attempts: Vec<FailedAttempt>,
    /// The tool calls that the agent made.
    pub response_actions: Vec<ResponseAction>,
}

/// Returns `None` for an empty text. Some columns store an empty text instead of NULL.
fn given(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn duration_of(row: &DeliveryRow) -> Option<i64> {
    let ends = row.started_at.zip(row.finished_at);
    ends.map(|(from, to)| took_ms(from, to))
}

/// Returns when the next attempt starts, if the delivery waits for that time.
fn next_attempt(
    status: DeliveryStatus,
    at: Option<Timestamp>,
    received_at: Timestamp,
) -> Option<Timestamp> {
    at.filter(|at| status == DeliveryStatus::Queued && *at > received_at)
}

impl From<DeliveryRow> for Delivery {
    fn from(row: DeliveryRow) -> Self {
        Self {
            duration_ms: duration_of(&row),
            next_attempt_at: next_attempt(row.status, row.next_attempt_at, row.received_at),
            // Gatehouse wrote these columns itself, so damaged text is replaced with the default.
            headers: serde_json::from_str(&row.headers).unwrap_or_default(),
            response_actions: serde_json::from_str(&row.response_actions).unwrap_or_default(),
            session_key: Some(row.session_key).filter(|key| !key.is_empty()),
            id: row.id,
            webhook_id: row.webhook_id,
            status: row.status,
            event_type: row.event_type,
            entity_key: row.entity_key,
            delivery_key: row.delivery_key,
            duplicate_of: row.duplicate_of,
            replay_of: row.replay_of,
            edited: EditedPart::list(row.edited.as_deref()),
            received_at: row.received_at,
            started_at: row.started_at,
            finished_at: row.finished_at,
            delivered_at: row.delivered_at,
            attempts: row.attempts,
            input_tokens: row.input_tokens,
            output_tokens: row.output_tokens,
            body_size: row.body_size,
            body_preview: row.body_preview,
            session_id: row.session_id,
            error: row.error,
            summary: row.summary,
            outcome: row.outcome,
            target: row.target.filter(|target| !target.is_empty()),
            channel: row.channel,
            status_code: None,
            answer: None,
            failed_attempts: Vec::new(),
        }
    }
}
