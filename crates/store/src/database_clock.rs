//! The clock of the database server, which the nodes of a database share. A node measures how far it is from its own
//! monotonic clock. Between two measurements, a change of the node's wall clock of a few seconds has no effect. After a
//! larger one, the node measures again: the monotonic clock stops while the host is suspended.

use crate::sql::query;
use crate::{Conn, Store, StoreError};
use gatehouse_domain::{Clock, Timestamp};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::timeout;

/// Queries per measurement. The fastest one counts. The first may also prepare the statement.
const QUERIES: usize = 3;
/// The longest round trip of a query that counts. The time that it returns is exact to half of it.
const LONGEST_ROUND_TRIP_MS: u64 = 1_000;
/// The maximum age of a measurement that counts.
const LONGEST_AGE_MS: u64 = 5 * 60 * 1_000;
/// How far the wall clock and the monotonic clock may diverge before a measurement no longer counts.
const LARGEST_DIVERGENCE_MS: u64 = 5_000;
/// How long a caller waits for a measurement. Requests wait two seconds for a shared limit, including this.
const PATIENCE: Duration = Duration::from_secs(1);
/// The time after a failed measurement in which callers do not wait for another one.
const RETRY_MS: u64 = 5_000;

/// The last measurement.
#[derive(Debug, Default)]
pub(crate) struct DatabaseClock {
    measured: Mutex<Option<Measured>>,
    /// How often the connection to the server was reopened. The server may be another one since.
    reconnections: AtomicU64,
    /// When callers may wait for a measurement again, in milliseconds of the monotonic clock. Locked while one is made.
    retry_at_ms: tokio::sync::Mutex<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Measured {
    reading: Reading,
    /// See [`DatabaseClock`].
    reconnections: u64,
}

impl DatabaseClock {
    /// Makes the next caller measure before it uses the time.
    pub(crate) fn note_reconnection(&self) {
        self.reconnections.fetch_add(1, Ordering::Relaxed);
    }

    fn measured(&self) -> MutexGuard<'_, Option<Measured>> {
        // The value is replaced as a whole.
        self.measured.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores a reading, and the number of reconnections before its query.
    fn set(&self, reading: Reading, reconnections: u64) {
        *self.measured() = Some(Measured {
            reading,
            reconnections,
        });
    }

    /// Returns the server's time if a measurement counts.
    fn at(&self, now: NodeTime) -> Option<Timestamp> {
        let reading = self.measured().map(|it| it.reading)?;
        reading.counts_at(now).then(|| reading.server_time(now))
    }

    /// Whether the last measurement must be repeated before it is used.
    fn is_due(&self, now: NodeTime) -> bool {
        let reconnections = self.reconnections.load(Ordering::Relaxed);
        self.measured()
            .is_some_and(|it| it.reconnections != reconnections || !it.reading.counts_at(now))
    }
}

/// The same moment on both clocks of this node.
#[derive(Clone, Copy, Debug)]
struct NodeTime {
    monotonic_ms: u64,
    wall: Timestamp,
}

impl NodeTime {
    fn of(clock: &dyn Clock) -> Self {
        Self {
            monotonic_ms: clock.monotonic_ms(),
            wall: clock.now(),
        }
    }

    /// The wall clock, in Unix milliseconds, at the origin of the monotonic clock.
    fn wall_origin_ms(self) -> i64 {
        self.wall
            .as_millis()
            .saturating_sub(signed(self.monotonic_ms))
    }
}

/// One answer of the server, compared with the clocks of this node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "the unit belongs to the name")]
struct Reading {
    round_trip_ms: u64,
    /// When the server answered, on the monotonic clock.
    answered_ms: u64,
    /// The server's time, in Unix milliseconds, at the origin of this node's monotonic clock.
    origin_ms: i64,
    /// How far the wall clock of this node is ahead.
    ahead_ms: i64,
}

impl Reading {
    /// Compares the server's time with the times of the query and of its answer on this node. The server is assumed to
    /// read its clock in the middle of the round trip.
    fn new((asked, answered): (NodeTime, NodeTime), server_ms: i64) -> Self {
        let monotonic_ms = answered.monotonic_ms.saturating_sub(asked.monotonic_ms);
        // Only the wall clock counts the time in which the host was suspended.
        let wall_ms = answered.wall.as_millis().abs_diff(asked.wall.as_millis());
        let server_ms = server_ms.saturating_add(signed(monotonic_ms / 2));
        Self {
            round_trip_ms: monotonic_ms.max(wall_ms),
            answered_ms: answered.monotonic_ms,
            origin_ms: server_ms.saturating_sub(signed(answered.monotonic_ms)),
            ahead_ms: answered.wall.as_millis().saturating_sub(server_ms),
        }
    }

    const fn is_exact(&self) -> bool {
        self.round_trip_ms <= LONGEST_ROUND_TRIP_MS
    }

    /// Whether the reading still applies: it is not old, and the clocks of this node have not diverged since.
    fn counts_at(&self, now: NodeTime) -> bool {
        let age_ms = now.monotonic_ms.saturating_sub(self.answered_ms);
        let wall_origin_ms = self.origin_ms.saturating_add(self.ahead_ms);
        let divergence_ms = now.wall_origin_ms().abs_diff(wall_origin_ms);
        age_ms <= LONGEST_AGE_MS && divergence_ms <= LARGEST_DIVERGENCE_MS
    }

