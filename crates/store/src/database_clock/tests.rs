//! Measurements of the clock, and when they are used.

use super::*;
use crate::testing::{postgres, run_sql, sqlite};
use crate::{RateKey, RateLeases, RateRefused};
use gatehouse_domain::{ManualClock, SystemClock};
use tokio_util::task::TaskTracker;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Logins;

impl RateKey for Logins {
    fn name(&self) -> String {
        "logins".to_owned()
    }
}

fn wrong_clock(wrong_ms: i64) -> Arc<ManualClock> {
    let system: &dyn Clock = &SystemClock::new();
    let shown_ms = system.now().as_millis().saturating_add(wrong_ms);
    Arc::new(ManualClock::at(Timestamp::from_millis(shown_ms)))
}

/// Uses all five permits of a minute.
async fn take_all(node: &Arc<RateLeases<Logins>>) -> Result<(), RateRefused> {
    let taken = node.take(Logins, (5, 5)).await.unwrap();
    taken.map(|mut permit| permit.set_used(true))
}

#[tokio::test]
async fn nodes_whose_clocks_differ_by_half_a_minute_share_a_limit_exactly() {
    for wrong_ms in [30_000, -30_000] {
        let Some(database) = postgres().await else {
            return;
        };
        let stores = [database.open().await, database.open().await];
        let clocks = [wrong_clock(0), wrong_clock(wrong_ms)];
        let mut nodes = Vec::new();
        for (store, manual) in stores.iter().zip(&clocks) {
            let clock: Arc<dyn Clock> = Arc::<ManualClock>::clone(manual);
            store.measure_clock(&clock).await.unwrap().unwrap();
            let (store, tasks) = (store.clone(), TaskTracker::new());
            nodes.push(Arc::new(RateLeases::new(store, clock, tasks, 60_000)));
        }
        let advance = |seconds| {
            for clock in &clocks {
                clock.advance(Duration::from_secs(seconds));
            }
        };
        take_all(&nodes[0]).await.unwrap();
        let refused = take_all(&nodes[1]).await.unwrap_err();
        let wait_ms = refused.wait_ms;
        assert!(
            (50_000..=60_100).contains(&wait_ms),
            "{wrong_ms}: {wait_ms}"
        );
        advance(31);
        assert!(take_all(&nodes[1]).await.is_err(), "{wrong_ms}");
        advance(31);
        take_all(&nodes[1]).await.unwrap();
        // The first node counts the permits that the second node has used.
        assert!(take_all(&nodes[0]).await.is_err(), "{wrong_ms}");
        for store in &stores {
            store.close().await;
        }
    }
}

/// Returns a moment on both clocks.
const fn moment(monotonic_ms: u64, wall_ms: i64) -> NodeTime {
    NodeTime {
        monotonic_ms,
        wall: Timestamp::from_millis(wall_ms),
    }
}

/// Returns a measurement at the origin of the monotonic clock. The server's clock was equal to this wall clock.
fn reading_at(wall: Timestamp) -> Reading {
    let asked = moment(0, wall.as_millis());
    Reading::new((asked, asked), wall.as_millis())
}

fn as_clock(manual: &Arc<ManualClock>) -> Arc<dyn Clock> {
    Arc::<ManualClock>::clone(manual)
}

#[tokio::test]
async fn a_measurement_returns_how_far_the_wall_clock_is_ahead() {
    let Some(database) = postgres().await else {
        return;
    };
    let store = database.open().await;
    for wrong_ms in [0, 30_000, -30_000] {
        let manual = wrong_clock(wrong_ms);
        let clock = as_clock(&manual);
        let ahead_ms = store.measure_clock(&clock).await.unwrap().unwrap();
        let shared = store.shared_now(&clock).await;
        assert!(ahead_ms.abs_diff(wrong_ms) < 10_000, "{ahead_ms}");
        assert_eq!(clock.now().as_millis() - shared.as_millis(), ahead_ms);
        // The wall clock is moved by a few seconds.
        manual.set_wall(clock.now().after(Duration::from_secs(5)));
        assert_eq!(store.shared_now(&clock).await, shared);
        manual.advance(Duration::from_secs(1));
        let later = shared.after(Duration::from_secs(1));
        assert_eq!(store.shared_now(&clock).await, later);
    }
    store.close().await;
}

