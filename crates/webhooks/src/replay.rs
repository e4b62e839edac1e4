//! Running deliveries once more, because their owner asks for it.
//!
//! A replay is a delivery of its own, linked to the first one. It skips verification, deduplication and
//! limits, and it runs with the webhook's configuration of *now*: who replays has changed something and
//! wants to see whether it helps.

use crate::delivery::Delivery;
use crate::error::WebhooksError;
use crate::handle::{Inner, Webhooks};
use crate::live::LiveWebhook;
use crate::metrics;
use gatehouse_domain::{DeliveryStatus, Timestamp};
use gatehouse_store::{DeliveryRow, NewDelivery, ReplayFilter, ReplayableDelivery, StoreError};
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;

impl Webhooks {
    /// Queues a delivery again; the new one. That of a disabled webhook waits until the webhook is enabled.
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

        let new = repeat(inner, &webhook, row, payload);
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
fn repeat(inner: &Inner, webhook: &LiveWebhook, row: DeliveryRow, payload: String) -> NewDelivery {
    let (id, now) = (inner.new_delivery_id(), inner.now());
    let entity = row.entity_key.as_deref();
    NewDelivery {
        session_key: webhook.config.session_of(&webhook.public_id, &id, entity),
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
        config: Some(Arc::clone(&webhook.snapshot)),
        target: Some(Arc::clone(&webhook.target)),
        error: None,
    }
}

/// How many deliveries one call replays at most.
pub const MAX_REPLAYED: u32 = 10_000;
/// How many one write stores at most, and not many more bytes of payloads than this.
const PIECE: u32 = 64;
const PIECE_BYTES: usize = 8 * 1024 * 1024;

/// Which deliveries to queue again.
#[derive(Debug, Default)]
pub struct ReplayQuery {
    /// Only of this webhook, by either of its ids.
    pub webhook: Option<String>,
    /// `completed` or `failed`; both when absent.
    pub status: Option<DeliveryStatus>,
    /// Only of this event type.
    pub event: Option<String>,
    /// Only those that came at this moment or later.
    pub since: Option<Timestamp>,
    /// Only those that came before this moment.
    pub until: Option<Timestamp>,
    /// How many at most, the oldest first.
    pub limit: u32,
    /// Only count.
    pub dry_run: bool,
}

/// What a replay of many did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Replayed {
    /// How many deliveries match.
    pub matched: i64,
    /// How many were queued again.
    pub replayed: i64,
}

impl Webhooks {
    /// Queues deliveries that ended again, the oldest first, each as a new one. What fails midway leaves those
    /// before it queued.
    pub async fn replay_many(&self, query: ReplayQuery) -> Result<Replayed, WebhooksError> {
        let inner = &self.0;
        if !(1..=MAX_REPLAYED).contains(&query.limit) {
            let reason = format!("from 1 to {MAX_REPLAYED}");
            return Err(WebhooksError::invalid("limit", reason));
        }
        let can_replay = [DeliveryStatus::Completed, DeliveryStatus::Failed];
        if query
            .status
            .is_some_and(|status| !can_replay.contains(&status))
        {
            return Err(WebhooksError::invalid("status", "completed or failed"));
        }
        let webhook = match query.webhook.as_deref() {
            Some(name) => Some(inner.id_of(name).await?),
            None => None,
        };
        let filter = Arc::new(ReplayFilter {
            webhook,
            status: query.status,
            event: query.event,
            since: query.since,
            until: query.until,
        });
        if !query.dry_run {
            // Refused here, when the caller may not write, also where nothing matches.
            let check = inner
                .store
                .write(|_| Box::pin(async { Ok::<_, StoreError>(()) }));
            check.await?;
        }
        // What is replayed here gets later ids and is not matched.
        let before = inner.new_delivery_id();
        let (counted, end) = (Arc::clone(&filter), before.clone());
        let count = inner.store.read(move |conn| {
            Box::pin(async move {
                conn.count_replayable_deliveries(&counted, end.as_str())
                    .await
            })
        });
        let mut done = Replayed {
            matched: count.await?,
            replayed: 0,
        };
        let mut left = if query.dry_run { 0 } else { query.limit };
        let mut after = String::new();
        while left > 0 {
            let size = left.min(PIECE);
            let (filter, begin, end) = (Arc::clone(&filter), after.clone(), before.clone());
            let page = inner.store.read(move |conn| {
                Box::pin(async move {
                    let (begin, end) = (begin.as_str(), end.as_str());
                    conn.list_replayable_deliveries(&filter, begin, end, size, PIECE_BYTES)
                        .await
                })
            });
            let page = page.await?;
            let Some(last) = page.last() else {
                break;
            };
            after = last.row.id.as_str().to_owned();
            let count = self.replay_page(page).await?;
            left = left.saturating_sub(count.max(1));
            done.replayed += i64::from(count);
        }
        Ok(done)
    }

    async fn replay_page(&self, page: Vec<ReplayableDelivery>) -> Result<u32, WebhooksError> {
        let inner = &self.0;
        let mut new = Vec::with_capacity(page.len());
        for found in page {
            // One whose webhook was deleted meanwhile is left out.
            if let Some(webhook) = inner.live.find_by_id(&found.row.webhook_id) {
                new.push(repeat(inner, &webhook, found.row, found.payload));
            }
        }
        let rows: Vec<DeliveryRow> = new.iter().map(NewDelivery::to_row).collect();
        inner
            .store
            .write(move |conn| {
                Box::pin(async move { conn.insert_deliveries(&new).await.map(drop) })
            })
            .await?;
        let count = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        for row in rows {
            if let Some(webhook) = inner.live.find_by_id(&row.webhook_id) {
                metrics::delivery(&webhook.public_id, row.status, row.event_type.as_deref());
            }
            inner.publish(row);
        }
        inner.wake.notify_one();
        Ok(count)
    }
}
