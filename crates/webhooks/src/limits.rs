//! Rate limits for accepted deliveries, per webhook and overall, as exact sliding windows. A permit is
//! reserved before a delivery is stored and released if storing fails, so duplicates and failures do not
//! count. Must not know about requests.

use gatehouse_domain::{Clock, SlidingWindow, WebhookId};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Maximum number of deliveries of a webhook that wait for its rate.
pub(crate) const MAX_WAITING: u64 = 10_000;
const MINUTE_US: u64 = 60_000_000;

/// The window of both limits.
pub(crate) const WINDOW_MS: u32 = 60_000;

/// The limits that apply to a delivery. The owner can change them at any time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PerMinute {
    pub(crate) webhook: u32,
    pub(crate) global: u32,
}

#[derive(Debug)]
struct Windows {
    own: HashMap<WebhookId, SlidingWindow>,
    global: SlidingWindow,
    swept_at_ms: u64,
    /// Undecided permits: reserved, but the delivery is neither stored nor rejected yet. Counted per
    /// webhook and overall.
    open: HashMap<WebhookId, usize>,
    all_open: usize,
    /// When the last delivery that waits for its webhook's rate would start, in microseconds of the
    /// monotonic clock. Estimates how many deliveries wait.
    waiting: HashMap<WebhookId, u64>,
}

/// The rate limits of this process.
pub(crate) struct Limits {
    clock: Arc<dyn Clock>,
    windows: Mutex<Windows>,
    /// Notified whenever an undecided permit is kept or released.
    settled: Notify,
}

impl fmt::Debug for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limits").finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    /// Milliseconds until a permit may be free, at least 1.
    pub(crate) wait_ms: u64,
    /// Whether the limit that refused has undecided permits, which may be released at any moment.
    pub(crate) undecided: bool,
}

/// A reserved permit. Released on drop unless kept.
#[derive(Debug)]
pub(crate) struct Reservation {
    limits: Arc<Limits>,
    webhook: WebhookId,
    taken: ReservedIn,
    kept: bool,
}