#[tokio::test]
async fn after_the_host_was_suspended_the_clock_is_measured_before_it_is_used() {
    let Some(database) = postgres().await else {
        return;
    };
    let store = database.open().await;
    let manual = wrong_clock(-600_000);
    let clock = as_clock(&manual);
    store.database_clock.set(reading_at(clock.now()), 0);
    assert_eq!(store.shared_now(&clock).await, clock.now());
    // Ten minutes later, the wall clock is right, or wrong by a minute.
    for wrong_ms in [0, 60_000] {
        let right = wrong_clock(0).now();
        let shown_ms = right.as_millis() + wrong_ms;
        manual.set_wall(Timestamp::from_millis(shown_ms));
        let shared = store.shared_now(&clock).await;
        let off_ms = shared.as_millis().abs_diff(right.as_millis());
        assert!(off_ms < 10_000, "{wrong_ms}: {off_ms}");
    }
    store.close().await;
}

#[tokio::test]
async fn an_old_measurement_is_repeated_before_it_is_used() {
    let Some(database) = postgres().await else {
        return;
    };
    let store = database.open().await;
    let manual = wrong_clock(600_000);
    let clock = as_clock(&manual);
    store.database_clock.set(reading_at(clock.now()), 0);
    manual.advance(Duration::from_millis(LONGEST_AGE_MS));
    assert_eq!(store.shared_now(&clock).await, clock.now(), "at the limit");
    manual.advance(Duration::from_millis(1));
    let shared = store.shared_now(&clock).await;
    let off_ms = shared
        .as_millis()
        .abs_diff(wrong_clock(0).now().as_millis());
    assert!(off_ms < 10_000, "{off_ms}");
    store.close().await;
}

#[tokio::test]
async fn after_a_reconnection_the_clock_is_measured_before_it_is_used() {
    let Some(database) = postgres().await else {
        return;
    };
    let store = database.open().await;
    let mut heard = store.notified();
    let connected = *heard.wait_for(|count| *count > 0).await.unwrap();
    // The clock of the first server and the clock of this node are both ten minutes ahead.
    let manual = wrong_clock(600_000);
    let clock = as_clock(&manual);
    store.database_clock.set(reading_at(clock.now()), 0);
    assert_eq!(store.shared_now(&clock).await, clock.now());
    let end_connections = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()";
    run_sql(&database.location, end_connections).await;
    assert!(heard.wait_for(|count| *count > connected).await.is_ok());
    let is_due = || store.database_clock.is_due(NodeTime::of(&*clock));
    assert!(is_due());
    let mut shared = store.shared_now(&clock).await;
    // The connections of readers were also closed, so a measurement may fail.
    let measured = timeout(Duration::from_mins(1), async {
        while is_due() {
            manual.advance(Duration::from_millis(RETRY_MS));
            shared = store.shared_now(&clock).await;
        }
    });
    measured.await.unwrap();
    let off_ms = shared
        .as_millis()
        .abs_diff(wrong_clock(0).now().as_millis());
    assert!(off_ms < 10_000, "{off_ms}");
    store.close().await;
}

#[tokio::test]
async fn after_a_failed_measurement_callers_use_the_wall_clock_without_waiting() {
    // SQLite has no server whose clock could be measured.
    let database = sqlite();
    let store = database.open().await;
    let manual = Arc::new(ManualClock::at(Timestamp::from_millis(1_000_000)));
    let clock = as_clock(&manual);
    store.database_clock.set(reading_at(clock.now()), 0);
    let shown = Timestamp::from_millis(2_000_000);
    manual.set_wall(shown);
    for (advance_ms, retry_at_ms) in [(0, RETRY_MS), (RETRY_MS - 1, RETRY_MS), (1, 2 * RETRY_MS)] {
        manual.advance(Duration::from_millis(advance_ms));
        assert_eq!(store.shared_now(&clock).await, clock.now());
        assert_eq!(*store.database_clock.retry_at_ms.lock().await, retry_at_ms);
    }
    store.close().await;
}

