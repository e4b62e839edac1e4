//! Facts for `doctor`: deliveries that wait although they could run, channels that do not respond, and senders that
//! stopped.

use crate::handle::Webhooks;
use crate::webhook::StoredConfig;
use crate::worker::circuit::Gate;
use gatehouse_domain::{Timestamp, WebhookId};
use gatehouse_store::{StoreError, WebhookDay, WebhookRow};
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

const DAY_MS: i64 = 86_400_000;
/// Lines of the queue that are looked at.
const LINES: i64 = 1024;
/// A sender is regular if it sent on this many of [`REGULAR_OF_DAYS`] days, up to its last delivery.
const REGULAR_DAYS: usize = 12;
const REGULAR_OF_DAYS: i64 = 14;
/// A regular sender has stopped after this time without a delivery.
const STOPPED_AFTER_MS: i64 = 2 * DAY_MS;

/// A webhook whose sender sent nearly every day and then stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoppedSender {
    pub id: WebhookId,
    /// The webhook's name.
    pub name: String,
    pub last_delivery_at: Timestamp,
}

impl Webhooks {
    /// Returns since when the delivery is due that waits longest for a worker. Deliveries that wait for something else do
    /// not count: a time, the vault, a budget, a disabled webhook or channel, or a channel that does not respond.
    pub async fn oldest_due(&self) -> Result<Option<Timestamp>, StoreError> {
        let inner = &self.0;
        let (now, disabled) = (inner.now(), inner.live.disabled());
        let read = inner
            .store
            .read(|conn| Box::pin(async move { conn.list_delivery_lines(None, LINES).await }));
        let lines = read.await?;
        let mut oldest: Option<Timestamp> = None;
        for line in lines {
            let is_older = line.due <= now && oldest.is_none_or(|oldest| line.due < oldest);
            if !is_older || disabled.contains(&line.webhook_id) {
                continue;
            }
            let account = inner.channels.find_target_account(&line.target).await?;
            let is_held = account.is_some_and(|account| {
                !account.is_enabled || !matches!(inner.gate_of(&account.id), Gate::Closed)
            });
            if !is_held {
                oldest = Some(line.due);
            }
        }
        Ok(oldest)
    }

    /// The IDs of the channel accounts that do not respond to this node. Their deliveries wait.
    pub async fn unresponsive_channels(&self) -> Result<Vec<String>, StoreError> {
        self.0.follow_accounts().await?;
        Ok(self.0.circuits().opened_accounts())
    }

    /// Lists enabled webhooks whose sender sent nearly every day and has not sent for two days or longer.
    pub async fn stopped_senders(&self) -> Result<Vec<StoppedSender>, StoreError> {
        let inner = &self.0;
        let now = inner.now();
        let read = inner
            .store
            .read(|conn| Box::pin(async move { conn.list_webhooks().await }));
        let rows = read.await?.into_iter();
        let silent = rows.filter(|row| is_silent(row, now) && has_sender(row));
        let (known, new): (Vec<_>, Vec<_>) = silent.partition(|row| inner.verdicts.knows(row));
        let periods: Vec<_> = new
            .iter()
            .filter_map(|row| Some((row.id.clone(), row.last_delivery_at.map(day_of)?)))
            .collect();
        let mut days = Vec::new();
        if !periods.is_empty() {
            let read = inner.store.read(move |conn| {
                let periods = periods.clone();
                Box::pin(async move {
                    let mut days = Vec::new();
                    for (id, last) in periods {
                        let first = last.saturating_sub(REGULAR_OF_DAYS);
                        let end = last.saturating_add(1);
                        days.extend(conn.list_webhook_days(&id, first, end).await?);
                    }
                    Ok::<_, StoreError>(days)
                })
            });
            days = read.await?;
        }
        Ok(inner.verdicts.update(known, new, &days))
    }
}

/// Which silent webhooks had a regular sender. That does not change while a webhook is silent, and finding it out reads
/// the counters of two weeks.
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

    fn knows(&self, row: &WebhookRow) -> bool {
        let known = self.lock();
        let verdict = known.get(&row.id);
        verdict.is_some_and(|known| known.last_delivery_at == row.last_delivery_at)
    }

    /// Adds the verdicts about `new` webhooks, and forgets those about webhooks that are in neither list. Returns the
    /// regular senders.
    fn update(
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

fn day_of(at: Timestamp) -> i64 {
    at.as_millis().div_euclid(DAY_MS)
}

/// Whether an enabled webhook received nothing from its sender for a while.
fn is_silent(row: &WebhookRow, now: Timestamp) -> bool {
    let is_over =
        |at: Timestamp| now.as_millis().saturating_sub(at.as_millis()) >= STOPPED_AFTER_MS;
    row.enabled && row.last_delivery_at.is_some_and(is_over)
}

/// Whether the webhook has a sender, which a schedule does not have.
fn has_sender(row: &WebhookRow) -> bool {
    StoredConfig::of(row).is_ok_and(|config| config.webhook.schedule.is_none())
}

/// The webhooks that received deliveries nearly every day until the last one.
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
