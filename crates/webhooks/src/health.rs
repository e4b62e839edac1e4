//! Facts for `doctor`: deliveries that wait for a worker for too long, channels that do not respond, and senders
//! that stopped.

pub(crate) mod verdicts;

pub use verdicts::StoppedSender;

use crate::handle::Webhooks;
use crate::worker::circuit::Gate;
use gatehouse_domain::Timestamp;
use gatehouse_store::StoreError;
use verdicts::{REGULAR_OF_DAYS, day_of, has_sender, is_silent};

/// How many lines of the queue are examined.
const LINES: i64 = 1024;

/// A delivery that cannot be read is postponed by one minute. A delivery that was due earlier than this has not
/// been postponed: it waits for a worker.
const PUT_OFF_MS: i64 = 10 * 60_000;

impl Webhooks {
    /// Returns the due time of the delivery that has waited longest for a worker. Does not count deliveries that
    /// wait for anything else: a time, the vault, a budget, a paused or disabled webhook, a disabled channel, or a
    /// channel that does not respond.
    pub async fn oldest_due(&self) -> Result<Option<Timestamp>, StoreError> {
        let inner = &self.0;
        // The worker follows the accounts only if it has a free slot. A channel may have been changed or tested
        // since then.
        inner.follow_accounts().await?;
        let (now, on_hold) = (inner.now(), inner.live.on_hold());
        let read = inner
            .store
            .read(|conn| Box::pin(async move { conn.list_delivery_lines(None, LINES).await }));
        let lines = read.await?;
        let mut oldest: Option<Timestamp> = None;
        for line in lines {
            let is_older = line.due <= now && oldest.is_none_or(|oldest| line.due < oldest);
            if !is_older || on_hold.contains(&line.webhook_id) {
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

    /// Returns the time of receipt of the oldest delivery that waits because its row cannot be read.
    pub async fn oldest_unreadable(&self) -> Result<Option<Timestamp>, StoreError> {
        let inner = &self.0;
        let since = Timestamp::from_millis(inner.now().as_millis().saturating_sub(PUT_OFF_MS));
        let read = inner.store.read(move |conn| {
            Box::pin(async move { conn.find_oldest_unreadable_delivery(since).await })
        });
        read.await
    }

    /// Returns the IDs of the channel accounts that do not respond to this node. Their deliveries wait.
    pub async fn unresponsive_channels(&self) -> Result<Vec<String>, StoreError> {
        self.0.follow_accounts().await?;
        Ok(self.0.circuits().opened_accounts())
    }

    /// Lists enabled webhooks whose sender was regular but has not sent a delivery for two days or longer.
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
