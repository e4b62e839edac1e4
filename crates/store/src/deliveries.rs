//! Table `webhook_deliveries`: batch inserts, lookups of single deliveries, and the removal of the deliveries
//! of deleted webhooks. Lists and counts are in `delivery_list.rs`, the queue is in `delivery_queue.rs`.

mod insert;

use crate::delivery_unreadable::Shown;
use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::{DeliveryId, DeliveryStatus, Timestamp, WebhookId};
pub use insert::NewDelivery;
use std::sync::LazyLock;

/// The columns of [`DeliveryRow`]: all columns except the payload and the configuration. If the preview would equal
/// the payload, only the payload is stored.
pub(crate) const COLUMNS: &str = "id, webhook_id, status, event_type, entity_key, delivery_key, \
    duplicate_of, replay_of, session_key, session_id, received_at, started_at, finished_at, \
    next_attempt_at, attempts, lease_owner, lease_until, input_tokens, output_tokens, headers, body_size, \
    CASE WHEN body_preview = '' THEN COALESCE(payload, '') ELSE body_preview END AS body_preview, \
    error, response_actions, target, delivered_at, summary, outcome, edited, \
    channel";

/// Selects the payload of a delivery from its row or, if that column is empty, from `delivery_payloads`.
pub(crate) const PAYLOAD: &str = "CASE WHEN payload = '' THEN (SELECT apart.payload \
    FROM delivery_payloads AS apart WHERE apart.delivery_id = webhook_deliveries.id) \
    ELSE payload END AS payload";

/// Maximum size of a preview, in bytes. A larger payload is stored in `delivery_payloads`, a smaller one in the
/// row. PostgreSQL also moves values over 2 kB out of the row (TOAST).
pub const PREVIEW_BYTES: usize = 2048;

/// Returns whether a payload is stored in `delivery_payloads`.
const fn is_stored_apart(payload: &str) -> bool {
    payload.len() > PREVIEW_BYTES
}

/// A delivery without its payload and configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryRow {
    pub id: DeliveryId,
    pub webhook_id: WebhookId,
    pub status: DeliveryStatus,
    pub event_type: Option<String>,
    pub entity_key: Option<String>,
    /// The sender's ID of the delivery, or the SHA-256 of its body.
    pub delivery_key: Option<String>,
    /// The first delivery with the same key or bytes.
    pub duplicate_of: Option<DeliveryId>,
    pub replay_of: Option<DeliveryId>,
    /// Empty for a delivery that never runs.
    pub session_key: String,
    /// `None` until an agent has started the session.
    pub session_id: Option<String>,
    pub received_at: Timestamp,
    /// Start of the last attempt.
    pub started_at: Option<Timestamp>,
    pub finished_at: Option<Timestamp>,
    /// The earliest start of the next attempt. `None` if the delivery is parked or not queued.
    pub next_attempt_at: Option<Timestamp>,
    pub attempts: i64,
    /// The process that runs the delivery; see [`crate::ClaimRequest::owner`].
    pub lease_owner: Option<String>,
    pub lease_until: Option<Timestamp>,
    pub input_tokens: Option<i64>,
    pub output_tokens: Option<i64>,
    /// The headers that are safe to store, as a JSON object.
    pub headers: String,
    /// In bytes.
    pub body_size: i64,
    /// The beginning of the body.
    pub body_preview: String,
    /// The reason for a failure, refusal or wait.
    pub error: Option<String>,
    /// The agent's actions, as a JSON array.
    pub response_actions: String,
    /// A channel target, or empty for an agent's turn. `None` if the delivery never runs.
    pub target: Option<String>,
    /// When a channel accepted the text.
    pub delivered_at: Option<Timestamp>,
    /// A summary of the event, on one line.
    pub summary: Option<String>,
    /// The beginning of the agent's answer, or of the text that a channel accepted without an agent, as one line.
    pub outcome: Option<String>,
    /// The channel that accepted a text without an agent. The name is the one at the time of the delivery.
    pub channel: Option<String>,
    /// The owner's changes for this replay: `payload`, `target` or `payload,target`.
    pub edited: Option<String>,
}

columns! {
    DeliveryRow:
    id, webhook_id, status, event_type, entity_key, delivery_key, duplicate_of, replay_of,
    session_key, session_id, received_at, started_at, finished_at, next_attempt_at, attempts,
    lease_owner, lease_until, input_tokens, output_tokens, headers, body_size, body_preview,
    error, response_actions, target, delivered_at, summary, outcome, edited, channel
}

