//! Running a delivery once more, because its owner asks for it.
//!
//! A replay is a delivery of its own, linked to the first one. It skips verification, deduplication and
//! limits, and it runs with the webhook's configuration of *now*: who replays has changed something and
//! wants to see whether it helps.

use crate::delivery::Delivery;
use crate::error::WebhooksError;
use crate::handle::Webhooks;
use crate::metrics;
use gatehouse_domain::{DeliveryId, DeliveryStatus};
use gatehouse_store::{DeliveryRow, NewDelivery, StoreError};
use std::sync::Arc;

impl Webhooks {
    /// Queues a delivery again; the new one. A disabled webhook replays too: that it takes no new
    /// deliveries from outside says nothing about those it has.
    pub async fn replay(&self, id: &str) -> Result<Delivery, WebhooksError> {
        let inner = &self.0;
        let wanted = id.to_owned();
        let found = inner.store.read(move |conn| {
            Box::pin(async move {
                let row = conn.find_delivery(&wanted).await?;
                Ok::<_, StoreError>((row, conn.find_delivery_payload(&wanted).await?))
            })
        });
        let (row, payload) = found.await?;
        let row = row.ok_or(WebhooksError::NotFound("delivery"))?;
        let payload = payload.ok_or(WebhooksError::NotFound("payload"))?;
        let webhook = inner
            .live
            .find_by_id(&row.webhook_id)
            .ok_or(WebhooksError::NotFound("webhook"))?;

        let again = inner.new_delivery_id();
        let session_key =
            webhook
                .config
                .session_of(&webhook.public_id, &again, row.entity_key.as_deref());
        let new = repeat(
            row,
            again,
            session_key,
            payload,
            Arc::clone(&webhook.snapshot),
        );
        let new = NewDelivery {
            received_at: inner.now(),
            next_attempt_at: Some(inner.now()),
            ..new
        };
        let stored = new.to_row();
        inner
            .store
            .write(move |conn| {
                Box::pin(async move {
                    // It may have been deleted meanwhile.
                    if conn.find_webhook(new.webhook_id.as_str()).await?.is_none() {
                        return Err(WebhooksError::NotFound("webhook"));
                    }
                    conn.insert_deliveries(std::slice::from_ref(&new)).await?;
                    Ok(())
                })
            })
            .await?;
        metrics::delivery(
            &webhook.public_id,
            DeliveryStatus::Queued,
            stored.event_type.as_deref(),
        );
        inner.publish(stored.clone());
        inner.wake.notify_one();
        Ok(Delivery::from(stored))
    }
}

/// The same delivery under a new id. It does not hold its key: that stays with the first one.
fn repeat(
    row: DeliveryRow,
    id: DeliveryId,
    session_key: String,
    payload: String,
    config: Arc<str>,
) -> NewDelivery {
    NewDelivery {
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
        session_key,
        received_at: row.received_at,
        next_attempt_at: None,
        headers: row.headers,
        body_size: row.body_size,
        body_preview: row.body_preview,
        payload: Some(payload),
        config: Some(config),
        error: None,
    }
}