/// Where a permit was reserved.
#[derive(Clone, Copy, Debug)]
enum ReservedIn {
    /// In the windows, at this time in milliseconds of the monotonic clock.
    Window { at_ms: u64 },
    /// In the webhook's queue; one step is the interval between starts, in microseconds.
    Waiting { step_us: u64 },
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
        match self.taken {
            ReservedIn::Window { at_ms } => {
                windows.settle(&self.webhook);
                if !self.kept {
                    if let Some(own) = windows.own.get_mut(&self.webhook) {
                        own.take_back(at_ms);
                    }
                    windows.global.take_back(at_ms);
                }
            }
            ReservedIn::Waiting { step_us } => {
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

impl Windows {
    /// Discards expired windows, at most once per window, before their truncated timestamps become
    /// ambiguous.
    fn tick(&mut self, now_ms: u64) {
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

    /// The limit that refuses, if any. `undecided` considers only permits of that limit.
    fn refusal(&self, webhook: &WebhookId, limits: PerMinute, now_ms: u64) -> Option<Refused> {
        let own = self.own.get(webhook);
        if let Some(wait_ms) = own.and_then(|own| own.wait(limits.webhook, WINDOW_MS, now_ms)) {
            return Some(Refused {
                wait_ms,
                undecided: self.open.contains_key(webhook),
            });
        }
        let wait_ms = self.global.wait(limits.global, WINDOW_MS, now_ms)?;
        Some(Refused {
            wait_ms,
            undecided: self.all_open > 0,
        })
    }

    fn begin(&mut self, webhook: &WebhookId) {
        *self.open.entry(webhook.clone()).or_default() += 1;
        self.all_open += 1;
    }

    fn settle(&mut self, webhook: &WebhookId) {
        self.all_open = self.all_open.saturating_sub(1);
        if let Some(open) = self.open.get_mut(webhook) {
            *open = open.saturating_sub(1);
            if *open == 0 {
                self.open.remove(webhook);
            }
        }
    }

    fn record(&mut self, webhook: &WebhookId, now_ms: u64) {
        if let Some(own) = self.own.get_mut(webhook) {
            own.record(WINDOW_MS, now_ms);
        } else {
            let own = self.own.entry(webhook.clone()).or_default();
            own.record(WINDOW_MS, now_ms);
        }
        self.global.record(WINDOW_MS, now_ms);
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
    ) -> Result<Reservation, Refused> {
        let mut windows = self.lock();
        // Read the clock under the lock: an earlier reading could be older than a recorded timestamp.
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

    /// Reserves a permit in the webhook's queue, which holds at most [`MAX_WAITING`] deliveries.
    pub(crate) fn reserve_waiting(
        self: &Arc<Self>,
        webhook: &WebhookId,
        per_minute: u32,
    ) -> Result<Reservation, Refused> {
        let step_us = MINUTE_US / u64::from(per_minute.max(1));
        let mut windows = self.lock();
        let now_us = self.clock.monotonic_ms().saturating_mul(1000);
        let last = windows.waiting.get(webhook).copied().unwrap_or(0);
        let after = last.max(now_us).saturating_add(step_us);
        let over_us = (after - now_us).saturating_sub(step_us.saturating_mul(MAX_WAITING));
        if over_us > 0 {
            return Err(Refused {
                wait_ms: over_us.div_ceil(1000),
                undecided: false,
            });
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

    /// Like [`Limits::reserve`], but waits for undecided permits and retries, at most three times. This
    /// reuses permits that a duplicate or a failed write releases.
    pub(crate) async fn reserve_decided(
        self: &Arc<Self>,
        webhook: &WebhookId,
        limits: PerMinute,
    ) -> Result<Reservation, Refused> {
        const TRIES: usize = 3;
        let mut outcome = self.reserve(webhook, limits);
        for _ in 0..TRIES {
            match &outcome {
                Err(refused) if refused.undecided => {}
                _ => break,
            }
            let settled = self.settled.notified();
            // Retry first: the last undecided permit may have been decided before `notified` was created.
            outcome = self.reserve(webhook, limits);
            if matches!(
                outcome,
                Err(Refused {
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
        // Wrapping is fine: the windows only store the low bits of a timestamp.
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
mod tests {
    use super::*;
    use gatehouse_domain::{ManualClock, Timestamp};
    use std::time::Duration;

    const LIMITS: PerMinute = PerMinute {
        webhook: 3,
        global: 5,
    };

    fn limits() -> (Arc<ManualClock>, Arc<Limits>) {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(0)));
        (clock.clone(), Arc::new(Limits::new(clock)))
    }

    fn hook(name: &str) -> WebhookId {
        WebhookId::from_text(name)
    }

    fn take(limits: &Arc<Limits>, webhook: &str, per_minute: PerMinute) -> Option<u64> {
        match limits.reserve(&hook(webhook), per_minute) {
            Ok(reservation) => {
                reservation.keep();
                None
            }
            Err(refused) => Some(refused.wait_ms),
        }
    }

    #[test]
    fn a_webhook_has_its_limit_and_all_together_theirs() {
        let (clock, limits) = limits();
        for _ in 0..3 {
            assert_eq!(take(&limits, "a", LIMITS), None);
            clock.advance(Duration::from_millis(100));
        }
        assert_eq!(take(&limits, "a", LIMITS), Some(59_700));
        assert_eq!(take(&limits, "b", LIMITS), None);
        assert_eq!(take(&limits, "b", LIMITS), None);
        assert_eq!(
            take(&limits, "b", LIMITS),
            Some(59_700),
            "the sixth over all"
        );
        clock.advance(Duration::from_millis(59_699));
        assert_eq!(
            take(&limits, "b", LIMITS),
            Some(1),
            "refusals did not count"
        );
        clock.advance(Duration::from_millis(1));
        assert_eq!(take(&limits, "b", LIMITS), None);
    }

    #[test]
    fn no_minute_admits_more_than_the_limit() {
        let (clock, limits) = limits();
        let mut admitted = Vec::new();
        for step in 0..2_000_u64 {
            if take(&limits, "a", LIMITS).is_none() {
                admitted.push(step * 97);
            }
            clock.advance(Duration::from_millis(97));
        }
        assert!(admitted.len() > 6);
        for window in admitted.windows(4) {
            assert!(window[3] - window[0] >= u64::from(WINDOW_MS), "{window:?}");
        }
    }

    #[test]
    fn what_was_not_kept_comes_back() {
        let (_, limits) = limits();
        let held: Vec<_> = (0..3)
            .map(|_| limits.reserve(&hook("a"), LIMITS).unwrap())
            .collect();
        let refused = limits.reserve(&hook("a"), LIMITS).unwrap_err();
        assert!(refused.undecided);
        drop(held);
        for _ in 0..3 {
            assert_eq!(take(&limits, "a", LIMITS), None);
        }
        let refused = limits.reserve(&hook("a"), LIMITS).unwrap_err();
        assert!(!refused.undecided);
    }

    #[test]
    fn what_others_have_open_decides_nothing_for_a_webhook_over_its_own_limit() {
        let (_, limits) = limits();
        for _ in 0..3 {
            assert_eq!(take(&limits, "a", LIMITS), None);
        }
        let foreign = limits.reserve(&hook("b"), LIMITS).unwrap();
        let refused = |webhook| limits.reserve(&hook(webhook), LIMITS).unwrap_err();
        assert!(!refused("a").undecided, "its own places are all kept");
        let last = limits.reserve(&hook("c"), LIMITS).unwrap();
        assert!(refused("d").undecided, "over all, two may come back");
        drop(foreign);
        last.keep();
        assert_eq!(take(&limits, "d", LIMITS), None);
        assert!(!refused("d").undecided);
        let windows = limits.lock();
        assert_eq!((windows.open.len(), windows.all_open), (0, 0));
    }

    #[test]
    fn a_changed_limit_holds_at_once() {
        let (_, limits) = limits();
        let with = |webhook| PerMinute {
            webhook,
            global: 100,
        };
        for _ in 0..3 {
            assert_eq!(take(&limits, "a", with(3)), None);
        }
        assert!(take(&limits, "a", with(3)).is_some());
        assert_eq!(take(&limits, "a", with(4)), None);
        assert!(take(&limits, "a", with(2)).is_some());
    }

    #[tokio::test]
    async fn a_refusal_waits_for_what_is_undecided() {
        let (_, limits) = limits();
        let mut held: Vec<_> = (0..3)
            .map(|_| limits.reserve(&hook("a"), LIMITS).unwrap())
            .collect();
        let (webhook, late) = (hook("a"), async { drop(held.pop()) });
        let (waited, ()) = tokio::join!(limits.reserve_decided(&webhook, LIMITS), late);
        assert!(waited.is_ok());
    }

    #[test]
    fn so_many_wait_for_a_webhooks_rate_and_one_more_is_refused() {
        let (clock, limits) = limits();
        let wait = || limits.reserve_waiting(&hook("a"), 60);
        for _ in 0..MAX_WAITING {
            wait().unwrap().keep();
        }
        assert_eq!(wait().unwrap_err().wait_ms, 1000);
        limits.reserve_waiting(&hook("b"), 60).unwrap().keep();
        clock.advance(Duration::from_millis(999));
        assert_eq!(wait().unwrap_err().wait_ms, 1);
        clock.advance(Duration::from_millis(1));
        drop(wait().unwrap());
        wait().unwrap().keep();
        assert!(wait().is_err());
        clock.advance(Duration::from_secs(20_000));
        assert_eq!(take(&limits, "c", LIMITS), None);
        assert_eq!(limits.lock().waiting.len(), 0);
    }

    #[test]
    fn an_earlier_life_counts_and_years_do_not() {
        let (clock, limits) = limits();
        clock.advance(Duration::from_secs(1));
        for _ in 0..3 {
            limits.remember(&hook("a"), 20_000);
        }
        assert_eq!(take(&limits, "a", LIMITS), Some(40_000));
        clock.advance(Duration::from_millis(1 << 32));
        assert_eq!(take(&limits, "a", LIMITS), None);
        limits.forget(&hook("a"));
        assert_eq!(limits.lock().own.len(), 0);
    }
}