/// Selects a delivery, unless its webhook was deleted.
static FIND: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {COLUMNS} FROM webhook_deliveries WHERE id = $1
             AND webhook_id NOT IN (SELECT webhook_id FROM webhook_removals)"
    )
});

impl Conn {
    /// Stores the owner's changes for a replay. Only replays have them, so inserts do not write them.
    pub async fn update_delivery_edited(
        &mut self,
        id: &DeliveryId,
        edited: &str,
    ) -> Result<(), StoreError> {
        let query = query("UPDATE webhook_deliveries SET edited = $2 WHERE id = $1");
        self.run(query.bind(id.as_str()).bind(edited))
            .await
            .map(drop)
    }

    /// Returns a delivery, unless its webhook was deleted.
    pub async fn find_delivery(&mut self, id: &str) -> Result<Option<DeliveryRow>, StoreError> {
        self.find(query(FIND.as_str()).bind(id.to_owned())).await
    }

    /// Like [`Self::find_delivery`]. If the row cannot be read, the result has an error and only a few values.
    pub async fn find_delivery_to_show(
        &mut self,
        id: &str,
    ) -> Result<Option<DeliveryRow>, StoreError> {
        let found = query(FIND.as_str()).bind(id.to_owned());
        let found: Option<Shown> = self.find(found).await?;
        Ok(found.map(|shown| shown.0))
    }

    /// Returns the payload of a delivery. `None` if there is no such delivery, it has no payload, or its
    /// webhook was deleted.
    pub async fn find_delivery_payload(&mut self, id: &str) -> Result<Option<String>, StoreError> {
        let sql = format!(
            "SELECT {PAYLOAD} FROM webhook_deliveries WHERE id = $1 AND payload IS NOT NULL
                 AND webhook_id NOT IN (SELECT webhook_id FROM webhook_removals)"
        );
        self.find(query(sql).bind(id.to_owned())).await
    }

    /// Schedules the deliveries of a webhook for removal. Lookups and lists no longer return them.
    pub async fn insert_webhook_removal(
        &mut self,
        id: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let query = query(
            "INSERT INTO webhook_removals (webhook_id, removed_at) VALUES ($1, $2)
             ON CONFLICT (webhook_id) DO NOTHING",
        );
        self.run(query.bind(id.to_owned()).bind(now.as_millis()))
            .await
            .map(drop)
    }

    /// Lists the webhooks whose deliveries must be removed.
    pub async fn list_webhook_removals(&mut self) -> Result<Vec<String>, StoreError> {
        self.list(query(
            "SELECT webhook_id FROM webhook_removals ORDER BY removed_at, webhook_id",
        ))
        .await
    }

    /// Removes some deliveries of a deleted webhook and returns their number. One call removes at most `limit` rows
    /// and `max_bytes` bytes of bodies, but at least one row. These limits keep the transaction short.
    pub async fn delete_removed_deliveries(
        &mut self,
        id: &str,
        limit: i64,
        max_bytes: i64,
    ) -> Result<u64, StoreError> {
        let query = query(
            "DELETE FROM webhook_deliveries WHERE id IN (
                 SELECT id FROM (
                     SELECT id, ROW_NUMBER() OVER (ORDER BY id) AS place,
                         SUM(body_size) OVER (ORDER BY id) AS bytes
                     FROM (SELECT id, body_size FROM webhook_deliveries
                           WHERE webhook_id = $1 ORDER BY id LIMIT $2) AS first_rows
                 ) AS piece WHERE place = 1 OR bytes <= $3)",
        );
        let query = query.bind(id.to_owned()).bind(limit).bind(max_bytes);
        self.run(query).await
    }

    /// Deletes the removals that were requested before `before` and have no deliveries left. Also deletes the
    /// counters of their webhooks.
    pub async fn delete_finished_removals(&mut self, before: Timestamp) -> Result<u64, StoreError> {
        let counters = query(
            "DELETE FROM delivery_counts WHERE webhook_id IN (
                 SELECT webhook_id FROM webhook_removals
                 WHERE removed_at < $1 AND NOT EXISTS (
                     SELECT 1 FROM webhook_deliveries d
                     WHERE d.webhook_id = webhook_removals.webhook_id))",
        );
        self.run(counters.bind(before.as_millis())).await?;
        let removals = query(
            "DELETE FROM webhook_removals WHERE removed_at < $1 AND NOT EXISTS (
                 SELECT 1 FROM webhook_deliveries d
                 WHERE d.webhook_id = webhook_removals.webhook_id)",
        );
        self.run(removals.bind(before.as_millis())).await
    }
}
