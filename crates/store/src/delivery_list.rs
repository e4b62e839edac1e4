//! Lists of deliveries. IDs sort by time, so every list and every period is a range of IDs.

use crate::deliveries::{COLUMNS, DeliveryRow};
use crate::delivery_counts::{first_id_at, last_id_at};
use crate::delivery_waits::waits_for_release;
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
    /// The event type; with `*` at the end, all types that start with the text before it. Case matters.
    pub event: Option<String>,
    /// Text in the event type, entity, summary, outcome, error or preview. Letters match in either case.
    pub text: Option<String>,
    /// An ID; only older deliveries are listed.
    pub before: Option<String>,
    /// Start of the period, inclusive.
    pub from: Option<Timestamp>,
    /// End of the period, exclusive.
    pub until: Option<Timestamp>,
    /// Only deliveries that were restored from a backup and wait for the owner.
    pub to_release: bool,
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
    if let Some(event) = event {
        place += 1;
        all.push(event_condition(event, place));
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
    if filter.to_release {
        // They are few and may lie far behind the newest ones.
        all.push(format!(
            "id IN (SELECT id FROM webhook_deliveries WHERE {})",
            waits_for_release()
        ));
    }
    all.join(" AND ")
}

/// Returns the condition of an event filter: a type or, with `*` at the end, the start of types. Its value, at `place`, is
/// [`event_value`].
pub(crate) fn event_condition(event: &str, place: usize) -> String {
    if event.ends_with('*') {
        // `LIKE` of SQLite ignores the case of ASCII letters.
        format!("substr(event_type, 1, length(${place})) = ${place}")
    } else {
        format!("event_type = ${place}")
    }
}

/// Returns the value of [`event_condition`].
pub(crate) fn event_value(event: &str) -> String {
    event.strip_suffix('*').unwrap_or(event).to_owned()
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
        values.extend(filter.event.as_deref().map(event_value));
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

    /// The query for up to `limit` deliveries and one more, newest first.
    fn page(&self, limit: i64) -> Query<'static> {
        let sql = format!(
            "SELECT {COLUMNS} FROM webhook_deliveries WHERE {} ORDER BY id DESC LIMIT {}",
            self.conditions,
            limit.saturating_add(1)
        );
        bound(sql, &self.values)
    }
}

/// The most event types that are read to find those that start with a text.
const MOST_TYPES: usize = 1000;
/// The maximum number of event types that one page of a filtered list merges.
const MOST_PAGES: usize = 32;

/// Selects the event types of all deliveries. Reads one entry of the index for each.
pub(crate) const TYPES: &str = "WITH RECURSIVE types (name) AS (
        SELECT MIN(event_type) FROM webhook_deliveries WHERE event_type IS NOT NULL
        UNION ALL
        SELECT (SELECT MIN(event_type) FROM webhook_deliveries
                WHERE event_type IS NOT NULL AND event_type > types.name)
        FROM types WHERE types.name IS NOT NULL
    )
    SELECT name FROM types WHERE name IS NOT NULL LIMIT $1";

/// Builds a statement with bound texts.
pub(crate) fn bound<'q>(sql: String, values: &[String]) -> Query<'q> {
    let query = query(sql);
    values
        .iter()
        .fold(query, |query, value| query.bind(value.clone()))
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
            return self.search_deliveries(rest, text, limit).await;
        }
        // The deliveries of one webhook or of one status have other indexes.
        if filter.webhook.is_none()
            && filter.statuses.is_empty()
            && !filter.to_release
            && let Some(start) = filter.event.as_deref().and_then(|it| it.strip_suffix('*'))
            && let Some(types) = self.list_types(start).await?
        {
            return self.list_deliveries_of(filter, types, limit).await;
        }
        let rows = self.list(rest.page(limit)).await?;
        Ok(DeliveryPage::of(rows, limit, None))
    }

    /// Lists deliveries of some event types, newest first. Reads a page of each type, because few of the newest
    /// deliveries may have one of them.
    async fn list_deliveries_of(
        &mut self,
        filter: &DeliveryFilter,
        types: Vec<String>,
        limit: i64,
    ) -> Result<DeliveryPage, StoreError> {
        let mut queries = types.into_iter().map(|event| {
            let of_type = DeliveryFilter {
                event: Some(event),
                ..filter.clone()
            };
            Rest::of(&of_type).page(limit)
        });
        let Some(first) = queries.next() else {
            return Ok(DeliveryPage::of(Vec::new(), limit, None));
        };
        let others: Vec<_> = queries.collect();
        let (mut rows, of_others) = self
            .lists::<DeliveryRow, DeliveryRow>(&first, &others)
            .await?;
        rows.extend(of_others.into_iter().flatten());
        rows.sort_by(|one, other| other.id.cmp(&one.id));
        Ok(DeliveryPage::of(rows, limit, None))
    }

    /// Lists the event types that start with a text. `None` if there are too many to read a page of each, or if a type
    /// ends with `*`, which is not a type in a filter.
    async fn list_types(&mut self, start: &str) -> Result<Option<Vec<String>>, StoreError> {
        let most = i64::try_from(MOST_TYPES).unwrap_or(i64::MAX);
        let mut types: Vec<String> = self.list(query(TYPES).bind(most + 1)).await?;
        let are_all = types.len() <= MOST_TYPES;
        types.retain(|event| event.starts_with(start));
        let are_usable =
            types.len() <= MOST_PAGES && !types.iter().any(|event| event.ends_with('*'));
        Ok((are_all && are_usable).then_some(types))
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

    /// Without statistics of the table, as in a new installation.
    #[tokio::test]
    async fn the_event_types_are_read_from_their_index() {
        let database = crate::testing::sqlite();
        let store = database.open().await;
        let plan = crate::plan::plan_of(&store, &TYPES.replace("$1", "10")).await;
        let reads: Vec<_> = plan
            .lines()
            .filter(|line| line.contains("webhook_deliveries"))
            .collect();
        assert_eq!(reads.len(), 2, "{plan}");
        for read in reads {
            assert!(read.starts_with("SEARCH"), "{plan}");
            assert!(read.contains("webhook_deliveries_by_event"), "{plan}");
        }
        store.close().await;
    }
}
