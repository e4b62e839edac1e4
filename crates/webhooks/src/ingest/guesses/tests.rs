//! Tests of the parent module.

use super::*;
use gatehouse_domain::{ManualClock, Timestamp};
use gatehouse_store::testing::{postgres, run_sql};
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

fn guesses() -> (Arc<ManualClock>, Guesses) {
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(0)));
    (clock.clone(), Guesses::new(clock))
}

fn client(number: u32) -> ClientKey {
    ClientKey::of(IpAddr::V4(Ipv4Addr::from(number)))
}

fn guess(guesses: &Guesses, number: u32, tokens: u32, is_right: bool) -> Result<bool, u64> {
    let attempt = Attempt {
        webhook: WebhookId::from_text("a"),
        client: client(number),
        tokens,
        per_minute: 20,
    };
    let compare = || is_right.then_some(()).ok_or(VerifyError::Wrong);
    guesses
        .compare_here(attempt, compare)
        .map(|outcome| outcome.is_ok())
}

#[tokio::test]
async fn a_flood_from_many_clients_costs_few_leases() {
    let Some(database) = postgres().await else {
        return;
    };
    let store = database.open().await;
    let (_, guesses) = guesses();
    let guesses = guesses.shared(&store, &TaskTracker::new());
    let flood = (0..200).map(|number| {
        let attempt = Attempt {
            webhook: WebhookId::from_text("a"),
            client: client(number),
            tokens: 1,
            per_minute: SHORT_PER_MINUTE,
        };
        guesses.compare(attempt, || Err::<(), _>(VerifyError::Wrong))
    });
    for compared in futures_util::future::join_all(flood).await {
        assert_eq!(compared, Ok(Err(VerifyError::Wrong)));
    }
    store.close().await;
    // The query fails if the node asked the database for more than 16 clients.
    let leases = "SELECT 1 / (CASE WHEN COUNT(DISTINCT name) BETWEEN 1 AND 16 THEN 1 ELSE 0 END) FROM rate_permits";
    run_sql(&database.location, leases).await;
}

#[test]
fn twenty_wrong_ones_are_compared_and_right_ones_do_not_count() {
    let (clock, guesses) = guesses();
    for _ in 0..20 {
        assert_eq!(guess(&guesses, 1, 1, true), Ok(true));
        assert_eq!(guess(&guesses, 1, 1, false), Ok(false));
        clock.advance(Duration::from_millis(10));
    }
    assert_eq!(guess(&guesses, 1, 1, true), Err(59_800));
    assert_eq!(guess(&guesses, 2, 1, true), Ok(true));
    clock.advance(Duration::from_millis(59_800));
    assert_eq!(guess(&guesses, 1, 1, false), Ok(false));
    assert!(guess(&guesses, 1, 1, true).is_err());
}

#[test]
fn several_tokens_in_one_request_are_several_guesses() {
    let (_, guesses) = guesses();
    assert_eq!(guess(&guesses, 1, 10, false), Ok(false));
    assert_eq!(guess(&guesses, 1, 9, false), Ok(false));
    assert!(guess(&guesses, 1, 2, false).is_err());
    assert_eq!(guess(&guesses, 1, 1, false), Ok(false));
    assert!(guess(&guesses, 1, 1, false).is_err());
}

#[test]
fn a_full_table_forgets_the_oldest_and_delays_nobody() {
    let (_, guesses) = guesses();
    guesses.table.lock().unwrap().capacity = 3;
    for number in 1..=3 {
        for _ in 0..20 {
            assert_eq!(guess(&guesses, number, 1, false), Ok(false));
        }
    }
    assert!(guess(&guesses, 1, 1, false).is_err());
    assert_eq!(guess(&guesses, 4, 1, true), Ok(true));
    assert_eq!(guess(&guesses, 5, 1, false), Ok(false));
    assert!(guess(&guesses, 2, 1, false).is_err());
    let table = guesses.table.lock().unwrap();
    assert_eq!((table.windows.len(), table.order.len()), (3, 3));
}

#[test]
fn what_has_passed_is_forgotten() {
    let (clock, guesses) = guesses();
    assert_eq!(guess(&guesses, 1, 1, false), Ok(false));
    clock.advance(Duration::from_mins(2));
    assert_eq!(guess(&guesses, 2, 1, true), Ok(true));
    let table = guesses.table.lock().unwrap();
    assert_eq!((table.windows.len(), table.order.len()), (0, 0));
}
