//! Table `delivery_counts`: the number of deliveries that ended with each status, by hour of receipt, and their
//! durations. A transaction collects the ended deliveries and writes the counters directly before its commit. A
//! counter is therefore locked only during a commit, and all nodes lock counters in the same order.

mod lists;

use crate::delivery_durations::{self, Durations};
use crate::sql::{Value, query};
use crate::{Conn, StoreError};
use gatehouse_domain::{DeliveryStatus, Timestamp};
pub use lists::{DeliveryCount, OpenCount, WebhookDay};
use std::collections::BTreeMap;
use std::sync::LazyLock;

pub(crate) const HOUR_MS: i64 = 3_600_000;

/// Days for which counters are kept. Longer than the longest period of statistics.
pub const COUNTED_DAYS: u32 = 400;

/// How many hours of counters before the last delivery of a webhook are kept: three weeks.
const KEPT_HOURS: i64 = 21 * 24;

/// The primary key of a counter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    hour: i64,
    webhook_id: String,
    status: &'static str,
}

/// A delivery that a transaction ended.
#[derive(Clone, Debug)]
pub(crate) struct Ended {
    key: Key,
    took_ms: Option<i64>,
}

/// Returns the statement that adds to a counter.
fn add() -> String {
    let columns = delivery_durations::columns();
    let places: Vec<_> = (0..columns.len())
        .map(|at| format!("${}", at + 5))
        .collect();
    let sums: Vec<_> = columns
        .iter()
        .map(|column| format!("{column} = delivery_counts.{column} + excluded.{column}"))
        .collect();
    format!(
        "INSERT INTO delivery_counts (hour, webhook_id, status, count, {}) VALUES ($1, $2, $3, $4, {})
         ON CONFLICT (hour, webhook_id, status) DO UPDATE SET
             count = delivery_counts.count + excluded.count, {}",
        columns.join(", "),
        places.join(", "),
        sums.join(", ")
    )
}

static ADD: LazyLock<String> = LazyLock::new(add);

impl Conn {
    /// Records that a delivery ended, and its duration if it was started. Does nothing for an open status.
    pub(crate) fn note_ended(
        &mut self,
        webhook_id: &str,
        received_at: Timestamp,
        status: DeliveryStatus,
        took_ms: Option<i64>,
    ) {
        if !status.is_open() {
            self.ended.push(Ended {
                key: Key {
                    hour: received_at.as_millis().div_euclid(HOUR_MS),
                    webhook_id: webhook_id.to_owned(),
                    status: status.as_str(),
                },
                took_ms,
            });
        }
    }

    /// Adds the ended deliveries of the transaction to the counters, in the order of their keys.
    pub(crate) fn write_delivery_counts(&mut self) -> Result<(), StoreError> {
        let mut counts: BTreeMap<Key, (i64, Durations)> = BTreeMap::new();
        for ended in std::mem::take(&mut self.ended) {
            let (count, durations) = counts.entry(ended.key).or_default();
            *count += 1;
            if let Some(took_ms) = ended.took_ms {
                durations.add(took_ms);
            }
        }
        if counts.is_empty() {
            return Ok(());
        }
        let rows: Vec<Vec<Value<'_>>> = counts
            .iter()
            .map(|(key, (count, durations))| {
                let mut values = vec![
                    key.hour.into(),
                    key.webhook_id.as_str().into(),
                    key.status.into(),
                    (*count).into(),
                ];
                values.extend(durations.values());
                values
            })
            .collect();
        self.run_each_later(&ADD, &rows)
    }

    /// Deletes the counters of hours before `before`. Keeps the last three weeks of each webhook, which show
    /// whether its sender was regular before it stopped.
    pub async fn delete_old_delivery_counts(
        &mut self,
        before: Timestamp,
    ) -> Result<u64, StoreError> {
        let query = query(
            "DELETE FROM delivery_counts WHERE hour < $1 AND hour < COALESCE(
                 (SELECT w.last_delivery_at FROM webhooks AS w
                  WHERE w.id = delivery_counts.webhook_id) / 3600000 - $2, $1)",
        );
        let query = query.bind(before.as_millis().div_euclid(HOUR_MS));
        self.run(query.bind(KEPT_HOURS)).await
    }
}

/// Returns the smallest possible ID of a delivery that is received at this time. The text of a `UUIDv7` begins with
/// its 48 bits of milliseconds (RFC 9562, section 5.7).
pub(crate) fn first_id_at(moment: Timestamp) -> String {
    let millis = u64::try_from(moment.as_millis()).unwrap_or(0) & 0xffff_ffff_ffff;
    format!("del_{millis:012x}")
}

/// Returns a text that sorts after the IDs of all deliveries received before `until`. If the clock was set back, an
/// ID may be up to an hour ahead of the time of receipt.
pub(crate) fn last_id_at(until: Timestamp) -> String {
    first_id_at(Timestamp::from_millis(
        until.as_millis().saturating_add(HOUR_MS),
    ))
}

#[cfg(test)]
mod tests;
