//! Limits, windows and buckets of the throttle.

use super::*;
use gatehouse_domain::{ManualClock, Timestamp};
use proptest::prelude::*;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at(Timestamp::from_millis(0)))
}

fn throttle(capacity: usize) -> (Arc<ManualClock>, Throttle) {
    let clock = clock();
    (clock.clone(), Throttle::new(clock, capacity))
}

fn client(number: u32) -> Client {
    Client::at(IpAddr::V4(Ipv4Addr::from_bits(0x0a00_0000 + number)))
}

fn advance(clock: &ManualClock, ms: u64) {
    clock.advance(Duration::from_millis(ms));
}

#[test]
fn each_class_admits_its_limit_and_not_one_more() {
    let sizes = ThrottleClass::ALL.map(ThrottleClass::limit);
    assert_eq!(sizes, [5, 120, 180, 90, 30, 5, 120]);
    let (_, throttle) = throttle(100);
    for class in ThrottleClass::ALL {
        for _ in 0..class.limit() {
            assert_eq!(throttle.would_refuse(class, &client(1)), None);
            assert_eq!(throttle.admit(class, &client(1)), Ok(()), "{class:?}");
        }
        let wait = Err(RetryAfter { ms: 60_000 });
        assert_eq!(throttle.admit(class, &client(1)), wait, "{class:?}");
        assert_eq!(throttle.would_refuse(class, &client(1)), wait.err());
        assert_eq!(throttle.admit(class, &client(2)), Ok(()), "another client");
    }
}

#[test]
fn the_window_slides_and_refusals_do_not_count() {
    let (clock, throttle) = throttle(100);
    let admit = || throttle.admit(ThrottleClass::Login, &client(1));
    for _ in 0..5 {
        assert_eq!(admit(), Ok(()));
        advance(&clock, 1_000);
    }
    for _ in 0..50 {
        assert_eq!(admit(), Err(RetryAfter { ms: 55_000 }));
    }
    advance(&clock, 54_999);
    assert_eq!(admit(), Err(RetryAfter { ms: 1 }));
    advance(&clock, 1);
    assert_eq!(admit(), Ok(()));
    assert_eq!(admit(), Err(RetryAfter { ms: 1_000 }));
}

#[test]
fn a_proxy_that_names_no_client_has_ten_times_the_limit() {
    let (_, throttle) = throttle(100);
    let proxy = Client {
        limit_factor: 10,
        ..client(1)
    };
    for _ in 0..50 {
        assert_eq!(throttle.admit(ThrottleClass::Login, &proxy), Ok(()));
    }
    assert!(throttle.admit(ThrottleClass::Login, &proxy).is_err());
    // A direct client at the proxy's address has a separate bucket.
    assert_eq!(throttle.admit(ThrottleClass::Login, &client(1)), Ok(()));
}

#[test]
fn changing_addresses_behind_one_proxy_are_not_unlimited() {
    let (clock, throttle) = throttle(1_000);
    let behind = |number| Client {
        peer_bucket: Some(client(9_999).key),
        ..client(number)
    };
    for number in 0..10 {
        for _ in 0..5 {
            assert_eq!(
                throttle.admit(ThrottleClass::Login, &behind(number)),
                Ok(())
            );
        }
        assert!(
            throttle
                .admit(ThrottleClass::Login, &behind(number))
                .is_err()
        );
    }
    assert!(throttle.admit(ThrottleClass::Login, &behind(77)).is_err());
    // The request was refused by the proxy's bucket, so it is not counted in the client's own bucket.
    assert_eq!(throttle.lock().len(), 11);
    let bare = Client {
        limit_factor: 10,
        ..client(9_999)
    };
    assert!(
        throttle.admit(ThrottleClass::Login, &bare).is_err(),
        "the same bucket"
    );
    advance(&clock, 60_000);
    assert_eq!(throttle.admit(ThrottleClass::Login, &behind(77)), Ok(()));
}

#[test]
fn when_full_new_clients_share_one_bucket_per_class() {
    let (clock, throttle) = throttle(3);
    let admit = |class, number| throttle.admit(class, &client(number)).is_ok();
    for number in 0..3 {
        assert!(admit(ThrottleClass::Login, number));
    }
    for number in 3..8 {
        assert!(admit(ThrottleClass::Login, number));
    }
    assert!(!admit(ThrottleClass::Login, 8), "the shared bucket is full");
    assert!(
        admit(ThrottleClass::Connect, 8),
        "another class has another one"
    );
    assert!(
        admit(ThrottleClass::Login, 2),
        "a known client keeps its own"
    );
    assert_eq!(throttle.lock().len(), 3);
    advance(&clock, 60_000);
    for _ in 0..5 {
        assert!(admit(ThrottleClass::Login, 8));
    }
    assert_eq!(throttle.lock().len(), 1, "passed keys made room");
}

