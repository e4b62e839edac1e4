//! Lines of the queue. A line contains the deliveries of one webhook that wait for one target. A claim takes
//! deliveries from given lines, so a webhook with a long line does not delay others.

use crate::delivery_configs::CONFIG;
use crate::sql::{columns, query};
use crate::status_conditions::is_open;
use crate::{Conn, StoreError};
use gatehouse_domain::{DeliveryId, Timestamp, WebhookId};
use std::sync::LazyLock;

/// A line with at least one delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryLine {
    /// A channel target, or empty for agent turns.
    pub target: String,
    pub webhook_id: WebhookId,
    /// When the first delivery of the line is due. An older delivery of the same session may have to run before it.
    pub due: Timestamp,
}

columns! { DeliveryLine: target, webhook_id, due }

/// An open delivery without a target, stored by an earlier version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UntargetedDelivery {
    pub id: DeliveryId,
    /// The webhook's configuration, as JSON text.
    pub config: Option<String>,
}

columns! { UntargetedDelivery: id, config }

/// The exact condition of the partial index over lines. SQLite does not use the index for any other text, because
/// it does not infer that one condition implies another.
const HAS_PLACE: &str =
    "status IN ('received', 'queued') AND next_attempt_at IS NOT NULL AND target IS NOT NULL";

/// Selects a column of the line that follows the line of `target` and `webhook`.
///
/// The columns are compared one by one. With `(target, webhook_id) > (…)`, SQLite reads every index entry that
/// equals the row value, which are all deliveries of the line.
fn next(column: &str, target: &str, webhook: &str) -> String {
    format!(
        "COALESCE(
            (SELECT {column} FROM webhook_deliveries
                WHERE {HAS_PLACE} AND target = {target} AND webhook_id > {webhook}
                ORDER BY webhook_id LIMIT 1),
            (SELECT {column} FROM webhook_deliveries
                WHERE {HAS_PLACE} AND target > {target}
                ORDER BY target, webhook_id LIMIT 1))"
    )
}

/// Selects the lines. Reads a few index entries per line, regardless of the lengths of the lines.
pub(crate) static LINES: LazyLock<String> = LazyLock::new(|| {
    let line = |target, webhook| {
        let (next_target, next_webhook) = (
            next("target", target, webhook),
            next("webhook_id", target, webhook),
        );
        format!("SELECT {next_target}, {next_webhook}")
    };
    format!(
        "WITH RECURSIVE lines (target, webhook_id) AS (
            {first}
            UNION ALL
            {following} FROM lines WHERE lines.target IS NOT NULL
        )
        SELECT target, webhook_id, (SELECT next_attempt_at FROM webhook_deliveries AS waiting
                WHERE {HAS_PLACE}
                    AND waiting.target = lines.target AND waiting.webhook_id = lines.webhook_id
                ORDER BY next_attempt_at LIMIT 1) AS due
        FROM lines WHERE target IS NOT NULL LIMIT $3",
        first = line("$1", "$2"),
        following = line("lines.target", "lines.webhook_id"),
    )
});

impl Conn {
    /// Lists up to `limit` lines after `after`, ordered by target and webhook. Parked deliveries are not
    /// included.
    pub async fn list_delivery_lines(
        &mut self,
        after: Option<&DeliveryLine>,
        limit: i64,
    ) -> Result<Vec<DeliveryLine>, StoreError> {
        let query = query(LINES.as_str())
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
             WHERE {} AND target IS NULL ORDER BY id LIMIT $1",
            is_open!()
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
        let query = query(concat!(
            "SELECT COUNT(*) FROM webhook_deliveries WHERE ",
            is_open!(),
            " AND target = $1",
        ));
        self.number(query.bind(target.to_owned())).await
    }
}
