//! Counts the starts of deliveries in the last minute for webhooks with `on_limit: queue`, per node and in
//! memory.

use gatehouse_domain::{Timestamp, WebhookId};
use gatehouse_store::Pace;
use std::collections::{HashMap, VecDeque};
use std::time::Duration;

const WINDOW_MS: u64 = 60_000;

/// The recent starts per webhook with a rate limit.
#[derive(Debug, Default)]
pub(super) struct Starts {
    /// Times in milliseconds of the monotonic clock, oldest first.
    each: HashMap<WebhookId, VecDeque<u64>>,
}

impl Starts {
    /// Returns the current rate limit of each webhook in `paced`, which contains the starts per minute.
    /// Removes the counts of all other webhooks.
    pub(super) fn paces(
        &mut self,
        paced: &[(WebhookId, u32)],
        now: Timestamp,
        monotonic_ms: u64,
    ) -> Vec<Pace> {
        self.each
            .retain(|webhook, _| paced.iter().any(|(paced, _)| paced == webhook));
        let mut all = Vec::with_capacity(paced.len());
        for (webhook, per_minute) in paced {
            let starts = self.each.entry(webhook.clone()).or_default();
            while starts
                .front()
                .is_some_and(|start| monotonic_ms.saturating_sub(*start) >= WINDOW_MS)
            {
                starts.pop_front();
            }
            let started = u32::try_from(starts.len()).unwrap_or(u32::MAX);
            // The start that must leave the window before another delivery may start.
            let blocking = started
                .checked_sub(*per_minute)
                .and_then(|over| starts.get(usize::try_from(over).ok()?));
            let oldest = blocking.or_else(|| starts.front());
            let wait_ms = oldest.map_or(WINDOW_MS, |start| {
                WINDOW_MS.saturating_sub(monotonic_ms.saturating_sub(*start))
            });
            all.push(Pace {
                webhook_id: webhook.clone(),
                room: per_minute.saturating_sub(started),
                next_at: now.after(Duration::from_millis(wait_ms)),
                per_minute: *per_minute,
            });
        }
        all
    }

    /// Records one start per element.
    pub(super) fn record(&mut self, webhooks: &[WebhookId], monotonic_ms: u64) {
        for webhook in webhooks {
            if let Some(starts) = self.each.get_mut(webhook) {
                starts.push_back(monotonic_ms);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_minute_has_room_for_the_rate() {
        let webhook = WebhookId::from_text("a");
        let (mut starts, at) = (Starts::default(), Timestamp::from_millis);
        let pace = |starts: &mut Starts, rate, millis: u64| {
            let now = at(i64::try_from(millis).unwrap());
            let pace = starts.paces(&[(webhook.clone(), rate)], now, millis);
            (pace[0].room, pace[0].next_at.as_millis())
        };
        assert_eq!(pace(&mut starts, 3, 0), (3, 60_000));
        starts.record(&[webhook.clone(), webhook.clone()], 0);
        starts.record(std::slice::from_ref(&webhook), 10_000);
        assert_eq!(pace(&mut starts, 3, 20_000), (0, 60_000));
        assert_eq!(
            pace(&mut starts, 2, 20_000),
            (0, 60_000),
            "the rate was lowered"
        );
        assert_eq!(pace(&mut starts, 1, 20_000), (0, 70_000));
        assert_eq!(pace(&mut starts, 3, 60_000), (2, 70_000));
        assert_eq!(pace(&mut starts, 3, 70_000), (3, 130_000));
        starts.record(&[WebhookId::from_text("b")], 70_000);
        assert_eq!(starts.each.len(), 1, "it has no rate");
        assert!(starts.paces(&[], at(0), 70_000).is_empty());
        assert!(starts.each.is_empty());
    }
}