#[tokio::test]
async fn after_a_reconnection_the_earlier_measurement_is_not_used() {
    // SQLite has no server whose clock could be measured.
    let database = sqlite();
    let store = database.open().await;
    let wall = Timestamp::from_millis(1_000_000);
    let clock: Arc<dyn Clock> = Arc::new(ManualClock::at(wall));
    let server = wall.after(Duration::from_secs(2));
    store.database_clock.set(reading_at(server), 0);
    assert_eq!(store.shared_now(&clock).await, server);
    store.database_clock.note_reconnection();
    assert_eq!(store.shared_now(&clock).await, wall);
    store.close().await;
}

#[tokio::test]
async fn before_a_measurement_and_on_sqlite_the_clock_of_the_node_is_used() {
    let manual = wrong_clock(30_000);
    let clock: Arc<dyn Clock> = manual;
    if let Some(database) = postgres().await {
        let store = database.open().await;
        assert_eq!(store.shared_now(&clock).await, clock.now());
        store.close().await;
    }
    let database = sqlite();
    let store = database.open().await;
    assert_eq!(store.measure_clock(&clock).await.unwrap(), None);
    assert_eq!(store.shared_now(&clock).await, clock.now());
    store.close().await;
}

#[test]
fn the_server_reads_its_clock_in_the_middle_of_the_round_trip() {
    let round_trip = (moment(1_000, 79_950), moment(1_100, 80_050));
    let reading = Reading::new(round_trip, 50_000);
    let expected = Reading {
        round_trip_ms: 100,
        answered_ms: 1_100,
        origin_ms: 48_950,
        ahead_ms: 30_000,
    };
    assert_eq!(reading, expected);
    let clock = DatabaseClock::default();
    let now = moment(1_100, 80_050);
    assert_eq!(clock.at(now), None);
    assert!(!clock.is_due(now));
    clock.set(reading, 0);
    assert_eq!(clock.at(now), Some(Timestamp::from_millis(50_050)));
}

#[test]
fn a_round_trip_of_more_than_a_second_is_not_used() {
    let asked = moment(5, 0);
    let is_exact = |answered| Reading::new((asked, answered), 0).is_exact();
    assert!(is_exact(moment(1_005, 1_000)));
    assert!(!is_exact(moment(1_006, 1_000)));
    // The host was suspended during the query.
    assert!(!is_exact(moment(1_005, 1_001)));
}

#[test]
fn an_old_measurement_and_one_before_the_clocks_diverged_are_not_used() {
    let reading = reading_at(Timestamp::from_millis(1_000_000));
    for (now, is_valid) in [
        (moment(0, 1_000_000), true),
        (moment(300_000, 1_300_000), true),
        (moment(300_001, 1_300_001), false),
        (moment(1_000, 1_006_000), true),
        (moment(1_000, 1_006_001), false),
        (moment(1_000, 996_000), true),
        (moment(1_000, 995_999), false),
    ] {
        assert_eq!(reading.is_valid_at(now), is_valid, "{now:?}");
    }
}

#[tokio::test]
async fn a_clock_that_only_a_test_moves_is_not_measured() {
    let Some(database) = postgres().await else {
        return;
    };
    let store = database.open().await;
    let clock: Arc<dyn Clock> = wrong_clock(30_000);
    store.ignore_database_clock(true);
    assert_eq!(store.measure_clock(&clock).await.unwrap(), None);
    assert_eq!(store.shared_now(&clock).await, clock.now());
    store.close().await;
}
