//! Tests of the parent module.

use super::*;
use crate::testing::{hold_write_lock, postgres, sqlite, until_waits_for};
use gatehouse_domain::ManualClock;

const LEASE: Duration = Duration::from_mins(5);

fn manual_at(now: Timestamp) -> (Arc<ManualClock>, Arc<dyn Clock>) {
    let manual = Arc::new(ManualClock::at(now));
    (Arc::clone(&manual), manual)
}

#[tokio::test]
async fn one_node_has_a_duty_until_it_is_gone() {
    let Some(database) = postgres().await else {
        return;
    };
    let (one, two) = (database.open().await, database.open().await);
    let (manual, clock) = manual_at(Timestamp::from_millis(1_795_000_000_000));
    let (first, second) = (Duty::new("sweep", LEASE), Duty::new("sweep", LEASE));
    let first = async || first.claim(&one, &clock, "one").await.unwrap();
    let second = async || second.claim(&two, &clock, "two").await.unwrap();
    assert!(first().await);
    assert!(!second().await);
    // The holder keeps the duty while it renews its claim in time.
    for _ in 0..5 {
        manual.advance(Duration::from_mins(4));
        assert!(first().await && !second().await);
    }
    manual.advance(LEASE.saturating_sub(Duration::from_millis(1)));
    assert!(!second().await, "at the limit");
    manual.advance(Duration::from_millis(1));
    assert!(second().await, "the first node is gone");
    assert!(!first().await, "the first node is back");
    // A different duty can belong to a different node.
    let other = Duty::new("other", LEASE);
    assert!(other.claim(&one, &clock, "one").await.unwrap());
}

#[tokio::test]
async fn a_node_whose_clock_was_ahead_does_not_keep_a_duty_for_long() {
    let Some(database) = postgres().await else {
        return;
    };
    let (one, two) = (database.open().await, database.open().await);
    let (_, clock) = manual_at(Timestamp::from_millis(1_795_000_000_000));
    let past = LEASE.saturating_add(Duration::from_millis(1));
    for (name, ahead, is_taken) in [
        ("at the limit", LEASE, false),
        ("past the limit", past, true),
        ("a day", Duration::from_hours(24), true),
    ] {
        let (first, second) = (Duty::new(name, LEASE), Duty::new(name, LEASE));
        let (_, wrong) = manual_at(clock.now().after(ahead));
        assert!(first.claim(&one, &wrong, "one").await.unwrap());
        let claimed = second.claim(&two, &clock, "two").await.unwrap();
        assert_eq!(claimed, is_taken, "{name}");
    }
}

#[tokio::test]
async fn a_node_that_was_suspended_does_not_keep_a_duty_that_another_node_has_taken() {
    let Some(database) = postgres().await else {
        return;
    };
    let (one, two) = (database.open().await, database.open().await);
    let (suspended, its_clock) = manual_at(Timestamp::from_millis(1_795_000_000_000));
    let (manual, clock) = manual_at(its_clock.now());
    let (first, second) = (Duty::new("sweep", LEASE), Duty::new("sweep", LEASE));
    assert!(first.claim(&one, &its_clock, "one").await.unwrap());
    manual.advance(LEASE);
    assert!(second.claim(&two, &clock, "two").await.unwrap());
    // The first node was suspended: its wall clock advanced and its monotonic clock did not.
    suspended.set_wall(clock.now());
    assert!(!first.claim(&one, &its_clock, "one").await.unwrap());
    for store in [one, two] {
        store.close().await;
    }
}

#[tokio::test]
async fn a_node_that_was_suspended_during_its_claim_has_no_duty() {
    let Some(database) = postgres().await else {
        return;
    };
    let store = database.open().await;
    for (wait, is_claimed) in [
        (LEASE.saturating_sub(Duration::from_millis(1)), true),
        (LEASE, false),
    ] {
        let (manual, clock) = manual_at(Timestamp::from_millis(1_795_000_000_000));
        let duty = Duty::new("sweep", LEASE);
        let held = hold_write_lock(&database.location).await;
        let suspended = async {
            until_waits_for(&database.location, "advisory").await;
            manual.advance(wait);
            drop(held);
        };
        let (claimed, ()) = tokio::join!(duty.claim(&store, &clock, "one"), suspended);
        assert_eq!(claimed.unwrap(), is_claimed, "{wait:?}");
    }
    store.close().await;
}

#[tokio::test]
async fn a_node_that_is_alone_has_every_duty() {
    let database = sqlite();
    let store = database.open().await;
    let (_, clock) = manual_at(Timestamp::from_millis(1));
    for node in ["one", "two"] {
        let duty = Duty::new("sweep", LEASE);
        assert!(duty.claim(&store, &clock, node).await.unwrap());
    }
}
