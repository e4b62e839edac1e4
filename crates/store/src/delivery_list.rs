//! Lists and counts of deliveries. Ids sort by time, so every list and every period is a range of ids.

use crate::conn::FromRow;
use crate::deliveries::{COLUMNS, DeliveryRow};
use crate::{Conn, StoreError};
use gatehouse_domain::{DeliveryStatus, Timestamp, WebhookId};
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

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
    fn from_row(row: &AnyRow) -> Result<Self, StoreError> {
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
    fn from_row(row: &AnyRow) -> Result<Self, StoreError> {
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

struct Id(String);

impl FromRow for Id {
    fn from_row(row: &AnyRow) -> Result<Self, StoreError> {
        Ok(Self(row.try_get("id")?))
    }
}

/// The conditions that an index or a quick look decides. Each value is bound, in this order: before,
/// webhook, event.
fn conditions(filter: &DeliveryFilter) -> String {
    let mut sql =
        String::from("id < $1 AND webhook_id NOT IN (SELECT webhook_id FROM webhook_removals)");
    let mut place = 1;
    if filter.webhook.is_some() {
        place += 1;
        sql.push_str(&format!(" AND webhook_id = ${place}"));
    }
    if filter.event.is_some() {
        place += 1;
        sql.push_str(&format!(" AND event_type = ${place}"));
    }
    if let Some(status) = filter.status {
        // Written out, so that the partial indexes are used.
        sql.push_str(&format!(" AND status = '{}'", status.as_str()));
    }
    sql
}

/// The text as a `LIKE` pattern that finds it anywhere.
fn pattern(text: &str) -> String {
    let mut pattern = String::from("%");
    for character in text.to_lowercase().chars() {
        if matches!(character, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern.push('%');
    pattern
}

const MATCHES: &str = "(LOWER(COALESCE(event_type, '')) LIKE $P ESCAPE '\\' \
    OR LOWER(COALESCE(entity_key, '')) LIKE $P ESCAPE '\\' \
    OR LOWER(COALESCE(error, '')) LIKE $P ESCAPE '\\' \
    OR LOWER(body_preview) LIKE $P ESCAPE '\\')";

impl Conn {
    /// A page of deliveries, the newest first.
    pub async fn list_deliveries(
        &mut self,
        filter: &DeliveryFilter,
        limit: i64,
    ) -> Result<DeliveryPage, StoreError> {
        let conditions = conditions(filter);
        let limit = limit.max(1);
        // After every id, in whichever language the database sorts.
        let before = filter.before.clone().unwrap_or_else(|| "dem".to_owned());
        let mut values = vec![before];
        values.extend(filter.webhook.as_ref().map(|id| id.as_str().to_owned()));
        values.extend(filter.event.clone());
        let mut searched_to = None;
        let sql = if let Some(text) = &filter.text {
            let recent = format!(
                "FROM webhook_deliveries WHERE {conditions} ORDER BY id DESC LIMIT {SEARCHED}"
            );
            let last = format!(
                "SELECT id FROM (SELECT id {recent}) AS recent ORDER BY id LIMIT 1 OFFSET 0"
            );
            let count =
                format!("SELECT CAST(COUNT(*) AS BIGINT) FROM (SELECT id {recent}) AS recent");
            let mut query = sqlx::query(AssertSqlSafe(count));
            for value in &values {
                query = query.bind(value.clone());
            }
            if self.number(query).await? == SEARCHED {
                let mut query = sqlx::query(AssertSqlSafe(last));
                for value in &values {
                    query = query.bind(value.clone());
                }
                searched_to = self.find::<Id>(query).await?.map(|id| id.0);
            }
            values.push(pattern(text));
            let matches = MATCHES.replace("$P", &format!("${}", values.len()));
            format!(
                "SELECT * FROM (SELECT {COLUMNS} {recent}) AS recent WHERE {matches}
                 ORDER BY id DESC LIMIT {}",
                limit + 1
            )
        } else {
            format!(
                "SELECT {COLUMNS} FROM webhook_deliveries WHERE {conditions}
                 ORDER BY id DESC LIMIT {}",
                limit + 1
            )
        };
        let mut query = sqlx::query(AssertSqlSafe(sql));
        for value in values {
            query = query.bind(value);
        }
        let mut rows: Vec<DeliveryRow> = self.list(query).await?;
        let shown = usize::try_from(limit).unwrap_or(usize::MAX);
        let next = if rows.len() > shown {
            rows.truncate(shown);
            rows.last().map(|row| row.id.as_str().to_owned())
        } else {
            searched_to
        };
        Ok(DeliveryPage { rows, next })
    }

    /// How many deliveries came in each hour since a moment, by the status that they have now.
    pub async fn list_delivery_counts(
        &mut self,
        webhook: Option<&WebhookId>,
        since: Timestamp,
    ) -> Result<Vec<DeliveryCount>, StoreError> {
        let only = if webhook.is_some() {
            "AND webhook_id = $3"
        } else {
            ""
        };
        let sql = format!(
            "SELECT received_at / {HOUR_MS} AS hour, status, CAST(COUNT(*) AS BIGINT) AS count
             FROM webhook_deliveries
             WHERE id >= $1 AND received_at >= $2 {only}
                 AND webhook_id NOT IN (SELECT webhook_id FROM webhook_removals)
             GROUP BY received_at / {HOUR_MS}, status
             ORDER BY received_at / {HOUR_MS}, status"
        );
        let mut query = sqlx::query(AssertSqlSafe(sql))
            .bind(first_id_at(since))
            .bind(since.as_millis());
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
        let query = sqlx::query(
            "SELECT webhook_id, received_at FROM webhook_deliveries
             WHERE id >= $1 AND received_at >= $2 AND replay_of IS NULL
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
        assert_eq!(pattern("50%_\\A"), "%50\\%\\_\\\\a%");
    }
}
