//! Queries for deliveries: lists, single deliveries, payloads, and counts per hour or day.

use crate::delivery::{Delivery, FailedAttempt};
use crate::error::WebhooksError;
use crate::handle::Webhooks;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use gatehouse_domain::{DeliveryStatus, Timestamp, WebhookId};
use gatehouse_store::DeliveryFilter;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Maximum length of a search text, in characters.
const MAX_QUERY: usize = 200;
/// Maximum number of hourly buckets: 30 days.
pub const MAX_HOURS: i64 = 720;
/// Maximum number of daily buckets.
pub const MAX_DAYS: i64 = 366;
/// Default period of the counts.
const DEFAULT_HOURS: i64 = 24;
const HOUR_MS: i64 = 3_600_000;

/// Filter and page of a delivery list.
#[derive(Debug, Default)]
pub struct DeliveryQuery {
    /// The webhook, by id or public id.
    pub webhook: Option<String>,
    /// Any status if empty.
    pub statuses: Vec<DeliveryStatus>,
    pub event: Option<String>,
    /// Text to find in the event type, entity, error or body preview.
    pub text: Option<String>,
    /// Earliest time of receipt, inclusive.
    pub from: Option<Timestamp>,
    /// Latest time of receipt, exclusive.
    pub until: Option<Timestamp>,
    pub limit: usize,
    /// The `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// A page of deliveries, newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeliveryPage {
    pub deliveries: Vec<Delivery>,
    /// Cursor of the next page. Absent on the last page. A search examines a limited number of deliveries
    /// per page, so a page can be empty and still have a cursor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// The stored payload of a delivery.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StoredPayload {
    /// The payload as JSON, with key order and number spelling unchanged.
    Payload(#[schemars(with = "serde_json::Value")] Box<RawValue>),
    /// The payload in Base64, if it is not JSON.
    Raw(String),
}

/// The period that one count covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BucketSize {
    #[default]
    Hour,
    /// A day in UTC.
    Day,
}

impl BucketSize {
    const fn ms(self) -> i64 {
        match self {
            Self::Hour => HOUR_MS,
            Self::Day => 24 * HOUR_MS,
        }
    }

    const fn most(self) -> i64 {
        match self {
            Self::Hour => MAX_HOURS,
            Self::Day => MAX_DAYS,
        }
    }
}

/// Filter and period of delivery counts.
#[derive(Clone, Debug, Default)]
pub struct StatsQuery {
    /// The webhook, by id or public id.
    pub webhook: Option<String>,
    /// The last N hours including the current one. Not allowed together with `from` and `until`.
    pub hours: Option<i64>,
    /// Start of the period, inclusive. Default: 24 hours before `until`.
    pub from: Option<Timestamp>,
    /// End of the period, exclusive. Default: the end of the current hour.
    pub until: Option<Timestamp>,
    pub bucket: BucketSize,
}

/// Delivery counts of one hour or day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Bucket {
    /// Start of the hour or day.
    pub at: Timestamp,
    /// Number of deliveries received in it, by their current status.
    #[serde(flatten)]
    pub counts: BTreeMap<DeliveryStatus, i64>,
}

/// Delivery counts, oldest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeliveryStats {
    /// One bucket per hour or day, including empty ones.
    pub buckets: Vec<Bucket>,
}

impl Webhooks {
    /// Lists deliveries, newest first.
    pub async fn deliveries(&self, query: DeliveryQuery) -> Result<DeliveryPage, WebhooksError> {
        let too_long = |text: &Option<String>| {
            text.as_ref()
                .is_some_and(|text| text.chars().count() > MAX_QUERY || text.contains('\0'))
        };
        if too_long(&query.text) {
            let reason = format!("at most {MAX_QUERY} characters");
            return Err(WebhooksError::invalid("q", reason));
        }
        if too_long(&query.event) {
            let reason = format!("at most {MAX_QUERY} characters");
            return Err(WebhooksError::invalid("event", reason));
        }
        if query
            .cursor
            .as_deref()
            .is_some_and(|cursor| !is_cursor("del_", cursor))
        {
            let reason = "not one that was given out";
            return Err(WebhooksError::invalid("cursor", reason));
        }
        let filter = DeliveryFilter {
            webhook: self.webhook_of(query.webhook.as_deref()).await?,
            statuses: query.statuses,
            event: query.event,
            text: query.text.filter(|text| !text.is_empty()),
            before: query.cursor,
            from: query.from,
            until: query.until,
        };
        let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
        let read = self
            .0
            .store
            .read(move |conn| Box::pin(async move { conn.list_deliveries(&filter, limit).await }));
        let page = read.await?;
        Ok(DeliveryPage {
            deliveries: self.0.shown_deliveries(page.rows).await,
            next_cursor: page.next,
        })
    }

