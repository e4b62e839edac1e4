//! Batches, refusals and returned permits.

use super::*;
use crate::rate_permits::RateLease;

fn granted(count: u32) -> RateLease {
    RateLease {
        granted: count,
        next_at: Timestamp::from_millis(0),
    }
}

fn at(now_ms: u64) -> Moment {
    Moment {
        monotonic_ms: now_ms,
        time: Timestamp::from_millis(0),
    }
}

fn taken(pool: &mut Pool, now_ms: u64) -> usize {
    std::iter::from_fn(|| pool.take(1, 1_000, now_ms).filter(Result::is_ok)).count()
}

#[test]
fn batches_follow_the_rate() {
    let mut pool = Pool::default();
    let mut sizes = Vec::new();
    for now_ms in [0, 100, 200, 300, 400, 500] {
        let (unused, wanted) = pool.begin_batch(1, 1_000, now_ms);
        assert_eq!(unused.count, 0);
        sizes.push(wanted);
        pool.add(granted(wanted), (1, 1_000), at(now_ms), (now_ms, 1));
        assert_eq!(taken(&mut pool, now_ms), wanted as usize);
    }
    assert_eq!(sizes, [1, 2, 4, 8, 16, 25]);
    // The rate is lower: the next batch has as many permits as were used of the expired batch. The unused permits
    // are returned.
    pool.add(granted(25), (1, 1_000), at(1_000), (1_000, 1));
    assert!(pool.take(1, 1_000, 10_999).is_some());
    assert!(pool.take(1, 1_000, 11_000).is_none(), "expired");
    let (unused, wanted) = pool.begin_batch(1, 1_000, 11_000);
    assert_eq!((unused.count, wanted), (24, 1));
    assert_eq!(pool.begin_batch(1, 20, 11_000).1, 1, "at least one");
    assert_eq!(pool.begin_batch(3, 20, 11_000).1, 3, "all that are needed");
}

#[test]
fn a_batch_expires_from_the_beginning_of_its_query_on() {
    let mut pool = Pool::default();
    pool.add(granted(2), (1, 1_000), at(0), (9_999, 1));
    assert!(
        pool.take(1, 1_000, 9_999)
            .is_some_and(|taken| taken.is_ok())
    );
    assert!(pool.take(1, 1_000, 10_000).is_none(), "expired");
}

#[test]
fn a_permit_returned_while_a_batch_is_taken_is_kept() {
    for granted_then in [0, 1] {
        let mut pool = Pool::default();
        pool.add(granted(1), (1, 2), at(0), (0, 1));
        assert!(pool.take(1, 2, 0).unwrap().is_ok());
        pool.begin_batch(1, 2, 0);
        pool.settle(1, false);
        pool.add(granted(granted_then), (1, 2), at(0), (0, 1));
        assert_eq!(taken(&mut pool, 0), 1 + granted_then as usize);
    }
}

#[test]
fn a_refusal_is_repeated_for_ten_seconds_and_for_its_limit() {
    let mut pool = Pool::default();
    pool.add(granted(0), (1, 1_000), at(0), (0, 30_000));
    for (limit, now_ms, wait_ms) in [(1_000, 0, Some(30_000)), (1_000, 9_999, Some(20_001))] {
        let refused = pool.take(1, limit, now_ms).unwrap().unwrap_err();
        assert_eq!(Some(refused.wait_ms), wait_ms);
    }
    assert!(pool.take(1, 1_000, 10_000).is_none());
    assert!(pool.take(1, 1_001, 0).is_none());
}

#[test]
fn several_permits_are_taken_together_or_not_at_all() {
    let mut pool = Pool::default();
    pool.add(granted(2), (3, 20), at(0), (0, 30_000));
    assert!(pool.take(3, 20, 0).unwrap().is_err());
    assert!(pool.take(2, 20, 0).unwrap().is_ok());
    assert!(pool.take(1, 20, 0).unwrap().is_err());
}

#[test]
fn the_wait_for_a_permit_is_shorter_by_the_time_that_the_query_took() {
    let times = [1_000, 5_000].map(Timestamp::from_millis);
    for (elapsed_ms, expected_ms) in [(0, 4_000), (500, 3_500), (3_999, 1), (4_000, 1), (9_000, 1)]
    {
        assert_eq!(wait_ms(times.into(), elapsed_ms), expected_ms);
    }
}
