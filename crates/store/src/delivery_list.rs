//! Lists of deliveries. IDs sort by time, so every list and every period is a range of IDs.

use crate::deliveries::{COLUMNS, DeliveryRow};
use crate::delivery_counts::{first_id_at, last_id_at};
use crate::delivery_search::PAGE;
use crate::sql::{FromRow, Query, Row, query};
use crate::status_conditions::{is_not_done, is_open};
use crate::{Conn, StoreError};
use gatehouse_domain::{DeliveryStatus, Timestamp, WebhookId};

/// Which deliveries to list.
#[derive(Clone, Debug, Default)]
pub struct DeliveryFilter {
    pub webhook: Option<WebhookId>,
    /// Any status if empty.
    pub statuses: Vec<DeliveryStatus>,
    /// The event type; with `*` at the end, all types that start with the text before it.
    pub event: Option<String>,
    /// Text in the event type, entity, error or preview. Letters match in either case.
    pub text: Option<String>,
    /// An ID; only older deliveries are listed.
    pub before: Option<String>,
    /// Start of the period, inclusive.
    pub from: Option<Timestamp>,
    /// End of the period, exclusive.
    pub until: Option<Timestamp>,
}

/// A page of deliveries, newest first.
#[derive(Clone, Debug)]
pub struct DeliveryPage {
    pub rows: Vec<DeliveryRow>,
    /// The value of [`DeliveryFilter::before`] for the next page, if there may be one.
    pub next: Option<String>,
}

impl DeliveryPage {
    /// Builds a page of at most `limit` rows from up to one more row. If there is no such row, the next page begins
    /// after `searched_to`.
    pub(crate) fn of(mut rows: Vec<DeliveryRow>, limit: i64, searched_to: Option<String>) -> Self {
        let shown = usize::try_from(limit).unwrap_or(usize::MAX);
        let next = if rows.len() > shown {
            rows.truncate(shown);
            rows.last().map(|row| row.id.as_str().to_owned())
        } else {
            searched_to
        };
        Self { rows, next }
    }
}

/// The webhook and the time of a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryMoment {
    pub webhook_id: WebhookId,
    pub received_at: Timestamp,
}

impl FromRow for DeliveryMoment {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            webhook_id: WebhookId::from_text(row.try_get::<String, _>(0)?),
            received_at: Timestamp::from_millis(row.try_get(1)?),
        })
    }
}

/// Returns all conditions except the text search. Their values are bound in this order: before, webhook,
/// event, from (as ID, then in milliseconds), until (likewise).
fn conditions(filter: &DeliveryFilter) -> String {
    let mut all = vec![
        "id < $1".to_owned(),
        "webhook_id NOT IN (SELECT webhook_id FROM webhook_removals)".to_owned(),
    ];
    let mut place = 1;
    // Few of a webhook's deliveries may have this type or status. `|| ''` then keeps SQLite from using the index by
    // webhook.
    let event = filter.event.as_deref();
    let is_type = event.is_some_and(|event| !event.ends_with('*'));
    let is_open =
        !filter.statuses.is_empty() && filter.statuses.iter().all(|status| status.is_open());
    if filter.webhook.is_some() {
        place += 1;
        let webhook = if is_type || is_open {
            "webhook_id || ''"
        } else {
            "webhook_id"
        };
        all.push(format!("{webhook} = ${place}"));
    }
    if event.is_some() {
        place += 1;
        all.push(if is_type {
            format!("event_type = ${place}")
        } else {
            format!("event_type LIKE ${place} ESCAPE '\\'")
        });
    }
    for (operator, is_asked) in [(">=", filter.from.is_some()), ("<", filter.until.is_some())] {
        if is_asked {
            let (id, at) = (place + 1, place + 2);
            place = at;
            all.push(format!("id {operator} ${id}"));
            all.push(format!(
                "received_at {operator} CAST(CAST(${at} AS TEXT) AS BIGINT)"
            ));
        }
    }
    if let Some(status) = status_condition(&filter.statuses) {
        // SQLite uses a partial index only if the query repeats its condition literally.
        let is_not_done = |status: &DeliveryStatus| is_not_done!().contains(&format!("'{status}'"));
        if filter.statuses.iter().all(is_not_done) {
            all.push(is_not_done!().to_owned());
        } else if is_open {
            // Open deliveries are few and may lie far behind the newest ones.
            all.push(format!(
                "id IN (SELECT id FROM webhook_deliveries WHERE {} AND {status})",
                is_open!()
            ));
        }
        all.push(status);
    }
    all.join(" AND ")
}

/// Returns the condition that a delivery has one of the statuses; `None` if any will do.
fn status_condition(statuses: &[DeliveryStatus]) -> Option<String> {
    match statuses {
        [] => None,
        [one] => Some(format!("status = '{one}'")),
        several => {
            let names: Vec<String> = several.iter().map(|one| format!("'{one}'")).collect();
            Some(format!("status IN ({})", names.join(", ")))
        }
    }
}

/// All conditions of a filter except the text search, with their values. The first value is the ID before which
/// deliveries are listed.
pub(crate) struct Rest {
    pub(crate) conditions: String,
    pub(crate) values: Vec<String>,
}