    pub async fn delivery(&self, id: &str) -> Result<Delivery, WebhooksError> {
        let id = id.to_owned();
        let read = self.0.store.read(move |conn| {
            Box::pin(async move {
                let attempts = conn.list_delivery_attempts(&id).await?;
                Ok::<_, WebhooksError>((conn.find_delivery(&id).await?, attempts))
            })
        });
        let (row, attempts) = read.await?;
        let row = row.ok_or(WebhooksError::NotFound("delivery"))?;
        let shown = self.0.shown_deliveries(vec![row]).await.pop();
        let mut delivery = shown.ok_or(WebhooksError::NotFound("delivery"))?;
        delivery.failed_attempts = attempts.into_iter().map(FailedAttempt::from).collect();
        Ok(delivery)
    }

    /// Returns the payload of a delivery. Fails with `NotFound` if the delivery or its payload is not
    /// stored.
    pub async fn payload(&self, id: &str) -> Result<StoredPayload, WebhooksError> {
        let id = id.to_owned();
        let read = self
            .0
            .store
            .read(move |conn| Box::pin(async move { conn.find_delivery_payload(&id).await }));
        let text = read.await?.ok_or(WebhooksError::NotFound("payload"))?;
        Ok(match RawValue::from_string(text.clone()) {
            Ok(json) => StoredPayload::Payload(json),
            Err(_) => StoredPayload::Raw(BASE64.encode(text)),
        })
    }

    /// Counts the deliveries of a period, for one webhook or all.
    pub async fn stats(&self, query: StatsQuery) -> Result<DeliveryStats, WebhooksError> {
        let (since, until) = period(&query, self.0.now())?;
        let (size, most) = (query.bucket.ms(), query.bucket.most());
        let first = since.as_millis().div_euclid(size);
        let last = until.as_millis().saturating_sub(1).div_euclid(size);
        if last.saturating_sub(first) >= most {
            let reason = format!("at most {most} buckets from `from` to `until`");
            return Err(WebhooksError::invalid("from", reason));
        }
        let webhook = self.webhook_of(query.webhook.as_deref()).await?;
        // After the clock was set back, ids are ahead of it. Without an explicit end, count those
        // deliveries as well.
        let end = query.until.unwrap_or(Timestamp::from_millis(i64::MAX));
        let read = self.0.store.read(move |conn| {
            Box::pin(async move {
                conn.list_delivery_counts(webhook.as_ref(), since, end)
                    .await
            })
        });
        let mut found: BTreeMap<i64, BTreeMap<DeliveryStatus, i64>> = BTreeMap::new();
        for count in read.await? {
            let bucket = found
                .entry(count.hour.as_millis().div_euclid(size))
                .or_default();
            *bucket.entry(count.status).or_default() += count.count;
        }
        let bucket = |number: i64| {
            let its = found.get(&number);
            let count = |status: &DeliveryStatus| {
                let counted = its.and_then(|counts| counts.get(status));
                (*status, counted.copied().unwrap_or(0))
            };
            Bucket {
                at: Timestamp::from_millis(number.saturating_mul(size)),
                counts: DeliveryStatus::ALL.iter().map(count).collect(),
            }
        };
        Ok(DeliveryStats {
            buckets: (first..=last).map(bucket).collect(),
        })
    }

    async fn webhook_of(&self, name: Option<&str>) -> Result<Option<WebhookId>, WebhooksError> {
        match name {
            Some(name) => self.0.id_of(name).await.map(Some),
            None => Ok(None),
        }
    }
}

/// The start (inclusive) and end (exclusive) of the counted period.
fn period(query: &StatsQuery, now: Timestamp) -> Result<(Timestamp, Timestamp), WebhooksError> {
    let hour = |number: i64| Timestamp::from_millis(number.saturating_mul(HOUR_MS));
    let next_hour = now.as_millis().div_euclid(HOUR_MS).saturating_add(1);
    if query.from.is_none() && query.until.is_none() {
        let hours = query.hours.unwrap_or(DEFAULT_HOURS);
        if !(1..=MAX_HOURS).contains(&hours) {
            let reason = format!("expected 1 to {MAX_HOURS}");
            return Err(WebhooksError::invalid("hours", reason));
        }
        return Ok((hour(next_hour.saturating_sub(hours)), hour(next_hour)));
    }
    if query.hours.is_some() {
        let reason = "not together with `from` and `until`";
        return Err(WebhooksError::invalid("hours", reason));
    }
    let until = query.until.unwrap_or_else(|| hour(next_hour));
    let day = DEFAULT_HOURS.saturating_mul(HOUR_MS);
    let from = query
        .from
        .unwrap_or_else(|| Timestamp::from_millis(until.as_millis().saturating_sub(day)));
    if from >= until {
        return Err(WebhooksError::invalid("from", "must be before `until`"));
    }
    Ok((from, until))
}

/// Whether `text` has the form of a page cursor.
pub(crate) fn is_cursor(prefix: &str, text: &str) -> bool {
    text.strip_prefix(prefix)
        .is_some_and(|rest| rest.len() == 32 && rest.bytes().all(|b| b.is_ascii_hexdigit()))
}
