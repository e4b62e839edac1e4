//! Finds ended deliveries to replay.

use crate::deliveries::{COLUMNS, DeliveryRow, PAYLOAD};
use crate::delivery_list::{event_condition, event_value};
use crate::sql::{FromRow, Query, Row, query};
use crate::status_conditions::is_not_done;
use crate::{Conn, StoreError};
use gatehouse_domain::{DeliveryStatus, Timestamp, WebhookId};

/// Which deliveries to replay.
#[derive(Clone, Debug, Default)]
pub struct ReplayFilter {
    pub webhook: Option<WebhookId>,
    /// `completed`, `failed`, or `None` for both. Other values match nothing.
    pub status: Option<DeliveryStatus>,
    /// The event type. With `*` at the end, all types that start with the text before the `*`. Case-sensitive.
    pub event: Option<String>,
    /// Start of the period, inclusive.
    pub since: Option<Timestamp>,
    /// End of the period, exclusive.
    pub until: Option<Timestamp>,
}

/// A delivery with its payload.
#[derive(Clone, Debug)]
pub struct ReplayableDelivery {
    pub row: DeliveryRow,
    pub payload: String,
}

impl FromRow for ReplayableDelivery {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            row: DeliveryRow::from_row(row)?,
            payload: row.try_get("payload")?,
        })
    }
}

impl ReplayFilter {
    /// Returns the conditions of the query. [`Self::bind`] binds their values; `$1` and `$2` are the exclusive
    /// limits of the ID.
    fn conditions(&self) -> String {
        let mut sql = String::from(
            "id > $1 AND id < $2 AND payload IS NOT NULL
             AND webhook_id NOT IN (SELECT webhook_id FROM webhook_removals)",
        );
        sql += match self.status {
            Some(DeliveryStatus::Failed) => concat!(" AND status = 'failed' AND ", is_not_done!()),
            Some(DeliveryStatus::Completed) => " AND status = 'completed'",
            None => " AND status IN ('completed', 'failed')",
            Some(_) => " AND 1 = 0",
        };
        let mut place = 2;
        let mut add = |condition: &dyn Fn(usize) -> String| {
            place += 1;
            sql += " AND ";
            sql += &condition(place);
        };
        if self.webhook.is_some() {
            add(&|place| format!("webhook_id = ${place}"));
        }
        if let Some(event) = &self.event {
            add(&|place| event_condition("event_type", event, place));
        }
        if self.since.is_some() {
            add(&|place| format!("received_at >= ${place}"));
        }
        if self.until.is_some() {
            add(&|place| format!("received_at < ${place}"));
        }
        sql
    }

    fn bind<'q>(&self, sql: String, after: &str, before: &str) -> Query<'q> {
        let mut query = query(sql).bind(after.to_owned()).bind(before.to_owned());
        if let Some(webhook) = &self.webhook {
            query = query.bind(webhook.as_str().to_owned());
        }
        if let Some(event) = &self.event {
            query = query.bind(event_value(event));
        }
        for moment in [self.since, self.until].into_iter().flatten() {
            query = query.bind(moment.as_millis());
        }
        query
    }
}

impl Conn {
    /// Counts the matching deliveries with an ID below `before`.
    pub async fn count_replayable_deliveries(
        &mut self,
        filter: &ReplayFilter,
        before: &str,
    ) -> Result<i64, StoreError> {
        let conditions = filter.conditions();
        let sql = format!("SELECT COUNT(*) FROM webhook_deliveries WHERE {conditions}");
        self.number(filter.bind(sql, "", before)).await
    }

    /// Lists up to `limit` matching deliveries with an ID above `after` and below `before`, oldest first.
    /// Stops when their payloads reach about `max_bytes`.
    pub async fn list_replayable_deliveries(
        &mut self,
        filter: &ReplayFilter,
        after: &str,
        before: &str,
        limit: u32,
        max_bytes: usize,
    ) -> Result<Vec<ReplayableDelivery>, StoreError> {
        let conditions = filter.conditions();
        let sql = format!(
            "SELECT {COLUMNS}, {PAYLOAD} FROM webhook_deliveries WHERE {conditions}
             ORDER BY id LIMIT {limit}"
        );
        let query = filter.bind(sql, after, before);
        self.list_within(query, max_bytes, |found: &ReplayableDelivery| {
            found.payload.len()
        })
        .await
    }
}
