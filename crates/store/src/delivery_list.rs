//! Lists of deliveries. IDs sort by time, so every list and every period is a range of IDs.

mod accepted;
mod listing;

use crate::deliveries::DeliveryRow;
use crate::delivery_walk::{DeliveryPage, PAGE, Walk};
use crate::sql::query;
use crate::status_conditions::is_open;
use crate::{Conn, StoreError};
pub use accepted::DeliveryMoment;
use gatehouse_domain::{DeliveryStatus, Timestamp, WebhookId};
use listing::{Index, Listing};

/// Which deliveries to list.
#[derive(Clone, Debug, Default)]
pub struct DeliveryFilter {
    pub webhook: Option<WebhookId>,
    /// Empty for any status.
    pub statuses: Vec<DeliveryStatus>,
    /// The event type. With `*` at the end, all types that start with the text before the `*`. Case-sensitive.
    pub event: Option<String>,
    /// Text in the event type, entity, summary, outcome, error or preview. Case-insensitive.
    pub text: Option<String>,
    /// Only deliveries that are older than the delivery with this ID.
    pub before: Option<String>,
    /// Start of the period, inclusive.
    pub from: Option<Timestamp>,
    /// End of the period, exclusive.
    pub until: Option<Timestamp>,
    /// Only deliveries that were restored from a backup and that the owner has not released.
    pub to_release: bool,
}

impl DeliveryPage {
    /// Builds a page of at most `limit` rows. `rows` has one more row if there is a next page. Otherwise the next
    /// page begins after `searched_to`.
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

/// The maximum number of rows that are read at once from an index that is not in the order of IDs.
const FEW: usize = 2000;
/// The open deliveries, for [`Conn::has_over`]. The `ORDER BY` makes SQLite use their index.
const OPEN: &str = concat!(
    "webhook_deliveries WHERE ",
    is_open!(),
    " ORDER BY session_key"
);
/// The deliveries of a webhook, for [`Conn::has_over`].
const OF_WEBHOOK: &str = "webhook_deliveries WHERE webhook_id = $1 ORDER BY id";
/// Maximum number of event types that are read to find those that start with a text.
const MOST_TYPES: usize = 1000;
/// The maximum number of event types that one page of a filtered list merges.
const MOST_WALKS: usize = 32;

/// Selects the event types of all deliveries. Reads one index entry for each type.
pub(crate) const TYPES: &str = "WITH RECURSIVE types (name) AS (
        SELECT MIN(event_type) FROM webhook_deliveries WHERE event_type IS NOT NULL
        UNION ALL
        SELECT (SELECT MIN(event_type) FROM webhook_deliveries
                WHERE event_type IS NOT NULL AND event_type > types.name)
        FROM types WHERE types.name IS NOT NULL
    )
    SELECT name FROM types WHERE name IS NOT NULL LIMIT $1";

/// Returns the condition of an event filter on a column. The filter is a type or, with `*` at the end, the start of
/// types. Parameter number `place` must be [`event_value`].
pub(crate) fn event_condition(column: &str, event: &str, place: usize) -> String {
    if event.ends_with('*') {
        // `LIKE` is not used: in SQLite, it ignores the case of ASCII letters.
        format!("substr({column}, 1, length(${place})) = ${place}")
    } else {
        format!("{column} = ${place}")
    }
}

/// Returns the parameter for [`event_condition`].
pub(crate) fn event_value(event: &str) -> String {
    event.strip_suffix('*').unwrap_or(event).to_owned()
}

impl Conn {
    /// Lists deliveries, newest first. A page takes a limited time: it may be shorter than `limit`, or empty, and
    /// still have a next page. If there are at most 2,000 deliveries, only the last page is shorter than `limit`.
    pub async fn list_deliveries(
        &mut self,
        filter: &DeliveryFilter,
        limit: i64,
    ) -> Result<DeliveryPage, StoreError> {
        let walks = self.walks_of(filter).await?;
        self.walk_deliveries(walks, limit.max(1), PAGE).await
    }

