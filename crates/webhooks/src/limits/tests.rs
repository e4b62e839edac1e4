//! Tests of the parent module.

use super::per_minute::WINDOW_MS;
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
