//! Statistics of deliveries: how many by hour or day, and how long they took.

use crate::error::WebhooksError;
use crate::handle::Webhooks;
use gatehouse_domain::{DeliveryStatus, Timestamp};
use gatehouse_store::{DURATION_BUCKETS, DeliveryCount, Durations};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Maximum number of hourly buckets: 30 days.
pub const MAX_HOURS: i64 = 720;
/// Maximum number of daily buckets.
pub const MAX_DAYS: i64 = 366;
/// Default period of the counts.
const DEFAULT_HOURS: i64 = 24;
const HOUR_MS: i64 = 3_600_000;

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
    /// The webhook, by ID or public ID.
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
    /// The durations of completed deliveries. Absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
}

/// Durations of completed deliveries, from the start of the last attempt to its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Latency {
    /// The mean, in milliseconds.
    pub mean_ms: i64,
    /// Approximately the duration that 95 percent did not exceed, in milliseconds.
    pub p95_ms: i64,
    /// The number of deliveries per bucket. A key is the bucket's upper bound in milliseconds; its lower bound is half
    /// of that, or 0 for the key 4. `over` counts deliveries of 524,288 ms and more. Buckets without deliveries are
    /// omitted.
    pub histogram: BTreeMap<String, i64>,
}

impl Latency {
    fn of(durations: &Durations) -> Option<Self> {
        let name =
            |place| Durations::end_ms(place).map_or("over".to_owned(), |end| end.to_string());
        let numbers = (0..DURATION_BUCKETS).zip(durations.buckets);
        Some(Self {
            mean_ms: durations.mean_ms()?,
            p95_ms: durations.percentile_ms(95)?,
            histogram: numbers
                .filter(|(_, count)| *count > 0)
                .map(|(place, count)| (name(place), count))
                .collect(),
        })
    }
}

/// Delivery counts, oldest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeliveryStats {
    /// One bucket per hour or day, including empty ones.
    pub buckets: Vec<Bucket>,
    /// The durations of the completed deliveries of the whole period. Absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
}

/// The counts of a bucket.
#[derive(Default)]
struct Counted {
    by_status: BTreeMap<DeliveryStatus, i64>,
    durations: Durations,
}

impl Webhooks {
    /// Counts the deliveries of a period, for one webhook or all. With a long queue, the counts of open deliveries may
    /// be up to about a minute old.
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
        // After the clock was set back, IDs are ahead of the clock. Without an explicit end, deliveries with these
        // IDs are counted too.
        let end = query.until.unwrap_or(Timestamp::from_millis(i64::MAX));
        // Read before the ended deliveries: a delivery that ends between the two reads is counted twice, rather
        // than not at all.
        let open = self.0.count_open_deliveries().await?;
        let of_webhook = webhook.clone();
        let read = self.0.store.read(move |conn| {
            Box::pin(async move {
                conn.list_delivery_counts(of_webhook.as_ref(), since, end)
                    .await
            })
        });
        let ended: Vec<DeliveryCount> = read.await?;
        let open = open
            .iter()
            .filter(|open| open.is_within(webhook.as_ref(), since, end));
        let mut found: BTreeMap<i64, Counted> = BTreeMap::new();
        let mut durations = Durations::default();
        for count in ended.iter().chain(open.map(|open| &open.count)) {
            let bucket = found
                .entry(count.hour.as_millis().div_euclid(size))
                .or_default();
            *bucket.by_status.entry(count.status).or_default() += count.count;
            if count.status == DeliveryStatus::Completed {
                bucket.durations.merge(&count.durations);
                durations.merge(&count.durations);
            }
        }
        let bucket = |number: i64| {
            let its = found.remove(&number).unwrap_or_default();
            let count = |status: &DeliveryStatus| {
                let counted = its.by_status.get(status);
                (*status, counted.copied().unwrap_or(0))
            };
            Bucket {
                at: Timestamp::from_millis(number.saturating_mul(size)),
                counts: DeliveryStatus::ALL.iter().map(count).collect(),
                latency: Latency::of(&its.durations),
            }
        };
        Ok(DeliveryStats {
            buckets: (first..=last).map(bucket).collect(),
            latency: Latency::of(&durations),
        })
    }
}

/// Returns the start (inclusive) and end (exclusive) of the counted period.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_latency_names_the_ends_of_its_buckets_and_leaves_out_empty_ones() {
        assert_eq!(Latency::of(&Durations::default()), None);
        let mut durations = Durations {
            total_ms: 500,
            ..Durations::default()
        };
        durations.buckets[0] = 1;
        durations.buckets[5] = 3;
        durations.buckets[18] = 1;
        let latency = Latency::of(&durations).unwrap();
        assert_eq!((latency.mean_ms, latency.p95_ms), (100, 524_288));
        let histogram = [("128", 3), ("4", 1), ("over", 1)];
        let histogram = histogram.map(|(end, count)| (end.to_owned(), count));
        assert_eq!(latency.histogram, BTreeMap::from(histogram));
    }
}