    /// Returns walks that together find the deliveries of a filter.
    pub(crate) async fn walks_of(
        &mut self,
        filter: &DeliveryFilter,
    ) -> Result<Vec<Walk>, StoreError> {
        let listing = Listing {
            filter,
            engine: self.engine(),
            has_removals: self.has_over(0, "webhook_removals", None).await?,
        };
        let asked = DeliveryStatus::ALL.iter().copied();
        let asked: Vec<_> = asked.filter(|it| filter.statuses.contains(it)).collect();
        if filter.to_release {
            return Ok(vec![listing.walk(&Index::Parked, &asked)]);
        }
        // There is no index of completed deliveries, because most deliveries are completed.
        if asked.is_empty() || asked.contains(&DeliveryStatus::Completed) {
            return self.walks_of_most(&listing, &asked).await;
        }
        let (open, ended): (Vec<_>, Vec<_>) = asked.into_iter().partition(|it| it.is_open());
        // Walks open deliveries first. A delivery that ends between two statements is then found by the later
        // statement.
        let mut walks = self.walks_of_open(&listing, &open).await?;
        let ended = ended.into_iter().map(Index::Ended);
        walks.extend(ended.map(|index| listing.walk(&index, &[])));
        Ok(walks)
    }

    /// Returns walks for statuses of open deliveries.
    async fn walks_of_open(
        &mut self,
        listing: &Listing<'_>,
        open: &[DeliveryStatus],
    ) -> Result<Vec<Walk>, StoreError> {
        let is_running = |it: &DeliveryStatus| *it == DeliveryStatus::Processing;
        let (running, waiting): (Vec<_>, Vec<_>) = open.iter().copied().partition(is_running);
        if !waiting.is_empty() && !self.has_over(FEW, OPEN, None).await? {
            return Ok(vec![listing.walk(&Index::Open, open)]);
        }
        let mut walks = match waiting.as_slice() {
            [] => Vec::new(),
            waiting => self.walks_of_most(listing, waiting).await?,
        };
        if !running.is_empty() {
            walks.push(listing.walk(&Index::Running, &[]));
        }
        Ok(walks)
    }

    /// Returns walks for statuses that many deliveries may have.
    async fn walks_of_most(
        &mut self,
        listing: &Listing<'_>,
        statuses: &[DeliveryStatus],
    ) -> Result<Vec<Walk>, StoreError> {
        let filter = listing.filter;
        let of_webhook = || vec![listing.walk(&Index::Webhook, statuses)];
        let Some(event) = &filter.event else {
            return Ok(of_webhook());
        };
        if let Some(webhook) = &filter.webhook {
            let webhook = Some(webhook.as_str());
            if !self.has_over(FEW, OF_WEBHOOK, webhook).await? {
                return Ok(of_webhook());
            }
        }
        let types = match event.strip_suffix('*') {
            Some(start) => self.list_types(start).await?,
            None => Some(vec![event.clone()]),
        };
        let Some(types) = types else {
            return Ok(of_webhook());
        };
        let indexes = types.into_iter().map(Index::Event);
        Ok(indexes
            .map(|index| listing.walk(&index, statuses))
            .collect())
    }

    /// Returns whether a query has more than `most` rows. `rows` is the part of the query that follows `FROM`.
    async fn has_over(
        &mut self,
        most: usize,
        rows: &str,
        value: Option<&str>,
    ) -> Result<bool, StoreError> {
        let limit = most.saturating_add(1);
        let sql =
            format!("SELECT COUNT(*) FROM (SELECT 1 AS one FROM {rows} LIMIT {limit}) AS found");
        let count = query(sql);
        let count = match value {
            Some(value) => count.bind(value.to_owned()),
            None => count,
        };
        let count = self.number(count).await?;
        Ok(usize::try_from(count).is_ok_and(|count| count > most))
    }

    /// Lists the event types that start with a text. Returns `None` if there are too many types to read a page of
    /// each.
    async fn list_types(&mut self, start: &str) -> Result<Option<Vec<String>>, StoreError> {
        let most = i64::try_from(MOST_TYPES).unwrap_or(i64::MAX);
        let mut types: Vec<String> = self.list(query(TYPES).bind(most + 1)).await?;
        let are_all = types.len() <= MOST_TYPES;
        types.retain(|event| event.starts_with(start));
        Ok((are_all && types.len() <= MOST_WALKS).then_some(types))
    }
}

#[cfg(test)]
#[path = "delivery_list_tests.rs"]
mod tests;
