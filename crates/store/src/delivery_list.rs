//! Lists and counts of deliveries. Ids sort by time, so every list and every period is a range of ids.

use crate::deliveries::{COLUMNS, DeliveryRow};
use crate::sql::{FromRow, Query, Row, query};
use crate::{Conn, StoreError};
use gatehouse_domain::{DeliveryStatus, Timestamp, WebhookId};

/// How many rows a search looks through at most; the next page goes on where it stopped.
const SEARCHED: i64 = 20_000;
/// Milliseconds in an hour.
const HOUR_MS: i64 = 3_600_000;

/// Which deliveries to list, the newest first.
#[derive(Clone, Debug, Default)]
pub struct DeliveryFilter {
    /// Only of this webhook.
    pub webhook: Option<WebhookId>,
    /// Only with this status.
    pub status: Option<DeliveryStatus>,
    /// Only of this event type.
    pub event: Option<String>,
    /// Only where the event type, the entity, the error or the preview contains this text, in any
    /// case of ASCII letters.
    pub text: Option<String>,
    /// Only before this id.
    pub before: Option<String>,
    /// Only those that came at this moment or later.
    pub from: Option<Timestamp>,
    /// Only those that came before this moment.
    pub until: Option<Timestamp>,
}

/// A page of deliveries.
#[derive(Clone, Debug)]
pub struct DeliveryPage {
    /// The deliveries.
    pub rows: Vec<DeliveryRow>,
    /// Where the next page begins, when there may be one.
    pub next: Option<String>,
}

/// How many deliveries of one status came in one hour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryCount {
    /// When the hour began.
    pub hour: Timestamp,
    /// The status that they have now.
    pub status: DeliveryStatus,
    /// How many.
    pub count: i64,
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
        })
    }
}

/// When a delivery came, and to which webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryMoment {
    /// To which webhook.
    pub webhook_id: WebhookId,
    /// When.
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

/// The smallest id that a delivery of this moment can have: the text of a `UUIDv7` begins with its
/// 48 bits of milliseconds (RFC 9562, section 5.7).
fn first_id_at(moment: Timestamp) -> String {
    let millis = u64::try_from(moment.as_millis()).unwrap_or(0) & 0xffff_ffff_ffff;
    format!("del_{millis:012x}")
}

/// A text that sorts after the ids of every delivery that came before `until`. Ids may be up to an hour ahead
/// of the time at which a delivery came, after the clock was set back.
fn last_id_at(until: Timestamp) -> String {
    first_id_at(Timestamp::from_millis(
        until.as_millis().saturating_add(HOUR_MS),
    ))
}

/// What the partial indexes over deliveries that were not worked on say, as in the migration.
const NOT_DONE: &str = "status IN ('rejected', 'filtered', 'deduplicated', 'failed')";

