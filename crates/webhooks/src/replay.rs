//! Replays: runs deliveries again when the owner requests it.
//!
//! A replay is a new delivery that is linked to the original. It skips verification, deduplication and limits. It
//! runs with the webhook's *current* configuration, so the owner can test a change.

mod many;

use crate::delivery::EditedPart;
use crate::error::WebhooksError;
use crate::handle::Inner;
use crate::live::LiveWebhook;
use crate::webhook::own_session;
use gatehouse_domain::DeliveryStatus;
use gatehouse_store::{DeliveryRow, NewDelivery, StoreError};
pub use many::{MAX_REPLAYED, ReplayQuery, Replayed};
use std::sync::Arc;

/// A delivery to replay.
pub(crate) struct Original {
    pub(crate) row: DeliveryRow,
    pub(crate) payload: String,
    pub(crate) webhook: Arc<LiveWebhook>,
}

impl Inner {
    /// Reads a delivery to replay.
    pub(crate) async fn original(&self, id: &str) -> Result<Original, WebhooksError> {
        let wanted = id.to_owned();
        let found = self.store.read(move |conn| {
            Box::pin(async move {
                let row = conn.find_delivery(&wanted).await?;
                Ok::<_, StoreError>((row, conn.find_delivery_payload(&wanted).await?))
            })
        });
        let (row, payload) = found.await?;
        let row = row.ok_or(WebhooksError::NotFound("delivery"))?;
        let payload = payload.ok_or(WebhooksError::NotFound("payload"))?;
        let webhook = self
            .live
            .find_by_id(&row.webhook_id)
            .ok_or(WebhooksError::NotFound("webhook"))?;
        Ok(Original {
            row,
            payload,
            webhook,
        })
    }
}

/// Returns whether the payload of a delivery was edited.
pub(crate) fn has_edited_payload(row: &DeliveryRow) -> bool {
    EditedPart::list(row.edited.as_deref()).contains(&EditedPart::Payload)
}

/// Returns a copy of the delivery with a new ID. The unique key stays with the original. The copy of an edited
/// delivery has its own session, so it adds nothing to the conversation about the real event.
pub(crate) fn repeat(
    inner: &Inner,
    webhook: &LiveWebhook,
    row: DeliveryRow,
    payload: String,
) -> NewDelivery {
    let (id, now) = (inner.new_delivery_id(), inner.now());
    let entity = row.entity_key.as_deref();
    let session_key = if has_edited_payload(&row) {
        own_session(&webhook.public_id, &id)
    } else {
        webhook.config.session_of(&webhook.public_id, &id, entity)
    };
    NewDelivery {
        session_key,
        id,
        webhook_id: row.webhook_id,
        status: DeliveryStatus::Queued,
        event_type: row.event_type,
        entity_key: row.entity_key,
        delivery_key: row.delivery_key,
        unique_key: None,
        bytes_key: None,
        duplicate_of: None,
        replay_of: Some(row.id),
        redelivery: None,
        received_at: now,
        next_attempt_at: Some(now),
        headers: row.headers,
        body_size: row.body_size,
        body_preview: row.body_preview,
        payload: Some(payload),
        config: Some(webhook.snapshot.clone()),
        target: Some(Arc::clone(&webhook.target)),
        error: None,
        summary: row.summary,
    }
}
