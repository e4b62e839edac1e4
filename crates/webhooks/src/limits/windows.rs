//! Permits and waiting deliveries of one node.

use super::per_minute::{PerMinute, WINDOW_MS};
use gatehouse_domain::{SlidingWindow, WebhookId};
use gatehouse_store::RateRefused;
use std::collections::HashMap;

/// A minute in microseconds.
pub(super) const MINUTE_US: u64 = 60_000_000;

#[derive(Debug)]
pub(super) struct Windows {
    pub(super) own: HashMap<WebhookId, SlidingWindow>,
    pub(super) global: SlidingWindow,
    pub(super) swept_at_ms: u64,
    /// Undecided permits, per webhook and overall. They are reserved, but their deliveries are neither stored nor
    /// rejected yet.
    pub(super) open: HashMap<WebhookId, usize>,
    pub(super) all_open: usize,
    /// When the last delivery that waits for its webhook's rate would start, in microseconds of the
    /// monotonic clock. Estimates how many deliveries wait.
    pub(super) waiting: HashMap<WebhookId, u64>,
}

impl Windows {
    /// Discards expired windows before their truncated timestamps become ambiguous. Runs at most once per window.
    pub(super) fn tick(&mut self, now_ms: u64) {
        let since = now_ms.saturating_sub(self.swept_at_ms);
        if since < u64::from(WINDOW_MS) {
            return;
        }
        let all_passed = since >= 2 * u64::from(WINDOW_MS);
        self.own
            .retain(|_, window| !all_passed && !window.is_idle(WINDOW_MS, now_ms));
        self.waiting
            .retain(|_, last| *last > now_ms.saturating_mul(1000));
        if all_passed || self.global.is_idle(WINDOW_MS, now_ms) {
            self.global = SlidingWindow::default();
        }
        self.swept_at_ms = now_ms;
    }

    /// Returns the limit that refuses, if any. `undecided` considers only permits of that limit.
    pub(super) fn refusal(
        &self,
        webhook: &WebhookId,
        limits: PerMinute,
        now_ms: u64,
    ) -> Option<RateRefused> {
        let own = self.own.get(webhook);
        if let Some(wait_ms) = own.and_then(|own| own.wait(limits.webhook, WINDOW_MS, now_ms)) {
            return Some(RateRefused {
                wait_ms,
                undecided: self.open.contains_key(webhook),
            });
        }
        let wait_ms = self.global.wait(limits.global, WINDOW_MS, now_ms)?;
        Some(RateRefused {
            wait_ms,
            undecided: self.all_open > 0,
        })
    }

    pub(super) fn begin(&mut self, webhook: &WebhookId) {
        *self.open.entry(webhook.clone()).or_default() += 1;
        self.all_open += 1;
    }

    pub(super) fn settle(&mut self, webhook: &WebhookId) {
        self.all_open = self.all_open.saturating_sub(1);
        if let Some(open) = self.open.get_mut(webhook) {
            *open = open.saturating_sub(1);
            if *open == 0 {
                self.open.remove(webhook);
            }
        }
    }

    pub(super) fn record(&mut self, webhook: &WebhookId, now_ms: u64) {
        if let Some(own) = self.own.get_mut(webhook) {
            own.record(WINDOW_MS, now_ms);
        } else {
            let own = self.own.entry(webhook.clone()).or_default();
            own.record(WINDOW_MS, now_ms);
        }
        self.global.record(WINDOW_MS, now_ms);
    }
}