/// The conditions that an index or a quick look decides. Each value is bound, in this order: before,
/// webhook, event, from (as an id and in milliseconds), until (likewise).
fn conditions(filter: &DeliveryFilter) -> String {
    let mut all = vec![
        "id < $1".to_owned(),
        "webhook_id NOT IN (SELECT webhook_id FROM webhook_removals)".to_owned(),
    ];
    let mut place = 1;
    for (column, is_asked) in [
        ("webhook_id", filter.webhook.is_some()),
        ("event_type", filter.event.is_some()),
    ] {
        if is_asked {
            place += 1;
            all.push(format!("{column} = ${place}"));
        }
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
    if let Some(status) = filter.status {
        all.push(format!("status = '{status}'"));
        // Word for word what the partial indexes say: SQLite draws no conclusions.
        if NOT_DONE.contains(&format!("'{status}'")) {
            all.push(NOT_DONE.to_owned());
        }
    }
    all.join(" AND ")
}

/// A statement with these texts bound.
fn bound<'q>(sql: String, values: &[String]) -> Query<'q> {
    let query = query(sql);
    values
        .iter()
        .fold(query, |query, value| query.bind(value.clone()))
}

/// The text as a `LIKE` pattern that finds it anywhere.
fn pattern(text: &str) -> String {
    let mut pattern = String::from("%");
    for character in text.chars() {
        if matches!(character, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern.push('%');
    pattern
}

/// Whether a column contains the text, in any case of ASCII letters (`$L`, in lower case) or as it is
/// (`$T`): SQLite's `LOWER` knows no other letters.
fn contains(column: &str) -> String {
    let column = format!("COALESCE({column}, '')");
    format!("(LOWER({column}) LIKE $L ESCAPE '\\' OR {column} LIKE $T ESCAPE '\\')")
}

fn matches(lower: usize, text: usize) -> String {
    let columns = ["event_type", "entity_key", "error", "body_preview"].map(contains);
    let any = columns.join(" OR ");
    any.replace("$L", &format!("${lower}"))
        .replace("$T", &format!("${text}"))
}

impl Conn {
    /// A page of deliveries, the newest first.
    pub async fn list_deliveries(
        &mut self,
        filter: &DeliveryFilter,
        limit: i64,
    ) -> Result<DeliveryPage, StoreError> {
        let limit = limit.max(1);
        // After every id, in whichever language the database sorts.
        let before = filter.before.clone().unwrap_or_else(|| "dem".to_owned());
        let mut values = vec![before];
        values.extend(filter.webhook.as_ref().map(|id| id.as_str().to_owned()));
        values.extend(filter.event.clone());
        if let Some(from) = filter.from {
            values.extend([first_id_at(from), from.as_millis().to_string()]);
        }
        if let Some(until) = filter.until {
            values.extend([last_id_at(until), until.as_millis().to_string()]);
        }
        let from = format!(
            "FROM webhook_deliveries WHERE {} ORDER BY id DESC LIMIT",
            conditions(filter)
        );
        let rows = limit.saturating_add(1);
        let (sql, searched_to) = if let Some(text) = &filter.text {
            let recent = format!("{from} {SEARCHED}");
            let searched_to = self.find_end_of_search(&recent, &values).await?;
            values.extend([pattern(&text.to_lowercase()), pattern(text)]);
            let matches = matches(values.len() - 1, values.len());
            let sql = format!(
                "SELECT * FROM (SELECT {COLUMNS} {recent}) AS recent WHERE {matches}
                 ORDER BY id DESC LIMIT {rows}"
            );
            (sql, searched_to)
        } else {
            (format!("SELECT {COLUMNS} {from} {rows}"), None)
        };
        let mut rows: Vec<DeliveryRow> = self.list(bound(sql, &values)).await?;
        let shown = usize::try_from(limit).unwrap_or(usize::MAX);
        let next = if rows.len() > shown {
            rows.truncate(shown);
            rows.last().map(|row| row.id.as_str().to_owned())
        } else {
            searched_to
        };
        Ok(DeliveryPage { rows, next })
    }

    /// Where a search has to go on that did not get to the oldest delivery.
    async fn find_end_of_search(
        &mut self,
        recent: &str,
        values: &[String],
    ) -> Result<Option<String>, StoreError> {
        let count = format!("SELECT CAST(COUNT(*) AS BIGINT) FROM (SELECT id {recent}) AS recent");
        if self.number(bound(count, values)).await? < SEARCHED {
            return Ok(None);
        }
        let last = format!("SELECT id FROM (SELECT id {recent}) AS recent ORDER BY id LIMIT 1");
        self.find::<String>(bound(last, values)).await
    }

    /// How many deliveries came in each hour from `since` and before `until`, by the status that they
    /// have now.
    pub async fn list_delivery_counts(
        &mut self,
        webhook: Option<&WebhookId>,
        since: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<DeliveryCount>, StoreError> {
        let only = if webhook.is_some() {
            "AND webhook_id = $5"
        } else {
            ""
        };
        let sql = format!(
            "SELECT received_at / {HOUR_MS} AS hour, status, CAST(COUNT(*) AS BIGINT) AS count
             FROM webhook_deliveries
             WHERE id >= $1 AND received_at >= $2 AND id < $3 AND received_at < $4 {only}
                 AND webhook_id NOT IN (SELECT webhook_id FROM webhook_removals)
             GROUP BY received_at / {HOUR_MS}, status
             ORDER BY received_at / {HOUR_MS}, status"
        );
        let mut query = query(sql)
            .bind(first_id_at(since))
            .bind(since.as_millis())
            .bind(last_id_at(until))
            .bind(until.as_millis());
        if let Some(webhook) = webhook {
            query = query.bind(webhook.as_str().to_owned());
        }
        self.list(query).await
    }

    /// The deliveries that were accepted since a moment, the oldest first: what the rate limits of a
    /// process that starts have to know. Replays are not counted by them.
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
        assert_eq!(pattern("50%_\\A"), "%50\\%\\_\\\\A%");
    }

    /// SQLite takes an index of some rows only where the query repeats its condition.
    #[tokio::test]
    async fn what_was_not_worked_on_is_listed_by_an_index() {
        struct Step(String);
        impl FromRow for Step {
            fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
                Ok(Self(row.try_get(3)?))
            }
        }
        let database = crate::testing::sqlite();
        let store = database.open().await;
        for (webhook, index) in [
            (None, "webhook_deliveries_by_status"),
            (Some("hook_a"), "webhook_deliveries_refused"),
        ] {
            for status in [DeliveryStatus::Failed, DeliveryStatus::Rejected] {
                let filter = DeliveryFilter {
                    webhook: webhook.map(WebhookId::from_text),
                    status: Some(status),
                    ..DeliveryFilter::default()
                };
                let sql = format!(
                    "EXPLAIN QUERY PLAN SELECT id FROM webhook_deliveries WHERE {} ORDER BY id DESC",
                    conditions(&filter)
                        .replace("$1", "'z'")
                        .replace("$2", "'a'"),
                );
                let steps: Vec<Step> = store
                    .read(|conn| Box::pin(async move { conn.list(query(sql)).await }))
                    .await
                    .unwrap();
                let plan: String = steps.into_iter().map(|step| step.0 + "\n").collect();
                assert!(plan.contains(index), "{plan}");
                assert!(!plan.contains("TEMP B-TREE"), "{plan}");
            }
        }
        store.close().await;
    }
}
