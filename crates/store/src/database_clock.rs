//! The clock of the database server, which the nodes of a database share. A node measures how far it is from its own
//! monotonic clock. Changes of the node's wall clock have no effect between two measurements.

use crate::sql::query;
use crate::{Conn, Store, StoreError};
use gatehouse_domain::{Clock, Timestamp};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Queries per measurement. The fastest one counts. The first may also prepare the statement.
const QUERIES: usize = 3;
/// The longest round trip of a query that counts. The time that it returns is exact to half of it.
const LONGEST_ROUND_TRIP_MS: u64 = 1_000;
/// The value before the first measurement.
const UNKNOWN: i64 = i64::MIN;

/// The server's time, in Unix milliseconds, at the origin of this node's monotonic clock.
#[derive(Debug)]
pub(crate) struct DatabaseClock(AtomicI64);

impl Default for DatabaseClock {
    fn default() -> Self {
        Self(AtomicI64::new(UNKNOWN))
    }
}

impl DatabaseClock {
    fn set(&self, reading: &Reading) {
        self.0.store(reading.origin_ms, Ordering::Relaxed);
    }

    fn at(&self, monotonic_ms: u64) -> Option<Timestamp> {
        let origin_ms = self.0.load(Ordering::Relaxed);
        (origin_ms != UNKNOWN)
            .then(|| Timestamp::from_millis(origin_ms.saturating_add(signed(monotonic_ms))))
    }
}

/// One answer of the server, compared with the clocks of this node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "the unit belongs to the name")]
struct Reading {
    round_trip_ms: u64,
    /// See [`DatabaseClock`].
    origin_ms: i64,
    /// How far the wall clock of this node is ahead.
    ahead_ms: i64,
}

impl Reading {
    /// Compares the server's time with the monotonic times of the query and of its answer, and with the wall clock at
    /// the answer. The server is assumed to read its clock in the middle of the round trip.
    fn new((asked_ms, answered_ms): (u64, u64), server_ms: i64, wall: Timestamp) -> Self {
        let round_trip_ms = answered_ms.saturating_sub(asked_ms);
        let server_ms = server_ms.saturating_add(signed(round_trip_ms / 2));
        Self {
            round_trip_ms,
            origin_ms: server_ms.saturating_sub(signed(answered_ms)),
            ahead_ms: wall.as_millis().saturating_sub(server_ms),
        }
    }

    const fn is_exact(&self) -> bool {
        self.round_trip_ms <= LONGEST_ROUND_TRIP_MS
    }
}

fn signed(ms: u64) -> i64 {
    i64::try_from(ms).unwrap_or(i64::MAX)
}

async fn read_clock(
    conn: &mut Conn,
    sql: &'static str,
    clock: &dyn Clock,
) -> Result<Reading, StoreError> {
    let asked_ms = clock.monotonic_ms();
    let server_ms = conn.number(query(sql)).await?;
    let answered_ms = clock.monotonic_ms();
    Ok(Reading::new(
        (asked_ms, answered_ms),
        server_ms,
        clock.now(),
    ))
}

impl Store {
    /// Returns the time of the database server, for times that nodes compare with each other. Before the first
    /// [`Self::measure_clock`], and on SQLite, it is the time of `clock`, which must be the clock that was measured.
    pub fn shared_now(&self, clock: &dyn Clock) -> Timestamp {
        let of_database = self.database_clock.at(clock.monotonic_ms());
        of_database.unwrap_or_else(|| clock.now())
    }

    /// Compares `clock` with the clock of the database server, for [`Self::shared_now`]. Returns how many milliseconds
    /// the wall clock is ahead, negative if it is behind. Returns `None` on SQLite, and if the server answers too
    /// slowly for a comparison; then an earlier measurement continues to apply.
    pub async fn measure_clock(&self, clock: &Arc<dyn Clock>) -> Result<Option<i64>, StoreError> {
        let Some(sql) = self.engine.read_clock() else {
            return Ok(None);
        };
        // It must not wait for lists.
        let readers = self.readers.with_reserved();
        let clock = Arc::clone(clock);
        let read = readers.read(move |conn| {
            Box::pin(async move {
                let mut readings = Vec::with_capacity(QUERIES);
                for _ in 0..QUERIES {
                    readings.push(read_clock(conn, sql, &*clock).await?);
                }
                Ok::<_, StoreError>(readings)
            })
        });
        let readings: Vec<Reading> = read.await?;
        let fastest = readings.into_iter().min_by_key(|it| it.round_trip_ms);
        let exact = fastest.filter(Reading::is_exact);
        Ok(exact.map(|reading| {
            self.database_clock.set(&reading);
            reading.ahead_ms
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{postgres, sqlite};
    use crate::{RateKey, RateLeases, RateRefused};
    use gatehouse_domain::{ManualClock, SystemClock};
    use std::time::Duration;
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
            // The permits of the second node count on the first.
            assert!(take_all(&nodes[0]).await.is_err(), "{wrong_ms}");
            for store in &stores {
                store.close().await;
            }
        }
    }

    #[tokio::test]
    async fn a_measurement_returns_how_far_the_wall_clock_is_ahead() {
        let Some(database) = postgres().await else {
            return;
        };
        let store = database.open().await;
        for wrong_ms in [0, 30_000, -30_000] {
            let manual = wrong_clock(wrong_ms);
            let clock: Arc<dyn Clock> = Arc::<ManualClock>::clone(&manual);
            let ahead_ms = store.measure_clock(&clock).await.unwrap().unwrap();
            let shared = store.shared_now(&*clock);
            assert!(ahead_ms.abs_diff(wrong_ms) < 10_000, "{ahead_ms}");
            assert_eq!(clock.now().as_millis() - shared.as_millis(), ahead_ms);
            // The wall clock is set; time passes.
            manual.set_wall(Timestamp::from_millis(0));
            assert_eq!(store.shared_now(&*clock), shared);
            manual.advance(Duration::from_secs(1));
            let later = shared.after(Duration::from_secs(1));
            assert_eq!(store.shared_now(&*clock), later);
        }
        store.close().await;
    }

    #[tokio::test]
    async fn before_a_measurement_and_on_sqlite_the_clock_of_the_node_counts() {
        let manual = wrong_clock(30_000);
        let clock: Arc<dyn Clock> = manual;
        if let Some(database) = postgres().await {
            let store = database.open().await;
            assert_eq!(store.shared_now(&*clock), clock.now());
            store.close().await;
        }
        let database = sqlite();
        let store = database.open().await;
        assert_eq!(store.measure_clock(&clock).await.unwrap(), None);
        assert_eq!(store.shared_now(&*clock), clock.now());
        store.close().await;
    }

    #[test]
    fn the_server_reads_its_clock_in_the_middle_of_the_round_trip() {
        let wall = Timestamp::from_millis(80_050);
        let reading = Reading::new((1_000, 1_100), 50_000, wall);
        let expected = Reading {
            round_trip_ms: 100,
            origin_ms: 48_950,
            ahead_ms: 30_000,
        };
        assert_eq!(reading, expected);
        let clock = DatabaseClock::default();
        assert_eq!(clock.at(0), None);
        clock.set(&reading);
        assert_eq!(clock.at(1_100), Some(Timestamp::from_millis(50_050)));
    }

    #[test]
    fn a_round_trip_of_more_than_a_second_does_not_count() {
        let wall = Timestamp::from_millis(0);
        assert!(Reading::new((5, 5 + LONGEST_ROUND_TRIP_MS), 0, wall).is_exact());
        assert!(!Reading::new((5, 6 + LONGEST_ROUND_TRIP_MS), 0, wall).is_exact());
    }
}
