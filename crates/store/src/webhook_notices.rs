//! Table `webhook_notices`: notices about a webhook that were sent to the owner, and the number of events since
//! then.

use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::{DeliveryId, Timestamp, WebhookId};

/// A row of `webhook_notices`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookNoticeRow {
    pub webhook_id: WebhookId,
    /// `failed` or `refused`.
    pub kind: String,
    /// Number of failures since the last message, or of consecutive refusals.
    pub count: i64,
    /// The last delivery that failed or was refused.
    pub delivery_id: DeliveryId,
    pub told_at: Option<Timestamp>,
}

columns! { WebhookNoticeRow: webhook_id, kind, count, delivery_id, told_at }

impl Conn {
    pub async fn find_webhook_notice(
        &mut self,
        webhook: &WebhookId,
        kind: &str,
    ) -> Result<Option<WebhookNoticeRow>, StoreError> {
        let query = query("SELECT * FROM webhook_notices WHERE webhook_id = $1 AND kind = $2");
        self.find(query.bind(webhook.as_str()).bind(kind)).await
    }

    /// Lists the rows of a kind whose last message was sent at or before `told_at`.
    pub async fn list_webhook_notices(
        &mut self,
        kind: &str,
        told_at: Timestamp,
    ) -> Result<Vec<WebhookNoticeRow>, StoreError> {
        let query = query(
            "SELECT * FROM webhook_notices WHERE kind = $1 AND told_at <= $2 ORDER BY told_at, webhook_id",
        );
        self.list(query.bind(kind).bind(told_at.as_millis())).await
    }

    /// Creates or replaces a row.
    pub async fn update_webhook_notice(
        &mut self,
        row: &WebhookNoticeRow,
    ) -> Result<(), StoreError> {
        let query = query(
            "INSERT INTO webhook_notices (webhook_id, kind, count, delivery_id, told_at)
             VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (webhook_id, kind) DO UPDATE SET count = excluded.count,
                 delivery_id = excluded.delivery_id, told_at = excluded.told_at",
        );
        self.run(
            query
                .bind(row.webhook_id.as_str())
                .bind(&row.kind)
                .bind(row.count)
                .bind(row.delivery_id.as_str())
                .bind(row.told_at.map(Timestamp::as_millis)),
        )
        .await
        .map(drop)
    }

    pub async fn delete_webhook_notice(
        &mut self,
        webhook: &WebhookId,
        kind: &str,
    ) -> Result<(), StoreError> {
        let query = query("DELETE FROM webhook_notices WHERE webhook_id = $1 AND kind = $2");
        self.run(query.bind(webhook.as_str()).bind(kind))
            .await
            .map(drop)
    }

    /// Deletes the rows of webhooks that no longer exist.
    pub async fn delete_stale_webhook_notices(&mut self) -> Result<u64, StoreError> {
        let query =
            query("DELETE FROM webhook_notices WHERE webhook_id NOT IN (SELECT id FROM webhooks)");
        self.run(query).await
    }

    /// Returns whether a webhook accepted a request after this delivery. Does not count replays.
    pub async fn has_accepted_since(
        &mut self,
        webhook: &WebhookId,
        delivery: &DeliveryId,
    ) -> Result<bool, StoreError> {
        let query = query(
            "SELECT COUNT(*) FROM (
                 SELECT 1 FROM webhook_deliveries
                 WHERE webhook_id = $1 AND id > $2 AND replay_of IS NULL
                     AND status NOT IN ('rejected', 'filtered', 'deduplicated')
                 LIMIT 1) AS accepted",
        );
        let query = query.bind(webhook.as_str()).bind(delivery.as_str());
        Ok(self.number(query).await? > 0)
    }
}
