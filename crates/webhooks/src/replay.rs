//! Replays: runs deliveries again when the owner requests it.
//!
//! A replay is a new delivery, linked to the old one. It skips verification, deduplication and limits. It
//! runs with the webhook's *current* configuration, so the owner can test a change.

use crate::delivery::EditedPart;
use crate::error::WebhooksError;
use crate::handle::{Inner, Webhooks};
use crate::live::LiveWebhook;
use crate::metrics;
use crate::trace;
use crate::webhook::own_session;
use gatehouse_domain::{DeliveryStatus, Timestamp};
use gatehouse_store::{DeliveryRow, NewDelivery, ReplayFilter, ReplayableDelivery, StoreError};
use schemars::JsonSchema;
use serde::Serialize;
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

/// Whether the payload of a delivery is not the sender's.
pub(crate) fn has_edited_payload(row: &DeliveryRow) -> bool {
    EditedPart::list(row.edited.as_deref()).contains(&EditedPart::Payload)
}

/// Returns a copy of the delivery with a new ID. The unique key stays with the original. An edited payload adds
/// nothing to the conversation about the real event.
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

/// Maximum number of deliveries per call.
pub const MAX_REPLAYED: u32 = 10_000;
/// Maximum number of deliveries per write, and the approximate limit of their payloads in bytes.
const PIECE: u32 = 64;
const PIECE_BYTES: usize = 8 * 1024 * 1024;

/// Which deliveries to replay.
#[derive(Debug, Default)]
pub struct ReplayQuery {
    /// A webhook's ID or public ID.
    pub webhook: Option<String>,
    /// `completed`, `failed`, or `None` for both.
    pub status: Option<DeliveryStatus>,
    /// The event type, as in [`DeliveryQuery::event`](crate::DeliveryQuery).
    pub event: Option<String>,
    /// Start of the period, inclusive.
    pub since: Option<Timestamp>,
    /// End of the period, exclusive.
    pub until: Option<Timestamp>,
    /// Maximum number of deliveries; the oldest are replayed first.
    pub limit: u32,
    /// Count the matching deliveries, but do not replay them.
    pub dry_run: bool,
}

/// The result of a bulk replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Replayed {
    /// Number of matching deliveries.
    pub matched: i64,
    /// Number of replayed deliveries.
    pub replayed: i64,
}

impl Webhooks {
    /// Replays ended deliveries, oldest first. If an error occurs, the replays created before it stay queued.
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
            // An empty write checks the caller's permission, even if no delivery matches.
            let check = inner
                .store
                .write(|_| Box::pin(async { Ok::<_, StoreError>(()) }));
            check.await?;
        }
        // The replays get later IDs, so they are not matched themselves.
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
        let mut rows = Vec::with_capacity(page.len());
        let mut edited = Vec::new();
        for found in page {
            // Skip deliveries whose webhook has been deleted in the meantime.
            if let Some(webhook) = inner.live.find_by_id(&found.row.webhook_id) {
                let is_edited = has_edited_payload(&found.row);
                let one = repeat(inner, &webhook, found.row, found.payload);
                let mut row = one.to_row();
                if is_edited {
                    row.edited = Some(EditedPart::Payload.as_str().to_owned());
                    edited.push(one.id.clone());
                }
                rows.push(row);
                new.push(one);
            }
        }
        inner
            .store
            .write(move |conn| {
                Box::pin(async move {
                    conn.insert_deliveries(&new).await?;
                    for id in &edited {
                        let part = EditedPart::Payload.as_str();
                        conn.update_delivery_edited(id, part).await?;
                    }
                    Ok::<_, StoreError>(())
                })
            })
            .await?;
        let count = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        for row in rows {
            metrics::delivery(&row.webhook_id, row.status, row.event_type.as_deref());
            trace::made(inner, &row);
            inner.publish(&row);
        }
        inner.wake.notify_one();
        Ok(count)
    }
}
