//! A delivery as its owner sees it: in lists, in answers and, shortened, in the event
//! `webhooks.delivery`.

use gatehouse_domain::{DeliveryId, DeliveryStatus, Timestamp, WebhookId};
use gatehouse_store::DeliveryRow;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One thing that the agent did in answer to a delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResponseAction {
    /// Which tool it called.
    pub tool: String,
    /// `ok`, `error` or `denied`.
    pub status: String,
    /// When.
    pub at: Timestamp,
}

/// One delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Delivery {
    /// Its id.
    pub id: DeliveryId,
    /// To which webhook.
    pub webhook_id: WebhookId,
    /// Where it stands.
    pub status: DeliveryStatus,
    /// What happened at the sender.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_type: Option<String>,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity_key: Option<String>,
    /// What the sender knows it by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_key: Option<String>,
    /// The delivery that came first with the same key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicate_of: Option<DeliveryId>,
    /// The delivery that this one repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay_of: Option<DeliveryId>,
    /// When it came.
    pub received_at: Timestamp,
    /// When work on it last began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
    /// How long the work took that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<i64>,
    /// How often work on it was begun.
    pub attempts: i64,
    /// When it is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_attempt_at: Option<Timestamp>,
    /// Tokens read by the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<i64>,
    /// Tokens written by the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<i64>,
    /// The headers that may be kept: event type, delivery id, content type.
    pub headers: BTreeMap<String, String>,
    /// The size of its body in bytes.
    pub body_size: i64,
    /// How the body begins, at most 2 KiB.
    pub body_preview: String,
    /// The chat session that it ran in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// That session's key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_key: Option<String>,
    /// Why it did not end well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What the agent did.
    pub response_actions: Vec<ResponseAction>,
}

/// A change of a delivery, as the event `webhooks.delivery` tells it: the record without what may be long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeliveryChange<'a> {
    /// Its id.
    pub id: &'a DeliveryId,
    /// To which webhook.
    pub webhook_id: &'a WebhookId,
    /// Where it stands.
    pub status: DeliveryStatus,
    /// What happened at the sender.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_type: Option<&'a str>,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity_key: Option<&'a str>,
    /// What the sender knows it by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_key: Option<&'a str>,
    /// The delivery that came first with the same key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicate_of: Option<&'a DeliveryId>,
    /// The delivery that this one repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay_of: Option<&'a DeliveryId>,
    /// When it came.
    pub received_at: Timestamp,
    /// When work on it last began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
    /// How long the work took that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<i64>,
    /// How often work on it was begun.
    pub attempts: i64,
    /// When it is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_attempt_at: Option<Timestamp>,
    /// Tokens read by the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<i64>,
    /// Tokens written by the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<i64>,
    /// The size of its body in bytes.
    pub body_size: i64,
    /// The chat session that it ran in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<&'a str>,
    /// That session's key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_key: Option<&'a str>,
    /// Why it did not end well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<&'a str>,
}

impl<'a> DeliveryChange<'a> {
    /// What is told of a delivery.
    pub fn of(delivery: &'a Delivery) -> Self {
        Self {
            id: &delivery.id,
            webhook_id: &delivery.webhook_id,
            status: delivery.status,
            event_type: delivery.event_type.as_deref(),
            entity_key: delivery.entity_key.as_deref(),
            delivery_key: delivery.delivery_key.as_deref(),
            duplicate_of: delivery.duplicate_of.as_ref(),
            replay_of: delivery.replay_of.as_ref(),
            received_at: delivery.received_at,
            started_at: delivery.started_at,
            finished_at: delivery.finished_at,
            duration_ms: delivery.duration_ms,
            attempts: delivery.attempts,
            next_attempt_at: delivery.next_attempt_at,
            input_tokens: delivery.input_tokens,
            output_tokens: delivery.output_tokens,
            body_size: delivery.body_size,
            session_id: delivery.session_id.as_deref(),
            session_key: delivery.session_key.as_deref(),
            error: delivery.error.as_deref(),
        }
    }
}

impl From<DeliveryRow> for Delivery {
    fn from(row: DeliveryRow) -> Self {
        let took = |(from, to): (Timestamp, Timestamp)| {
            i64::try_from(from.until(to).as_millis()).unwrap_or(i64::MAX)
        };
        let waits = row.status == DeliveryStatus::Queued
            && row.next_attempt_at.is_some_and(|at| at > row.received_at);
        Self {
            duration_ms: row.started_at.zip(row.finished_at).map(took),
            next_attempt_at: row.next_attempt_at.filter(|_| waits),
            // What is stored there was written by us; a damaged text shows as nothing.
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
            received_at: row.received_at,
            started_at: row.started_at,
            finished_at: row.finished_at,
            attempts: row.attempts,
            input_tokens: row.input_tokens,
            output_tokens: row.output_tokens,
            body_size: row.body_size,
            body_preview: row.body_preview,
            session_id: row.session_id,
            error: row.error,
        }
    }
}
