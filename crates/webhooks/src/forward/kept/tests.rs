//! Limits of the requests in memory.

use super::*;
use gatehouse_domain::{ManualClock, SeededRandom};

const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

fn webhook(number: u64) -> WebhookId {
    WebhookId::generate(&ManualClock::at(NOW), &SeededRandom::new(number))
}

fn delivery(number: u64) -> DeliveryId {
    DeliveryId::generate(&ManualClock::at(NOW), &SeededRandom::new(number))
}

fn request(bytes: usize) -> Original {
    Original::of(
        &HeaderMap::new(),
        "https://a.example/x",
        &vec![b'x'; bytes].into(),
    )
}

#[test]
fn requests_are_kept_only_while_someone_forwards() {
    let (originals, id) = (Originals::default(), webhook(1));
    originals.put(&id, delivery(1), request(1));
    assert!(originals.find(&id, &delivery(1), NOW).is_none());
    let until = originals.keep(&id, NOW).unwrap();
    assert_eq!(until, NOW.after(Duration::from_secs(KEPT_SECONDS)));
    originals.put(&id, delivery(1), request(1));
    let before_end = Timestamp::from_millis(until.as_millis() - 1);
    assert!(originals.find(&id, &delivery(1), before_end).is_some());
    assert!(originals.find(&webhook(2), &delivery(1), NOW).is_none());
    assert!(originals.find(&id, &delivery(1), until).is_none());
    assert!(!originals.is_kept(&id, until));
    // The requests were dropped when the time had passed.
    assert!(originals.find(&id, &delivery(1), NOW).is_none());
}

#[test]
fn the_oldest_are_dropped_beyond_the_number() {
    let (originals, id) = (Originals::default(), webhook(1));
    originals.keep(&id, NOW).unwrap();
    let most = u64::try_from(MAX_REQUESTS).unwrap();
    for number in 0..=most {
        originals.put(&id, delivery(number), request(1));
        assert!(originals.find(&id, &delivery(number), NOW).is_some());
        let first = originals.find(&id, &delivery(0), NOW);
        assert_eq!(first.is_some(), number < most);
    }
    assert!(originals.find(&id, &delivery(1), NOW).is_some());
}

#[test]
fn the_oldest_are_dropped_beyond_the_size_but_one_stays() {
    let (originals, id) = (Originals::default(), webhook(1));
    originals.keep(&id, NOW).unwrap();
    originals.put(&id, delivery(1), request(MAX_BYTES - 1));
    originals.put(&id, delivery(2), request(1));
    assert!(originals.find(&id, &delivery(1), NOW).is_some());
    originals.put(&id, delivery(3), request(1));
    assert!(originals.find(&id, &delivery(1), NOW).is_none());
    assert!(originals.find(&id, &delivery(2), NOW).is_some());
    originals.put(&id, delivery(4), request(MAX_BYTES + 1));
    assert!(originals.find(&id, &delivery(3), NOW).is_none());
    assert!(originals.find(&id, &delivery(4), NOW).is_some());
    originals.take_back(&id, &delivery(4));
    assert!(originals.find(&id, &delivery(4), NOW).is_none());
    originals.put(&id, delivery(5), request(MAX_BYTES));
    assert!(originals.find(&id, &delivery(5), NOW).is_some());
}

#[test]
fn a_seventeenth_webhook_is_refused_until_one_ends() {
    let originals = Originals::default();
    for number in 0..u64::try_from(MAX_WEBHOOKS).unwrap() {
        originals.keep(&webhook(number), NOW).unwrap();
    }
    assert!(originals.keep(&webhook(99), NOW).is_err());
    assert!(originals.keep(&webhook(0), NOW).is_ok());
    originals.forget(&webhook(0));
    assert!(originals.keep(&webhook(99), NOW).is_ok());
    let later = NOW.after(Duration::from_secs(KEPT_SECONDS));
    assert!(originals.keep(&webhook(100), later).is_ok());
    originals.forget_all();
    assert!(!originals.is_kept(&webhook(100), later));
}
