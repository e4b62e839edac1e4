//! Lists of deliveries. IDs sort by time, so every list and every period is a range of IDs.

use crate::deliveries::DeliveryRow;
use crate::delivery_counts::{first_id_at, last_id_at};
use crate::delivery_search::contains;
use crate::delivery_waits::{HAS_NO_PLACE, WAITS_FOR_OWNER};
use crate::delivery_walk::{DeliveryPage, PAGE, Walk};
use crate::dialect::Engine;
use crate::sql::{FromRow, Row, query};
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

/// The maximum number of rows that are read at once, outside an index in the order of IDs.
const FEW: usize = 2000;
/// The open deliveries, for [`Conn::has_over`]. The order requires their index.
const OPEN: &str = concat!(
    "webhook_deliveries WHERE ",
    is_open!(),
    " ORDER BY session_key"
);
/// The deliveries of a webhook, likewise.
const OF_WEBHOOK: &str = "webhook_deliveries WHERE webhook_id = $1 ORDER BY id";
/// Maximum number of event types that are read to find those that start with a text.
const MOST_TYPES: usize = 1000;
/// The maximum number of event types that one page of a filtered list merges.
const MOST_WALKS: usize = 32;

/// Selects the event types of all deliveries. Reads one entry of the index for each.
pub(crate) const TYPES: &str = "WITH RECURSIVE types (name) AS (
        SELECT MIN(event_type) FROM webhook_deliveries WHERE event_type IS NOT NULL
        UNION ALL
        SELECT (SELECT MIN(event_type) FROM webhook_deliveries
                WHERE event_type IS NOT NULL AND event_type > types.name)
        FROM types WHERE types.name IS NOT NULL
    )
    SELECT name FROM types WHERE name IS NOT NULL LIMIT $1";

/// Returns the condition of an event filter on a column: a type or, with `*` at the end, the start of types. Its value,
/// at `place`, is [`event_value`].
pub(crate) fn event_condition(column: &str, event: &str, place: usize) -> String {
    if event.ends_with('*') {
        // `LIKE` of SQLite ignores the case of ASCII letters.
        format!("substr({column}, 1, length(${place})) = ${place}")
    } else {
        format!("{column} = ${place}")
    }
}

/// Returns the value of [`event_condition`].
pub(crate) fn event_value(event: &str) -> String {
    event.strip_suffix('*').unwrap_or(event).to_owned()
}

/// The index that a walk reads.
#[derive(Debug)]
enum Index {
    /// Parked deliveries.
    Parked,
    /// Deliveries that ended with one status without being completed, of the filter's webhook if it has one.
    Ended(DeliveryStatus),
    /// Deliveries that run: about as many as the workers have slots.
    Running,
    /// Open deliveries, if they are few.
    Open,
    Event(String),
    /// The deliveries of the filter's webhook, or all.
    Webhook,
}

/// A filter as conditions.
struct Listing<'f> {
    filter: &'f DeliveryFilter,
    engine: Engine,
    /// Whether deliveries of deleted webhooks are stored.
    has_removals: bool,
}

impl Listing<'_> {
    /// Returns the walk over the deliveries of an index that match the filter and have one of the statuses; any if
    /// empty.
    fn walk(&self, index: &Index, statuses: &[DeliveryStatus]) -> Walk {
        let filter = self.filter;
        let mut walk = self.walk_of(index);
        let webhook = filter.webhook.as_ref().map(WebhookId::as_str);
        if let (Some(webhook), Index::Parked | Index::Running | Index::Open | Index::Event(_)) =
            (webhook, index)
        {
            let place = walk.value(webhook);
            walk.check(format!("webhook_id || '' = ${place}"));
        }
        if let Some(event) = &filter.event
            && !matches!(index, Index::Event(_))
        {
            let place = walk.value(event_value(event));
            walk.check(event_condition("event_type || ''", event, place));
        }
        if !statuses.is_empty() && !matches!(index, Index::Ended(_) | Index::Running) {
            let names: Vec<String> = statuses.iter().map(|one| format!("'{one}'")).collect();
            walk.check(format!("status || '' IN ({})", names.join(", ")));
        }
        for (operator, at) in [(">=", filter.from), ("<", filter.until)] {
            if let Some(at) = at {
                let place = walk.value(at.as_millis().to_string());
                let at = format!("CAST(CAST(${place} AS TEXT) AS BIGINT)");
                walk.check(format!("received_at {operator} {at}"));
            }
        }
        if self.has_removals {
            walk.check("webhook_id || '' NOT IN (SELECT webhook_id FROM webhook_removals)");
        }
        if let Some(text) = &filter.text {
            contains(&mut walk, self.engine, text);
        }
        walk
    }

    /// Returns the walk over all deliveries of an index in the period of the filter.
    fn walk_of(&self, index: &Index) -> Walk {
        let filter = self.filter;
        // Sorts after every ID in any collation.
        let before = filter.before.clone().unwrap_or_else(|| "dem".to_owned());
        let before = match filter.until {
            Some(until) => before.min(last_id_at(until)),
            None => before,
        };
        let from = filter.from.map(first_id_at).unwrap_or_default();
        let mut walk = Walk::new(before, from);
        // SQLite uses a partial index only if the query repeats its condition literally.
        match index {
            Index::Parked => {
                walk.with_index(HAS_NO_PLACE);
                walk.check(WAITS_FOR_OWNER.as_str());
            }
            Index::Ended(status) => {
                walk.with_index(is_not_done!());
                walk.with_index(format!("status = '{status}'"));
            }
            Index::Running => {
                walk = walk.at_once();
                // A delivery that runs has a lease. SQLite then prefers the index of the leases.
                walk.with_index("lease_until IS NOT NULL AND status = 'processing'");
            }
            Index::Open => {
                walk = walk.at_once();
                walk.with_index(is_open!());
            }
            Index::Event(event) => {
                let place = walk.value(event);
                walk.with_index(format!("event_type = ${place}"));
            }
            Index::Webhook => {}
        }
        if let (Some(webhook), Index::Ended(_) | Index::Webhook) = (&filter.webhook, index) {
            let place = walk.value(webhook.as_str());
            walk.with_index(format!("webhook_id = ${place}"));
        }
        walk
    }
}

impl Conn {
    /// Lists deliveries, newest first. A page takes a limited time: it may be shorter than `limit`, or empty, and have a
    /// next page. With at most 2,000 deliveries, it is shorter only at the end of the list.
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
        // Most deliveries are completed.
        if asked.is_empty() || asked.contains(&DeliveryStatus::Completed) {
            return self.walks_of_most(&listing, &asked).await;
        }
        let (open, ended): (Vec<_>, Vec<_>) = asked.into_iter().partition(|it| it.is_open());
        // The open ones first: a delivery that ends between two statements is then found by the later one.
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

    /// Whether there are more than `most` of the rows that follow `FROM`.
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

    /// Lists the event types that start with a text. `None` if there are too many to read a page of each.
    async fn list_types(&mut self, start: &str) -> Result<Option<Vec<String>>, StoreError> {
        let most = i64::try_from(MOST_TYPES).unwrap_or(i64::MAX);
        let mut types: Vec<String> = self.list(query(TYPES).bind(most + 1)).await?;
        let are_all = types.len() <= MOST_TYPES;
        types.retain(|event| event.starts_with(start));
        Ok((are_all && types.len() <= MOST_WALKS).then_some(types))
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
#[path = "delivery_list_tests.rs"]
mod tests;