    fn server_time(&self, now: NodeTime) -> Timestamp {
        Timestamp::from_millis(self.origin_ms.saturating_add(signed(now.monotonic_ms)))
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
    let asked = NodeTime::of(clock);
    let server_ms = conn.number(query(sql)).await?;
    Ok(Reading::new((asked, NodeTime::of(clock)), server_ms))
}

impl Store {
    /// Returns the time of the database server, for times that nodes compare with each other. Measures first if the
    /// last measurement no longer counts, or if the connection to the server was reopened since. Without a measurement
    /// that counts, it is the time of `clock`, which must be the clock that was measured. So it is on SQLite and before
    /// the first [`Self::measure_clock`].
    pub async fn shared_now(&self, clock: &Arc<dyn Clock>) -> Timestamp {
        if self.database_clock.is_due(NodeTime::of(&**clock)) {
            self.measure_again(clock).await;
        }
        let now = NodeTime::of(&**clock);
        self.database_clock.at(now).unwrap_or(now.wall)
    }

    /// Repeats a measurement. Concurrent callers wait for the same one.
    async fn measure_again(&self, clock: &Arc<dyn Clock>) {
        let mut retry_at_ms = self.database_clock.retry_at_ms.lock().await;
        let now = NodeTime::of(&**clock);
        if now.monotonic_ms < *retry_at_ms || !self.database_clock.is_due(now) {
            return;
        }
        let measured = timeout(PATIENCE, self.measure_clock(clock)).await;
        if !matches!(measured, Ok(Ok(Some(_)))) {
            tracing::debug!(
                ?measured,
                "the clock of the database was not measured again"
            );
            *retry_at_ms = clock.monotonic_ms().saturating_add(RETRY_MS);
        }
    }

    /// Compares `clock` with the clock of the database server, for [`Self::shared_now`]. Returns how many milliseconds
    /// the wall clock is ahead, negative if it is behind. Returns `None` on SQLite, and if the server answers too
    /// slowly for a comparison; then an earlier measurement continues to apply as long as it counts.
    pub async fn measure_clock(&self, clock: &Arc<dyn Clock>) -> Result<Option<i64>, StoreError> {
        let Some(sql) = self.engine.read_clock() else {
            return Ok(None);
        };
        let reconnections = self.database_clock.reconnections.load(Ordering::Relaxed);
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
            self.database_clock.set(reading, reconnections);
            reading.ahead_ms
        }))
    }
}

#[cfg(test)]
mod tests {
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
            // The permits of the second node count on the first.
            assert!(take_all(&nodes[0]).await.is_err(), "{wrong_ms}");
            for store in &stores {
                store.close().await;
            }
        }
    }

    /// The moment of both clocks.
    const fn moment(monotonic_ms: u64, wall_ms: i64) -> NodeTime {
        NodeTime {
            monotonic_ms,
            wall: Timestamp::from_millis(wall_ms),
        }
    }

    /// A measurement at the start of the monotonic clock, at which the server's clock was equal to this wall clock.
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
            // The wall clock is set by a few seconds; time passes.
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
        // The earlier server was ahead by ten minutes, as is this node.
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
        // The connections of readers were ended too, so a measurement may fail.
        while is_due() {
            manual.advance(Duration::from_millis(RETRY_MS));
            shared = store.shared_now(&clock).await;
        }
        let off_ms = shared
            .as_millis()
            .abs_diff(wrong_clock(0).now().as_millis());
        assert!(off_ms < 10_000, "{off_ms}");
        store.close().await;
    }

    #[tokio::test]
    async fn after_a_failed_measurement_callers_use_the_wall_clock_without_waiting() {
        // It has no clock to measure.
        let database = sqlite();
        let store = database.open().await;
        let manual = Arc::new(ManualClock::at(Timestamp::from_millis(1_000_000)));
        let clock = as_clock(&manual);
        store.database_clock.set(reading_at(clock.now()), 0);
        let shown = Timestamp::from_millis(2_000_000);
        manual.set_wall(shown);
        for (advance_ms, retry_at_ms) in
            [(0, RETRY_MS), (RETRY_MS - 1, RETRY_MS), (1, 2 * RETRY_MS)]
        {
            manual.advance(Duration::from_millis(advance_ms));
            assert_eq!(store.shared_now(&clock).await, clock.now());
            assert_eq!(*store.database_clock.retry_at_ms.lock().await, retry_at_ms);
        }
        store.close().await;
    }

    #[tokio::test]
    async fn before_a_measurement_and_on_sqlite_the_clock_of_the_node_counts() {
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
    fn a_round_trip_of_more_than_a_second_does_not_count() {
        let asked = moment(5, 0);
        let is_exact = |answered| Reading::new((asked, answered), 0).is_exact();
        assert!(is_exact(moment(1_005, 1_000)));
        assert!(!is_exact(moment(1_006, 1_000)));
        // The host was suspended during the query.
        assert!(!is_exact(moment(1_005, 1_001)));
    }

    #[test]
    fn an_old_measurement_and_one_before_the_clocks_diverged_do_not_count() {
        let reading = reading_at(Timestamp::from_millis(1_000_000));
        for (now, counts) in [
            (moment(0, 1_000_000), true),
            (moment(300_000, 1_300_000), true),
            (moment(300_001, 1_300_001), false),
            (moment(1_000, 1_006_000), true),
            (moment(1_000, 1_006_001), false),
            (moment(1_000, 996_000), true),
            (moment(1_000, 995_999), false),
        ] {
            assert_eq!(reading.counts_at(now), counts, "{now:?}");
        }
    }
}