#[test]
fn a_full_table_finds_room_within_a_second() {
    let (clock, throttle) = throttle(2);
    let admit = |number| {
        throttle
            .admit(ThrottleClass::Login, &client(number))
            .is_ok()
    };
    assert!(admit(1));
    advance(&clock, 30_000);
    assert!(admit(2));
    advance(&clock, 29_000);
    assert!((0..5).all(|_| admit(3)), "shared; sweeps at 59 s");
    advance(&clock, 1_000);
    assert!(admit(4), "client 1 has passed, so client 4 gets its place");
    assert!(
        throttle
            .would_refuse(ThrottleClass::Login, &client(4))
            .is_none()
    );
    assert!(
        throttle
            .would_refuse(ThrottleClass::Login, &client(5))
            .is_some(),
        "full again"
    );
}

#[test]
fn a_proxy_and_its_client_together_stay_within_the_capacity() {
    let (_, throttle) = throttle(2);
    assert!(throttle.admit(ThrottleClass::Login, &client(1)).is_ok());
    let behind = Client {
        peer_bucket: Some(client(9).key),
        ..client(2)
    };
    assert!(throttle.admit(ThrottleClass::Login, &behind).is_ok());
    assert_eq!(throttle.lock().len(), 2);
}

#[test]
fn a_flood_of_clients_stays_small_and_its_memory_is_released() {
    let (clock, throttle) = throttle(DEFAULT_CAPACITY);
    for number in 0..50_000 {
        assert!(throttle.admit(ThrottleClass::Api, &client(number)).is_ok());
    }
    let bytes = throttle.lock().heap_bytes();
    assert!(bytes < 8 * 1024 * 1024, "{bytes} bytes");
    advance(&clock, 60_000);
    throttle.sweep();
    // Locks once, because two locks in one expression would deadlock.
    let windows = throttle.lock();
    assert_eq!((windows.len(), windows.heap_bytes()), (0, 0));
}

#[test]
fn years_without_a_request_do_not_bring_old_counts_back() {
    let (clock, throttle) = throttle(100);
    for _ in 0..5 {
        assert!(throttle.admit(ThrottleClass::Login, &client(1)).is_ok());
    }
    // The clock's low 32 bits are the same as before.
    advance(&clock, 1 << 32);
    assert!(throttle.admit(ThrottleClass::Login, &client(1)).is_ok());
}

#[test]
fn windows_hold_across_the_32_bit_edge() {
    let (clock, throttle) = throttle(100);
    advance(&clock, (1 << 32) - 500);
    for _ in 0..5 {
        assert!(throttle.admit(ThrottleClass::Login, &client(1)).is_ok());
    }
    advance(&clock, 1_000);
    let refused = throttle.admit(ThrottleClass::Login, &client(1));
    assert_eq!(refused, Err(RetryAfter { ms: 59_000 }));
    advance(&clock, 59_000);
    assert!(throttle.admit(ThrottleClass::Login, &client(1)).is_ok());
}

proptest! {
    #[test]
    fn it_decides_as_a_naive_model_does(
        steps in proptest::collection::vec((0_u64..25_000, 0_u32..3, any::<bool>()), 1..300),
        quick in any::<bool>(),
    ) {
        let (clock, throttle) = throttle(100);
        let mut model: HashMap<(u32, ThrottleClass), Vec<u64>> = HashMap::new();
        let mut now = 0;
        for (ms, number, login) in steps {
            let step = if quick { ms / 20 } else { ms };
            now += step;
            advance(&clock, step);
            let class = if login { ThrottleClass::Login } else { ThrottleClass::WebSocket };
            let admitted = model.entry((number, class)).or_default();
            let live: Vec<u64> = admitted.iter().copied().filter(|at| now - at < 60_000).collect();
            let expected = if live.len() < class.limit() as usize {
                admitted.push(now);
                Ok(())
            } else {
                Err(RetryAfter { ms: live[0] + 60_000 - now })
            };
            prop_assert_eq!(throttle.would_refuse(class, &client(number)), expected.err());
            prop_assert_eq!(throttle.admit(class, &client(number)), expected);
        }
        for ((_, class), admitted) in model {
            let limit = class.limit() as usize;
            prop_assert!(admitted.windows(limit + 1).all(|w| w[limit] - w[0] >= 60_000));
        }
    }
}
