//! Lines of the queue: the deliveries of one webhook that wait for one target. A claim takes from given
//! lines, so a webhook with a long line does not block the others.

use crate::delivery_configs::CONFIG;
use crate::sql::{FromRow, Row, query};
use crate::{Conn, StoreError};
use gatehouse_domain::{DeliveryId, Timestamp, WebhookId};

/// A line with at least one delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryLine {
    /// A channel target, or empty for agent turns.
    pub target: String,
    pub webhook_id: WebhookId,
    /// When its first delivery is due, even if an older one of the same session must run first.
    pub due: Timestamp,
}

impl FromRow for DeliveryLine {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            target: row.try_get("target")?,
            webhook_id: WebhookId::from_text(row.try_get::<String, _>("webhook_id")?),
            due: Timestamp::from_millis(row.try_get("due")?),
        })
    }
}

/// An open delivery without a target, stored by an earlier version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UntargetedDelivery {
    pub id: DeliveryId,
    /// The webhook's configuration, as JSON text.
    pub config: Option<String>,
}

impl FromRow for UntargetedDelivery {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            id: DeliveryId::from_text(row.try_get::<String, _>("id")?),
            config: row.try_get("config")?,
        })
    }
}

/// Reads three index entries per line, regardless of the lengths of the lines.
pub(crate) const LINES: &str = "WITH RECURSIVE lines (target, webhook_id) AS (
        SELECT (SELECT target FROM webhook_deliveries
                WHERE status IN ('received', 'queued') AND next_attempt_at IS NOT NULL AND target IS NOT NULL
                    AND (target, webhook_id) > ($1, $2)
                ORDER BY target, webhook_id LIMIT 1),
            (SELECT webhook_id FROM webhook_deliveries
                WHERE status IN ('received', 'queued') AND next_attempt_at IS NOT NULL AND target IS NOT NULL
                    AND (target, webhook_id) > ($1, $2)
                ORDER BY target, webhook_id LIMIT 1)
        UNION ALL
        SELECT (SELECT target FROM webhook_deliveries
                WHERE status IN ('received', 'queued') AND next_attempt_at IS NOT NULL AND target IS NOT NULL
                    AND (target, webhook_id) > (lines.target, lines.webhook_id)
                ORDER BY target, webhook_id LIMIT 1),
            (SELECT webhook_id FROM webhook_deliveries
                WHERE status IN ('received', 'queued') AND next_attempt_at IS NOT NULL AND target IS NOT NULL
                    AND (target, webhook_id) > (lines.target, lines.webhook_id)
                ORDER BY target, webhook_id LIMIT 1)
        FROM lines WHERE lines.target IS NOT NULL
    )
    SELECT target, webhook_id, (SELECT next_attempt_at FROM webhook_deliveries AS waiting
            WHERE status IN ('received', 'queued') AND next_attempt_at IS NOT NULL AND target IS NOT NULL
                AND waiting.target = lines.target AND waiting.webhook_id = lines.webhook_id
            ORDER BY next_attempt_at LIMIT 1) AS due
    FROM lines WHERE target IS NOT NULL LIMIT $3";

impl Conn {
    /// Lists up to `limit` lines after `after`, ordered by target and webhook. Parked deliveries are not
    /// included.
    pub async fn list_delivery_lines(
        &mut self,
        after: Option<&DeliveryLine>,
        limit: i64,
    ) -> Result<Vec<DeliveryLine>, StoreError> {
        let query = query(LINES)
            .bind(after.map_or(String::new(), |line| line.target.clone()))
            .bind(after.map_or(String::new(), |line| line.webhook_id.as_str().to_owned()));
        self.list(query.bind(limit)).await
    }

    /// Lists open deliveries without a target, which an earlier version stored.
    pub async fn list_untargeted_deliveries(
        &mut self,
        limit: i64,
    ) -> Result<Vec<UntargetedDelivery>, StoreError> {
        let sql = format!(
            "SELECT id, {CONFIG} FROM webhook_deliveries
             WHERE status IN ('received', 'queued', 'processing') AND target IS NULL
             ORDER BY id LIMIT $1"
        );
        self.list(query(sql).bind(limit)).await
    }

    /// Sets the target of a delivery.
    pub async fn update_delivery_target(
        &mut self,
        id: &DeliveryId,
        target: &str,
    ) -> Result<(), StoreError> {
        let query = query("UPDATE webhook_deliveries SET target = $2 WHERE id = $1");
        let query = query.bind(id.as_str().to_owned()).bind(target.to_owned());
        self.run(query).await.map(drop)
    }

    /// Counts the open deliveries to a target.
    pub async fn count_deliveries_for(&mut self, target: &str) -> Result<i64, StoreError> {
        let query = query(
            "SELECT COUNT(*) FROM webhook_deliveries
             WHERE status IN ('received', 'queued', 'processing') AND target = $1",
        );
        self.number(query.bind(target.to_owned())).await
    }
}
