//! The replay of many deliveries.

use super::{has_edited_payload, repeat};
use crate::delivery::EditedPart;
use crate::error::WebhooksError;
use crate::handle::Webhooks;
use crate::{metrics, trace};
use gatehouse_domain::{DeliveryStatus, Timestamp};
use gatehouse_store::{ReplayFilter, ReplayableDelivery, StoreError};
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;

/// Maximum number of deliveries per call.
pub const MAX_REPLAYED: u32 = 10_000;

/// Maximum number of deliveries per write. `PIECE_BYTES` is an approximate limit for their payloads.
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
            // An empty write checks the caller's permission even if no delivery matches.
            let check = inner
                .store
                .write(|_| Box::pin(async { Ok::<_, StoreError>(()) }));
            check.await?;
        }
        // The replays get later IDs, so they do not match the query.
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
            // Skips deliveries whose webhook has been deleted in the meantime.
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
