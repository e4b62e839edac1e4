//! Exact sliding windows per webhook and overall: the rate limits for accepted deliveries if there is one node.
//! Also contains the reservations under these limits and under [`crate::shared_limits`]. A permit is reserved
//! before a delivery is stored, and released if storing fails. Duplicates and failures therefore do not count. This
//! module must not depend on requests.

pub(crate) mod per_minute;
mod windows;

use crate::shared_limits::SharedPermit;
use gatehouse_domain::{Clock, SlidingWindow, WebhookId};
use gatehouse_store::RateRefused;
use per_minute::PerMinute;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use windows::{MINUTE_US, Windows};

/// Maximum number of deliveries of a webhook that wait for its rate.
pub(crate) const MAX_WAITING: u64 = 10_000;

/// The rate limits of this process.
pub(crate) struct Limits {
    clock: Arc<dyn Clock>,
    windows: Mutex<Windows>,
    /// Notified when an undecided permit is kept or released.
    settled: Notify,
}

impl fmt::Debug for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limits").finish_non_exhaustive()
    }
}

/// A reserved permit. Released on drop unless kept.
#[derive(Debug)]
pub(crate) struct Reservation {
    limits: Arc<Limits>,
    webhook: WebhookId,
    taken: ReservedIn,
    kept: bool,
}

/// The limit in which a permit was reserved.
#[derive(Debug)]
enum ReservedIn {
    /// The shared limits of all nodes.
    Shared(SharedPermit),
    /// The windows of this node. The permit has this time, in milliseconds of the monotonic clock.
    Window { at_ms: u64 },
    /// The webhook's queue. One step is the interval between starts, in microseconds.
    Waiting { step_us: u64 },
}

/// Returns the refusal of a limit with this wait.
const fn refused_for(wait_ms: u64) -> RateRefused {
    RateRefused {
        wait_ms,
        undecided: false,
    }
}

impl Reservation {
    /// Counts the delivery, because it was stored.
    pub(crate) fn keep(mut self) {
        self.kept = true;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut windows = self.limits.lock();
        match &mut self.taken {
            ReservedIn::Shared(permit) => permit.set_used(self.kept),
            &mut ReservedIn::Window { at_ms } => {
                windows.settle(&self.webhook);
                if !self.kept {
                    if let Some(own) = windows.own.get_mut(&self.webhook) {
                        own.take_back(at_ms);
                    }
                    windows.global.take_back(at_ms);
                }
            }
            &mut ReservedIn::Waiting { step_us } => {
                if !self.kept
                    && let Some(last) = windows.waiting.get_mut(&self.webhook)
                {
                    *last = last.saturating_sub(step_us);
                }
            }
        }
        drop(windows);
        self.limits.settled.notify_waiters();
    }
}

impl Limits {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        let windows = Windows {
            own: HashMap::new(),
            global: SlidingWindow::default(),
            swept_at_ms: clock.monotonic_ms(),
            open: HashMap::new(),
            all_open: 0,
            waiting: HashMap::new(),
        };
        Self {
            clock,
            windows: Mutex::new(windows),
            settled: Notify::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Windows> {
        // The counts remain usable even if a thread panicked while it held the lock.
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves a permit, or returns how long to wait. A refused attempt does not count.
    pub(crate) fn reserve(
        self: &Arc<Self>,
        webhook: &WebhookId,
        limits: PerMinute,
    ) -> Result<Reservation, RateRefused> {
        let mut windows = self.lock();
        // Reads the clock under the lock: an earlier reading could be older than a recorded timestamp.
        let now_ms = self.clock.monotonic_ms();
        windows.tick(now_ms);
        if let Some(refused) = windows.refusal(webhook, limits, now_ms) {
            return Err(refused);
        }
        windows.record(webhook, now_ms);
        windows.begin(webhook);
        drop(windows);
        Ok(Reservation {
            limits: Arc::clone(self),
            webhook: webhook.clone(),
            taken: ReservedIn::Window { at_ms: now_ms },
            kept: false,
        })
    }

    /// Wraps a permit under the limits of all nodes.
    pub(crate) fn shared(
        self: &Arc<Self>,
        webhook: &WebhookId,
        permit: SharedPermit,
    ) -> Reservation {
        Reservation {
            limits: Arc::clone(self),
            webhook: webhook.clone(),
            taken: ReservedIn::Shared(permit),
            kept: false,
        }
    }

    /// Reserves a permit in the webhook's queue, which can contain at most [`MAX_WAITING`] deliveries.
    pub(crate) fn reserve_waiting(
        self: &Arc<Self>,
        webhook: &WebhookId,
        per_minute: u32,
    ) -> Result<Reservation, RateRefused> {
        let step_us = MINUTE_US / u64::from(per_minute.max(1));
        let mut windows = self.lock();
        let now_us = self.clock.monotonic_ms().saturating_mul(1000);
        let last = windows.waiting.get(webhook).copied().unwrap_or(0);
        let after = last.max(now_us).saturating_add(step_us);
        let over_us = (after - now_us).saturating_sub(step_us.saturating_mul(MAX_WAITING));
        if over_us > 0 {
            return Err(refused_for(over_us.div_ceil(1000)));
        }
        windows.waiting.insert(webhook.clone(), after);
        drop(windows);
        Ok(Reservation {
            limits: Arc::clone(self),
            webhook: webhook.clone(),
            taken: ReservedIn::Waiting { step_us },
            kept: false,
        })
    }

    /// Like [`Limits::reserve`], but waits for undecided permits and retries, at most three times. A duplicate or a
    /// failed write releases its permit, which can then be reused.
    pub(crate) async fn reserve_decided(
        self: &Arc<Self>,
        webhook: &WebhookId,
        limits: PerMinute,
    ) -> Result<Reservation, RateRefused> {
        const TRIES: usize = 3;
        let mut outcome = self.reserve(webhook, limits);
        for _ in 0..TRIES {
            match &outcome {
                Err(refused) if refused.undecided => {}
                _ => break,
            }
            let settled = self.settled.notified();
            // Retries first: the last undecided permit may have been decided before `notified` was created.
            outcome = self.reserve(webhook, limits);
            if matches!(
                outcome,
                Err(RateRefused {
                    undecided: true,
                    ..
                })
            ) {
                settled.await;
                outcome = self.reserve(webhook, limits);
            }
        }
        outcome
    }

    /// Counts a delivery that a previous process accepted `age_ms` ago.
    pub(crate) fn remember(&self, webhook: &WebhookId, age_ms: u64) {
        let mut windows = self.lock();
        let now_ms = self.clock.monotonic_ms();
        // Wrapping is correct, because the windows store only the low bits of a timestamp.
        windows.record(webhook, now_ms.wrapping_sub(age_ms));
    }

    /// Discards the counts of a deleted webhook.
    pub(crate) fn forget(&self, webhook: &WebhookId) {
        let mut windows = self.lock();
        windows.own.remove(webhook);
        windows.waiting.remove(webhook);
    }
}

#[cfg(test)]
mod tests;