impl Rest {
    pub(crate) fn of(filter: &DeliveryFilter) -> Self {
        // Sorts after every ID in any collation.
        let before = filter.before.clone().unwrap_or_else(|| "dem".to_owned());
        let mut values = vec![before];
        values.extend(filter.webhook.as_ref().map(|id| id.as_str().to_owned()));
        let event = filter.event.as_deref();
        values.extend(event.map(|event| match event.strip_suffix('*') {
            Some(start) => format!("{}%", literal(start)),
            None => event.to_owned(),
        }));
        if let Some(from) = filter.from {
            values.extend([first_id_at(from), from.as_millis().to_string()]);
        }
        if let Some(until) = filter.until {
            values.extend([last_id_at(until), until.as_millis().to_string()]);
        }
        Self {
            conditions: conditions(filter),
            values,
        }
    }
}

/// Builds a statement with bound texts.
pub(crate) fn bound<'q>(sql: String, values: &[String]) -> Query<'q> {
    let query = query(sql);
    values
        .iter()
        .fold(query, |query, value| query.bind(value.clone()))
}

/// Escapes the characters that are special in a `LIKE` pattern.
fn literal(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '%' | '_' | '\\') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

impl Conn {
    /// Lists deliveries, newest first.
    pub async fn list_deliveries(
        &mut self,
        filter: &DeliveryFilter,
        limit: i64,
    ) -> Result<DeliveryPage, StoreError> {
        let limit = limit.max(1);
        let rest = Rest::of(filter);
        if let Some(text) = &filter.text {
            return self.search_deliveries(rest, text, limit, PAGE).await;
        }
        let sql = format!(
            "SELECT {COLUMNS} FROM webhook_deliveries WHERE {} ORDER BY id DESC LIMIT {}",
            rest.conditions,
            limit.saturating_add(1)
        );
        let rows = self.list(bound(sql, &rest.values)).await?;
        Ok(DeliveryPage::of(rows, limit, None))
    }

    /// Lists the deliveries accepted since `since`, oldest first, to restore the rate limits when a process
    /// starts. Replays are excluded because they are not limited.
    pub async fn list_accepted_since(
        &mut self,
        since: Timestamp,
        limit: i64,
    ) -> Result<Vec<DeliveryMoment>, StoreError> {
        let query = query(
            "SELECT webhook_id, received_at FROM webhook_deliveries
             WHERE id >= $1 AND received_at >= $2
                 AND (replay_of IS NULL OR redelivery IS NOT NULL)
                 AND status NOT IN ('rejected', 'filtered', 'deduplicated')
             ORDER BY id LIMIT $3",
        );
        self.list(
            query
                .bind(first_id_at(since))
                .bind(since.as_millis())
                .bind(limit),
        )
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_domain::{DeliveryId, ManualClock, SeededRandom};

    #[test]
    fn ids_of_a_moment_are_not_before_its_first() {
        let now = Timestamp::from_millis(1_795_000_000_123);
        let random = SeededRandom::new(1);
        for _ in 0..50 {
            let id = DeliveryId::generate(&ManualClock::at(now), &random);
            assert!(id.as_str() >= first_id_at(now).as_str());
            assert!(
                id.as_str() < first_id_at(Timestamp::from_millis(now.as_millis() + 1)).as_str()
            );
        }
    }

    #[test]
    fn a_pattern_means_its_text() {
        assert_eq!(literal("50%_\\A"), "50\\%\\_\\\\A");
    }

    /// SQLite uses a partial index only if the query repeats its condition.
    #[tokio::test]
    async fn what_was_not_worked_on_is_listed_by_an_index() {
        let database = crate::testing::sqlite();
        let store = database.open().await;
        let (failed, queued) = (Some(DeliveryStatus::Failed), Some(DeliveryStatus::Queued));
        let (rejected, push) = (Some(DeliveryStatus::Rejected), Some("push".to_owned()));
        for (webhook, status, event, index) in [
            (None, failed, None, "webhook_deliveries_by_status"),
            (None, rejected, None, "webhook_deliveries_by_status"),
            (Some("hook_a"), failed, None, "webhook_deliveries_refused"),
            (Some("hook_a"), rejected, None, "webhook_deliveries_refused"),
            (None, queued, None, "webhook_deliveries_open"),
            (Some("hook_a"), queued, None, "webhook_deliveries_open"),
            (None, None, push.clone(), "webhook_deliveries_by_event"),
            (Some("hook_a"), None, push, "webhook_deliveries_by_event"),
        ] {
            let filter = DeliveryFilter {
                webhook: webhook.map(WebhookId::from_text),
                statuses: status.into_iter().collect(),
                event,
                ..DeliveryFilter::default()
            };
            let sql = format!(
                "SELECT id FROM webhook_deliveries WHERE {} ORDER BY id DESC",
                conditions(&filter)
                    .replace("$1", "'z'")
                    .replace("$2", "'a'")
                    .replace("$3", "'b'"),
            );
            let plan = crate::plan::plan_of(&store, &sql).await;
            assert!(plan.contains(index), "{plan}");
            let sorts = plan.contains("TEMP B-TREE");
            assert!(
                !sorts || filter.statuses.contains(&DeliveryStatus::Queued),
                "{plan}"
            );
        }
        store.close().await;
    }
}
