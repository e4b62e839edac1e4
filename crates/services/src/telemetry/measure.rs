//! Gauges of the state of this process. No event updates them, so they are measured when the metrics are read.
//! Gauges that need the database are measured at most every five seconds. If the database is unreachable, they
//! delay the others only briefly.

use super::RenderMetrics;
use crate::Services;
use futures_util::future::BoxFuture;
use gatehouse_secrets::Status;
use metrics::{describe_gauge, gauge};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;

const BUILD_INFO: &str = "gatehouse_build_info";
const SEALED: &str = "vault_sealed";
const DATABASE: &str = "database_reachable";
const WRITER_BUSY: &str = "store_writer_busy_seconds";
const WRITER_QUEUE: &str = "store_writer_queue_length";
const FEED_LAG: &str = "change_feed_lag_seconds";

/// How long measurements of the database are reused.
const VALID: Duration = Duration::from_secs(5);
/// How long the query of the queue may take.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(2);

/// When the database was measured.
#[derive(Debug, Default)]
pub(crate) struct DatabaseMeasured(Mutex<Option<Instant>>);

fn describe() {
    describe_gauge!(BUILD_INFO, "Always 1; the labels describe this build.");
    describe_gauge!(SEALED, "Whether the vault of this node is sealed.");
    describe_gauge!(DATABASE, "Whether the database responds to this node.");
    describe_gauge!(
        WRITER_BUSY,
        "How long a writer has worked on its current group of writes, in seconds."
    );
    describe_gauge!(WRITER_QUEUE, "Writes that wait for a writer.");
    describe_gauge!(
        FEED_LAG,
        "How long ago this node read the changes of other nodes, in seconds."
    );
    gatehouse_channels::metrics::describe();
    crate::backup::describe_metrics();
}

fn set(name: &'static str, holds: bool) {
    gauge!(name).set(f64::from(u8::from(holds)));
}

impl Services {
    /// Returns a function that measures the gauges, and then calls `render`. Call it after the recorder is
    /// installed.
    pub fn measured(
        self: &Arc<Self>,
        render: impl Fn() -> String + Send + Sync + 'static,
    ) -> RenderMetrics {
        describe();
        let (services, render) = (Arc::clone(self), Arc::new(render));
        Arc::new(move || {
            let (services, render) = (Arc::clone(&services), Arc::clone(&render));
            let work = async move {
                services.measure().await;
                render()
            };
            Box::pin(work) as BoxFuture<'static, String>
        })
    }

    async fn measure(&self) {
        let engine = self.store.engine().name();
        gauge!(BUILD_INFO, "version" => self.build.version, "engine" => engine).set(1.0);
        set(SEALED, self.secrets.status() == Status::Sealed);
        gauge!(WRITER_BUSY).set(self.store.busy_for().as_secs_f64());
        let waiting = u32::try_from(self.store.waiting_writes()).unwrap_or(u32::MAX);
        gauge!(WRITER_QUEUE).set(f64::from(waiting));
        gauge!(FEED_LAG).set(self.auth.feed_lag().as_secs_f64());
        self.measure_database().await;
    }

    async fn measure_database(&self) {
        // Concurrent scrapes share one measurement.
        let mut last = self.database_measured.0.lock().await;
        if last.is_some_and(|at| at.elapsed() < VALID) {
            return;
        }
        let responds = self.database_responds().await;
        set(DATABASE, responds);
        let wait = if responds {
            self.longest_wait().await
        } else {
            None
        };
        gatehouse_webhooks::metrics::oldest_waiting(wait);
        *last = Some(Instant::now());
    }

    /// Returns how long the oldest due delivery has waited for a worker; zero if none waits; `None` if the database
    /// does not respond.
    async fn longest_wait(&self) -> Option<Duration> {
        let read = tokio::time::timeout(QUEUE_TIMEOUT, self.webhooks.oldest_due()).await;
        let due = read.ok()?.ok()?;
        let wait_ms = due.map_or(0, |due| {
            self.clock.now().as_millis().saturating_sub(due.as_millis())
        });
        Some(Duration::from_millis(u64::try_from(wait_ms).unwrap_or(0)))
    }
}
