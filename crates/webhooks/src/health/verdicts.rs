//! Senders that were regular and stopped.

use crate::webhook::StoredConfig;
use gatehouse_domain::{Timestamp, WebhookId};
use gatehouse_store::{WebhookDay, WebhookRow};
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

const DAY_MS: i64 = 86_400_000;
/// A sender is regular if it sent deliveries on this many of the [`REGULAR_OF_DAYS`] days before its last delivery.
const REGULAR_DAYS: usize = 12;
pub(super) const REGULAR_OF_DAYS: i64 = 14;
/// A regular sender counts as stopped after this time without a delivery.
const STOPPED_AFTER_MS: i64 = 2 * DAY_MS;

/// A webhook whose sender sent nearly every day and then stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoppedSender {
    pub id: WebhookId,
    /// The webhook's name.
    pub name: String,
    pub last_delivery_at: Timestamp,
}

/// Cached results: whether the sender of a silent webhook was regular. A result is valid while the webhook is
/// silent. Computing it reads the counters of two weeks.
#[derive(Debug, Default)]
pub(crate) struct Verdicts(Mutex<HashMap<WebhookId, Verdict>>);

#[derive(Debug)]
struct Verdict {
    last_delivery_at: Option<Timestamp>,
    is_regular: bool,
}

impl Verdicts {
    fn lock(&self) -> MutexGuard<'_, HashMap<WebhookId, Verdict>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn knows(&self, row: &WebhookRow) -> bool {
        let known = self.lock();
        let verdict = known.get(&row.id);
        verdict.is_some_and(|known| known.last_delivery_at == row.last_delivery_at)
    }

    /// Adds results for the `new` webhooks. Removes results for webhooks that are in neither list. Returns the
    /// regular senders.
    pub(super) fn update(
        &self,
        known: Vec<WebhookRow>,
        new: Vec<WebhookRow>,
        days: &[WebhookDay],
    ) -> Vec<StoppedSender> {
        let found = regular(new.clone(), days);
        let mut verdicts = self.lock();
        let mut kept = HashMap::new();
        let mut stopped = Vec::new();
        for row in known {
            let Some(verdict) = verdicts.remove(&row.id) else {
                continue;
            };
            if let (true, Some(last_delivery_at)) = (verdict.is_regular, row.last_delivery_at) {
                stopped.push(StoppedSender {
                    id: row.id.clone(),
                    name: row.name,
                    last_delivery_at,
                });
            }
            kept.insert(row.id, verdict);
        }
        for row in new {
            let verdict = Verdict {
                last_delivery_at: row.last_delivery_at,
                is_regular: found.iter().any(|one| one.id == row.id),
            };
            kept.insert(row.id, verdict);
        }
        *verdicts = kept;
        stopped.extend(found);
        stopped
    }
}

pub(super) fn day_of(at: Timestamp) -> i64 {
    at.as_millis().div_euclid(DAY_MS)
}

/// Returns whether an enabled webhook has received nothing from its sender for some time.
pub(super) fn is_silent(row: &WebhookRow, now: Timestamp) -> bool {
    let is_over =
        |at: Timestamp| now.as_millis().saturating_sub(at.as_millis()) >= STOPPED_AFTER_MS;
    row.enabled && row.last_delivery_at.is_some_and(is_over)
}

/// Returns whether the webhook has a sender. A schedule has none.
pub(super) fn has_sender(row: &WebhookRow) -> bool {
    StoredConfig::of(row).is_ok_and(|config| config.webhook.schedule.is_none())
}

/// Returns the webhooks that received deliveries nearly every day until the last one.
fn regular(silent: Vec<WebhookRow>, days: &[WebhookDay]) -> Vec<StoppedSender> {
    let mut by_webhook: HashMap<_, HashSet<i64>> = HashMap::new();
    for day in days {
        by_webhook
            .entry(&day.webhook_id)
            .or_default()
            .insert(day.day);
    }
    let stopped = silent.into_iter().filter_map(|row| {
        let last_delivery_at = row.last_delivery_at?;
        let last = day_of(last_delivery_at);
        let counted = last.saturating_sub(REGULAR_OF_DAYS - 1)..=last;
        let days = by_webhook.get(&row.id)?.iter();
        let is_regular = days.filter(|day| counted.contains(day)).count() >= REGULAR_DAYS;
        is_regular.then_some(StoppedSender {
            id: row.id,
            name: row.name,
            last_delivery_at,
        })
    });
    stopped.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 20_000;

    fn row(last_ms: i64) -> WebhookRow {
        WebhookRow {
            id: WebhookId::from_text("wh_a"),
            public_id: String::new(),
            name: "CI".to_owned(),
            config: "{}".to_owned(),
            enabled: true,
            delivery_count: 1,
            last_delivery_at: Some(Timestamp::from_millis(last_ms)),
            created_at: Timestamp::from_millis(0),
            updated_at: Timestamp::from_millis(0),
        }
    }

    fn days(of: impl Iterator<Item = i64>) -> Vec<WebhookDay> {
        let webhook_id = || WebhookId::from_text("wh_a");
        of.map(|day| WebhookDay {
            webhook_id: webhook_id(),
            day,
        })
        .collect()
    }

    #[test]
    fn a_sender_is_regular_from_twelve_days_on() {
        let last = DAY * DAY_MS + 5;
        let found = |count: i64| regular(vec![row(last)], &days(DAY - count + 1..=DAY)).len();
        assert_eq!(found(12), 1);
        assert_eq!(found(11), 0);
        let long_ago = days((DAY - 40..DAY - 20).chain([DAY]));
        assert!(regular(vec![row(last)], &long_ago).is_empty());
    }

    #[test]
    fn a_verdict_holds_until_the_next_delivery() {
        let (verdicts, last) = (Verdicts::default(), DAY * DAY_MS);
        let found = verdicts.update(Vec::new(), vec![row(last)], &days(DAY - 13..=DAY));
        assert_eq!(found.len(), 1);
        assert!(verdicts.knows(&row(last)) && !verdicts.knows(&row(last + 1)));
        assert_eq!(verdicts.update(vec![row(last)], Vec::new(), &[]), found);
        assert!(verdicts.update(Vec::new(), Vec::new(), &[]).is_empty());
        assert!(!verdicts.knows(&row(last)), "it sends again, or is gone");
    }

    #[test]
    fn silence_begins_after_two_days_and_lasts() {
        let last = DAY * DAY_MS;
        let silent = |after: i64| is_silent(&row(last), Timestamp::from_millis(last + after));
        assert!(!silent(STOPPED_AFTER_MS - 1));
        assert!(silent(STOPPED_AFTER_MS));
        assert!(silent(1000 * DAY_MS));
        let disabled = WebhookRow {
            enabled: false,
            ..row(last)
        };
        assert!(!is_silent(
            &disabled,
            Timestamp::from_millis(last + STOPPED_AFTER_MS)
        ));
    }
}
