//! Numbers of deliveries by hour and status, and the days on which webhooks received deliveries.

use super::{HOUR_MS, first_id_at, last_id_at};
use crate::delivery_durations::Durations;
use crate::sql::{FromRow, Row, columns, query};
use crate::status_conditions::is_open;
use crate::{Conn, StoreError, delivery_durations};
use gatehouse_domain::{DeliveryStatus, Timestamp, WebhookId};

/// The number of deliveries that were received in one hour and have the same status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryCount {
    /// Start of the hour.
    pub hour: Timestamp,
    /// The current status.
    pub status: DeliveryStatus,
    pub count: i64,
    /// The durations of the started deliveries.
    pub durations: Durations,
}

impl FromRow for DeliveryCount {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        let status: String = row.try_get(1)?;
        Ok(Self {
            hour: Timestamp::from_millis(row.try_get::<i64, _>(0)?.saturating_mul(HOUR_MS)),
            status: status.parse().map_err(|_| StoreError::Damaged {
                what: "delivery status",
            })?,
            count: row.try_get(2)?,
            durations: Durations::from_row(row, 3)?,
        })
    }
}

/// The number of open deliveries of a webhook that were received in one hour and have the same status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenCount {
    pub webhook_id: WebhookId,
    pub count: DeliveryCount,
}

impl FromRow for OpenCount {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            webhook_id: WebhookId::from_text(row.try_get::<String, _>("webhook_id")?),
            count: DeliveryCount::from_row(row)?,
        })
    }
}

impl OpenCount {
    /// Returns whether the whole hour is in the period, and the webhook is the given one if there is one.
    pub fn is_within(
        &self,
        webhook: Option<&WebhookId>,
        since: Timestamp,
        until: Timestamp,
    ) -> bool {
        let end = self.count.hour.as_millis().saturating_add(HOUR_MS);
        self.count.hour >= since
            && end <= until.as_millis()
            && webhook.is_none_or(|webhook| *webhook == self.webhook_id)
    }
}

/// A day on which a webhook received a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookDay {
    pub webhook_id: WebhookId,
    /// Days since 1970-01-01 UTC.
    pub day: i64,
}

columns! { WebhookDay: webhook_id, day }

/// The counters of whole hours.
const COUNTERS: &str =
    "SELECT hour, status, CAST(SUM(count) AS BIGINT), {sums} FROM delivery_counts
     WHERE hour >= $1 AND hour < $2 {only} AND {kept} GROUP BY hour, status";

/// The rows of open deliveries, which are read by their index.
pub(super) const OPEN: &str = concat!(
    "SELECT received_at / 3600000, status, CAST(COUNT(*) AS BIGINT), {none}, webhook_id
     FROM webhook_deliveries WHERE ",
    is_open!(),
    " AND {kept}
     GROUP BY received_at / 3600000, status, webhook_id"
);

/// The rows of a part of an hour.
const ROWS: &str = "SELECT received_at / 3600000, status, CAST(COUNT(*) AS BIGINT), {took}
     FROM webhook_deliveries
     WHERE received_at >= $1 AND received_at < $2 {only} AND {kept} AND id >= $3 AND id < $4
     GROUP BY received_at / 3600000, status";

/// Inserts the durations into the statement, and the condition on the webhook. The webhook's ID is parameter number
/// `place`.
pub(super) fn of_webhook(sql: &str, webhook: Option<&WebhookId>, place: usize) -> String {
    let only = |column| webhook.map_or_else(String::new, |_| format!("AND {column} = ${place}"));
    let kept = "webhook_id NOT IN (SELECT webhook_id FROM webhook_removals)";
    let each = |result: fn(&str) -> String| {
        let columns = delivery_durations::columns();
        let results: Vec<_> = columns.iter().map(|column| result(column)).collect();
        results.join(", ")
    };
    sql.replace(
        "{sums}",
        &each(|column| format!("CAST(SUM({column}) AS BIGINT)")),
    )
    .replace("{none}", &each(|_| "CAST(0 AS BIGINT)".to_owned()))
    .replace("{took}", &delivery_durations::of_rows())
    .replace("{only}", &only("webhook_id"))
    .replace("{kept}", kept)
}

impl Conn {
    /// Counts deliveries by hour of receipt, from `since` inclusive to `until` exclusive, and current status. Does
    /// not count open deliveries of whole hours: see [`Self::list_open_delivery_counts`].
    pub async fn list_delivery_counts(
        &mut self,
        webhook: Option<&WebhookId>,
        since: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<DeliveryCount>, StoreError> {
        let (since, until) = (since.as_millis(), until.as_millis());
        let first = since.div_euclid(HOUR_MS) + i64::from(since.rem_euclid(HOUR_MS) != 0);
        let end = until.div_euclid(HOUR_MS);
        if first >= end {
            return self.count_rows(webhook, since, until).await;
        }
        let (first_ms, end_ms) = (first.saturating_mul(HOUR_MS), end.saturating_mul(HOUR_MS));
        let mut counts = self.count_rows(webhook, since, first_ms).await?;
        let mut counters = query(of_webhook(COUNTERS, webhook, 3))
            .bind(first)
            .bind(end);
        if let Some(webhook) = webhook {
            counters = counters.bind(webhook.as_str());
        }
        counts.extend(self.list::<DeliveryCount>(counters).await?);
        counts.extend(self.count_rows(webhook, end_ms, until).await?);
        Ok(counts)
    }

    /// Counts the open deliveries by hour of receipt, status and webhook. Reads all of their rows.
    pub async fn list_open_delivery_counts(&mut self) -> Result<Vec<OpenCount>, StoreError> {
        self.list(query(of_webhook(OPEN, None, 1))).await
    }

    async fn count_rows(
        &mut self,
        webhook: Option<&WebhookId>,
        since: i64,
        until: i64,
    ) -> Result<Vec<DeliveryCount>, StoreError> {
        if since >= until {
            return Ok(Vec::new());
        }
        let mut query = query(of_webhook(ROWS, webhook, 5))
            .bind(since)
            .bind(until)
            .bind(first_id_at(Timestamp::from_millis(since)))
            .bind(last_id_at(Timestamp::from_millis(until)));
        if let Some(webhook) = webhook {
            query = query.bind(webhook.as_str());
        }
        self.list(query).await
    }

    /// Lists the days on which a webhook received deliveries that were not rejected. Days are counted from
    /// 1970-01-01 UTC, from `first` inclusive to `end` exclusive.
    pub async fn list_webhook_days(
        &mut self,
        webhook: &WebhookId,
        first: i64,
        end: i64,
    ) -> Result<Vec<WebhookDay>, StoreError> {
        let query = query(
            "SELECT DISTINCT webhook_id, hour / 24 AS day FROM delivery_counts
             WHERE hour >= $1 AND hour < $2 AND webhook_id = $3 AND status <> 'rejected'",
        );
        let hours = |days: i64| days.saturating_mul(24);
        let query = query.bind(hours(first)).bind(hours(end));
        self.list(query.bind(webhook.as_str())).await
    }
}
