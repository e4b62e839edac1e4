//! New deliveries and their insertion.

use super::{DeliveryRow, is_stored_apart};
use crate::sql::Value;
use crate::{Conn, DeliveryConfig, StoreError};
use gatehouse_domain::{DeliveryId, DeliveryStatus, Timestamp, WebhookId};
use std::sync::Arc;

/// A delivery to store.
#[derive(Clone, Debug)]
pub struct NewDelivery {
    pub id: DeliveryId,
    pub webhook_id: WebhookId,
    pub status: DeliveryStatus,
    pub event_type: Option<String>,
    pub entity_key: Option<String>,
    /// The sender's ID of the delivery, or the SHA-256 of its body.
    pub delivery_key: Option<String>,
    /// The delivery key, if it must be unique in the webhook. Set for accepted deliveries, except replays and
    /// redeliveries.
    pub unique_key: Option<String>,
    /// SHA-256 of the verified bytes in hex, if they must be unique in the webhook.
    pub bytes_key: Option<String>,
    /// The first delivery with the same key or bytes.
    pub duplicate_of: Option<DeliveryId>,
    pub replay_of: Option<DeliveryId>,
    /// The number of this redelivery of `replay_of` by the sender, from 1; otherwise `None`.
    pub redelivery: Option<i64>,
    /// Empty for a delivery that never runs.
    pub session_key: String,
    pub received_at: Timestamp,
    pub next_attempt_at: Option<Timestamp>,
    /// The headers that are safe to store, as a JSON object.
    pub headers: String,
    /// In bytes.
    pub body_size: i64,
    /// The beginning of the body. May be empty if the preview equals the payload; only the payload is then stored.
    pub body_preview: String,
    /// The whole payload. `None` if the delivery never runs.
    pub payload: Option<String>,
    /// The webhook's configuration at receipt, without secrets. `None` if the delivery never runs.
    pub config: Option<DeliveryConfig>,
    /// A channel target, or empty for an agent's turn. `None` if the delivery never runs.
    pub target: Option<Arc<str>>,
    pub error: Option<String>,
    /// A summary of the event, on one line.
    pub summary: Option<String>,
}

impl NewDelivery {
    /// Returns the row that a read after the insert would return.
    pub fn to_row(&self) -> DeliveryRow {
        DeliveryRow {
            id: self.id.clone(),
            webhook_id: self.webhook_id.clone(),
            status: self.status,
            event_type: self.event_type.clone(),
            entity_key: self.entity_key.clone(),
            delivery_key: self.delivery_key.clone(),
            duplicate_of: self.duplicate_of.clone(),
            replay_of: self.replay_of.clone(),
            session_key: self.session_key.clone(),
            session_id: None,
            received_at: self.received_at,
            started_at: None,
            finished_at: None,
            next_attempt_at: self.next_attempt_at,
            attempts: 0,
            lease_owner: None,
            lease_until: None,
            input_tokens: None,
            output_tokens: None,
            headers: self.headers.clone(),
            body_size: self.body_size,
            body_preview: if self.body_preview.is_empty() {
                self.inline_payload().unwrap_or_default().to_owned()
            } else {
                self.body_preview.clone()
            },
            error: self.error.clone(),
            response_actions: "[]".to_owned(),
            target: self.target.as_deref().map(str::to_owned),
            delivered_at: None,
            summary: self.summary.clone(),
            outcome: None,
            channel: None,
            edited: None,
        }
    }

    /// Returns the payload for the column `payload`; empty if the payload is stored in `delivery_payloads`.
    fn inline_payload(&self) -> Option<&str> {
        let payload = self.payload.as_deref();
        payload.map(|text| if is_stored_apart(text) { "" } else { text })
    }

    /// Returns the values for [`INSERT`], in its order.
    fn values(&self) -> Vec<Value<'_>> {
        let inline = self.inline_payload();
        let preview = Some(self.body_preview.as_str()).filter(|preview| inline != Some(preview));
        vec![
            self.id.as_str().into(),
            self.webhook_id.as_str().into(),
            self.status.as_str().into(),
            (&self.event_type).into(),
            (&self.entity_key).into(),
            (&self.delivery_key).into(),
            (&self.unique_key).into(),
            (&self.bytes_key).into(),
            self.duplicate_of.as_ref().map(DeliveryId::as_str).into(),
            self.replay_of.as_ref().map(DeliveryId::as_str).into(),
            self.redelivery.into(),
            self.session_key.as_str().into(),
            self.received_at.as_millis().into(),
            self.next_attempt_at.map(Timestamp::as_millis).into(),
            self.headers.as_str().into(),
            self.body_size.into(),
            preview.unwrap_or_default().into(),
            inline.into(),
            self.config.as_ref().map(DeliveryConfig::key).into(),
            (&self.error).into(),
            self.target.as_deref().into(),
            (&self.summary).into(),
        ]
    }
}

const INSERT: &str = "INSERT INTO webhook_deliveries (id, webhook_id, status, event_type, entity_key,
         delivery_key, unique_key, bytes_key, duplicate_of, replay_of, redelivery, session_key, received_at,
         next_attempt_at, headers, body_size, body_preview, payload, config_key, error, target, summary)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20,
         $21, $22)
     ON CONFLICT DO NOTHING";

const INSERT_PAYLOAD: &str = "INSERT INTO delivery_payloads (delivery_id, payload) VALUES ($1, $2)";

impl Conn {
    /// Stores deliveries and returns for each whether it was stored. A delivery is skipped if its webhook has
    /// an accepted delivery with the same key or bytes, including one from the same call.
    pub async fn insert_deliveries(
        &mut self,
        new: &[NewDelivery],
    ) -> Result<Vec<bool>, StoreError> {
        self.insert_delivery_configs(new)?;
        let rows: Vec<Vec<Value<'_>>> = new.iter().map(NewDelivery::values).collect();
        let touched = self.run_each(INSERT, &rows).await?;
        let stored: Vec<bool> = touched.into_iter().map(|rows| rows > 0).collect();
        for (row, _) in new.iter().zip(&stored).filter(|(_, is_stored)| **is_stored) {
            self.note_ended(row.webhook_id.as_str(), row.received_at, row.status, None);
        }
        let apart: Vec<Vec<Value<'_>>> = new
            .iter()
            .zip(&stored)
            .filter(|(_, is_stored)| **is_stored)
            .filter_map(|(row, _)| {
                let payload = row
                    .payload
                    .as_deref()
                    .filter(|text| is_stored_apart(text))?;
                Some(vec![row.id.as_str().into(), payload.into()])
            })
            .collect();
        if !apart.is_empty() {
            self.run_each_later(INSERT_PAYLOAD, &apart)?;
        }
        Ok(stored)
    }
}
