//! Measures the clock of the database server, which all nodes of a database use for shared counts.

use crate::Services;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The time between two measurements.
const INTERVAL: Duration = Duration::from_secs(30);
/// How long a measurement may take.
const MEASURE_TIMEOUT: Duration = Duration::from_secs(2);

impl Services {
    /// Measures the clock of the database server, then every 30 seconds until `shutdown`. Does nothing on SQLite.
    pub async fn follow_database_clock(
        self: &Arc<Self>,
        shutdown: CancellationToken,
        tasks: &TaskTracker,
    ) {
        if !self.store.engine().is_shared() {
            return;
        }
        self.measure_database_clock().await;
        let services = Arc::clone(self);
        tasks.spawn(shutdown.run_until_cancelled_owned(async move {
            let mut ticks = interval_at(Instant::now() + INTERVAL, INTERVAL);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                ticks.tick().await;
                services.measure_database_clock().await;
            }
        }));
    }

    /// Returns how many milliseconds this node's clock is ahead of the database server's clock. The number is
    /// negative if it is behind. Returns `None` on SQLite, and if the server does not answer soon.
    pub(crate) async fn measure_database_clock(&self) -> Option<i64> {
        let measured = timeout(MEASURE_TIMEOUT, self.store.measure_clock(&self.clock)).await;
        match measured {
            Ok(Ok(ahead_ms)) => ahead_ms,
            Ok(Err(error)) => {
                tracing::debug!(%error, "the clock of the database was not read");
                None
            }
            Err(_) => {
                tracing::debug!("the clock of the database was not read in time");
                None
            }
        }
    }
}
