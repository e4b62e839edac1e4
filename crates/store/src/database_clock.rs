//! The clock of the database server, which all nodes of a database use. A node measures the difference between this
//! clock and its own monotonic clock. A change of the node's wall clock by a few seconds has no effect on a
//! measurement. After a larger change, the node measures again, because the monotonic clock stops while the host is
//! suspended.

mod reading;

use crate::{Store, StoreError};
use gatehouse_domain::{Clock, Timestamp};
use reading::{Reading, read_clock, signed};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::timeout;

/// Queries per measurement. The fastest one is used. The first may also prepare the statement.
const QUERIES: usize = 3;
/// The longest round trip of a query that is used. The error of the measured time is at most half of the round
/// trip.
const LONGEST_ROUND_TRIP_MS: u64 = 1_000;
/// The maximum age of a measurement that is used.
const LONGEST_AGE_MS: u64 = 5 * 60 * 1_000;
/// How far the wall clock and the monotonic clock may diverge before a measurement is no longer used.
const LARGEST_DIVERGENCE_MS: u64 = 5_000;
/// How long a caller waits for a measurement. A request waits at most two seconds for a shared limit, including
/// this time.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long callers do not wait for a new measurement after a failed one.
const RETRY_MS: u64 = 5_000;

/// The last measurement.
#[derive(Debug, Default)]
pub(crate) struct DatabaseClock {
    measured: Mutex<Option<Measured>>,
    /// How often the connection to the server was reopened. A reopened connection may be to a different server.
    reconnections: AtomicU64,
    /// When callers may wait for a measurement again, in milliseconds of the monotonic clock. Locked during a
    /// measurement.
    retry_at_ms: tokio::sync::Mutex<u64>,
    /// See [`Store::ignore_database_clock`].
    #[cfg(feature = "testing")]
    is_ignored: std::sync::atomic::AtomicBool,
}

#[derive(Clone, Copy, Debug)]
struct Measured {
    reading: Reading,
    /// The counter `DatabaseClock::reconnections` before the query.
    reconnections: u64,
}

impl DatabaseClock {
    /// Makes the next caller measure before it uses the time.
    pub(crate) fn note_reconnection(&self) {
        self.reconnections.fetch_add(1, Ordering::Relaxed);
    }

    fn measured(&self) -> MutexGuard<'_, Option<Measured>> {
        // A poisoned lock is safe to use, because the value is replaced as a whole.
        self.measured.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores a reading. `reconnections` is the counter before its query.
    fn set(&self, reading: Reading, reconnections: u64) {
        *self.measured() = Some(Measured {
            reading,
            reconnections,
        });
    }

    /// Returns the server's time if there is a valid measurement.
    fn at(&self, now: NodeTime) -> Option<Timestamp> {
        let measured = self.measured().filter(|it| self.is_valid(it, now))?;
        Some(measured.reading.server_time(now))
    }

    /// Returns whether there is a measurement that is no longer valid.
    fn is_due(&self, now: NodeTime) -> bool {
        self.measured().is_some_and(|it| !self.is_valid(&it, now))
    }

    fn is_valid(&self, measured: &Measured, now: NodeTime) -> bool {
        let reconnections = self.reconnections.load(Ordering::Relaxed);
        measured.reconnections == reconnections && measured.reading.is_valid_at(now)
    }
}

/// One moment on both clocks of this node.
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

    /// Returns the wall clock, in Unix milliseconds, at the origin of the monotonic clock.
    fn wall_origin_ms(self) -> i64 {
        self.wall
            .as_millis()
            .saturating_sub(signed(self.monotonic_ms))
    }
}

impl Store {
    /// Returns the time of the database server, for times that nodes compare with each other. If the last
    /// measurement is no longer valid, for example after a reconnection to the server, measures first. Without a
    /// valid measurement, as on SQLite and before the first [`Self::measure_clock`], it returns the time of
    /// `clock`. All calls must use the same clock.
    pub async fn shared_now(&self, clock: &Arc<dyn Clock>) -> Timestamp {
        if self.database_clock.is_due(NodeTime::of(&**clock)) {
            self.measure_again(clock).await;
        }
        let now = NodeTime::of(&**clock);
        self.database_clock.at(now).unwrap_or(now.wall)
    }

    /// Repeats a measurement. Concurrent callers share one measurement.
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

    /// Sets whether measurements are skipped. Used for a server whose clock a test sets: each measurement would
    /// change the shared time.
    #[cfg(feature = "testing")]
    pub fn ignore_database_clock(&self, is_ignored: bool) {
        self.database_clock
            .is_ignored
            .store(is_ignored, Ordering::Relaxed);
    }

    /// Compares `clock` with the clock of the database server, for [`Self::shared_now`]. Returns how many
    /// milliseconds the wall clock is ahead; the number is negative if it is behind. Returns `None` on SQLite, and
    /// if the server answers too slowly. In the latter case, an earlier measurement is used while it is valid.
    pub async fn measure_clock(&self, clock: &Arc<dyn Clock>) -> Result<Option<i64>, StoreError> {
        let Some(sql) = self.engine.read_clock() else {
            return Ok(None);
        };
        #[cfg(feature = "testing")]
        if self.database_clock.is_ignored.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let reconnections = self.database_clock.reconnections.load(Ordering::Relaxed);
        // A reserved reader is not blocked by list queries.
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
mod tests;
