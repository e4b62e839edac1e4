//! The worker: claims due deliveries, runs them, and stores the results. Each node has one worker loop and one task
//! per running delivery.
//!
//! The loop wakes up for ingest, for runs that end, for changes of the vault, channels and webhooks, and for a
//! timer. The timer fires when the next delivery is due and at a regular interval. Each iteration does a limited
//! amount of work and renews leases first. One transaction stores ended runs and claims the next deliveries
//! (`step`).
//!
//! Agent turns and sends have separate pools of slots, which `fair` distributes among webhooks. Some deliveries are
//! not claimed and keep their place in the queue: those whose webhook is disabled or paused, and those whose
//! account is disabled or does not respond.
//!
//! Every attempt is recorded: a claim increments `attempts` before the run begins. The count is decremented only if
//! nothing was sent: the vault was sealed, the account was disabled, or an agent turn was stopped at shutdown (its
//! tools can only read). A lease belongs to one attempt. A write without the lease changes nothing.
//!
//! The system clock is used only to decide when a retry is due. If it jumps forward, retries start early. If it
//! jumps back, deliveries that are due too far in the future become due immediately. Leases do not depend on the
//! system clock: see `leases`.

mod attempt;
mod backoff;
pub(crate) mod blocked;
pub(crate) mod circuit;
mod fair;
mod gauge;
mod holds;
mod leases;
mod pace;
mod queue_read;
mod recover;
mod renewal;
mod settle;
mod slots;
mod step;
mod tidying;
mod work_loop;

use crate::handle::{Inner, Webhooks};
use crate::metrics;
use attempt::Ended;
use fair::Served;
use gatehouse_store::{DeliveryLine, StoreError};
use gauge::QueueGauge;
use leases::LeaseWatch;
use pace::Starts;
pub(crate) use recover::revive;
use renewal::Renewal;
use settle::Settled;
use slots::Slots;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Time limit for storing the results of interrupted runs.
const LAST_WRITES: Duration = Duration::from_millis(1500);
/// How often to poll a database that other nodes share.
const SHARED_POLL_MS: u64 = 1000;
const SHARED_POLL: Duration = Duration::from_millis(SHARED_POLL_MS);
/// How often to poll a shared database while the queue is empty. A node with more deliveries than slots notifies
/// the others.
const IDLE_POLL: Duration = Duration::from_secs(20);
/// How often to poll a database of a single node. Polling corrects the effects of clock changes.
const LONE_POLL: Duration = Duration::from_secs(15);
/// Pause after a database error.
const AFTER_ERROR: Duration = Duration::from_secs(1);
/// How often waiting deliveries are checked.
const TIDY_MS: u64 = 15_000;
/// How often waiting deliveries are checked while the queue is empty.
const IDLE_TIDY_MS: u64 = 60_000;
/// Delay between a change of the budgets and the release of the deliveries that were refused during its write.
const BUDGETS_MS: u64 = 1000;
/// Maximum number of writes that release deliveries from a budget. Deliveries that other nodes refuse in the
/// meantime wait again, so the limit prevents an endless loop.
const BUDGET_WRITES: usize = 1_000;
/// Capacity of the channel for ended runs.
const ENDED: usize = 2048;

impl Webhooks {
    /// Starts the background tasks, which run until `stop`: the worker, the schedules, reloading secrets when the
    /// vault changes, and deleting removed and old deliveries. Call it after the metrics recorder is installed.
    pub fn background(&self, stop: CancellationToken, tasks: &TaskTracker) {
        metrics::describe();
        self.follow_vault(&stop, tasks);
        self.follow_removals(&stop, tasks);
        tasks.spawn(crate::retention::serve(Arc::clone(&self.0), stop.clone()));
        tasks.spawn(crate::open_counts::serve(Arc::clone(&self.0), stop.clone()));
        tasks.spawn(crate::schedule::serve(Arc::clone(&self.0), stop.clone()));
        tasks.spawn(Worker::new(Arc::clone(&self.0), stop).serve());
    }

    /// Wakes the worker and the schedules, for example after a change of the clock.
    pub fn wake(&self) {
        self.0.wake.notify_one();
        self.0.schedules_changed.notify_one();
    }

    /// Waits until the worker has completed a full iteration. Tests call it before they check that nothing has
    /// happened.
    #[doc(hidden)]
    pub async fn worker_turn(&self) {
        let mut turns = self.0.turns.subscribe();
        let seen = *turns.borrow_and_update();
        // The iteration that ends first may have begun before the call.
        for ended in [seen, seen.wrapping_add(1)] {
            self.wake();
            drop(turns.wait_for(|now| *now > ended).await);
        }
    }

    /// Counts the queued deliveries.
    pub async fn queue_depth(&self) -> Result<i64, StoreError> {
        self.0.queue_depth().await
    }
}

impl Inner {
    async fn queue_depth(&self) -> Result<i64, StoreError> {
        let depth = self
            .queue
            .read(|conn| Box::pin(async move { conn.count_queued_deliveries().await }))
            .await?;
        metrics::queue_depth(depth);
        self.open_counts
            .note_depth(depth, self.clock.monotonic_ms());
        Ok(depth)
    }

    fn lease(&self) -> Duration {
        Duration::from_secs(self.settings.load().section.lease_seconds.max(1))
    }

    fn lease_ms(&self) -> u64 {
        u64::try_from(self.lease().as_millis()).unwrap_or(u64::MAX)
    }
}

/// The state of the worker loop.
struct Worker {
    inner: Arc<Inner>,
    slots: Arc<Slots>,
    runs: TaskTracker,
    /// The channel for ended runs.
    ended: mpsc::Receiver<Ended>,
    ending: mpsc::Sender<Ended>,
    /// Ended runs whose results are not stored yet.
    settled: Vec<Settled>,
    /// Stops claiming; current runs continue.
    stop: CancellationToken,
    /// Cancels all runs. Each run has a child token.
    end_runs: CancellationToken,
    watch: LeaseWatch,
    starts: Starts,
    /// The last served line of each pool.
    served: Served,
    /// The position of the next read of lines, if the last read did not return all of them.
    lines_after: Option<DeliveryLine>,
    /// When to renew leases and check waiting deliveries next, in milliseconds of the monotonic clock.
    renew_at: u64,
    tidy_at: u64,
    /// When this node last changed the budgets, in milliseconds of the monotonic clock. `None` after the deliveries
    /// that were refused in the meantime have been released.
    budgets_changed_at: Option<u64>,
    gauge: QueueGauge,
    /// Whether no delivery was queued and this node ran none at the last iteration.
    is_idle: bool,
    /// When this node may notify the other nodes next, by the monotonic clock.
    notify_at: u64,
    /// Whether the last iteration left work for the next one.
    is_busy: bool,
    /// When a busy node checks the leases of other nodes next, by the monotonic clock.
    watch_at: u64,
    /// When the last write that may contain a claim began, in milliseconds of the monotonic clock.
    claimed_at: u64,
    renewed: Arc<Mutex<Renewal>>,
}

impl Worker {
    fn new(inner: Arc<Inner>, stop: CancellationToken) -> Self {
        let (ending, ended) = mpsc::channel(ENDED);
        Self {
            inner,
            slots: Arc::default(),
            runs: TaskTracker::new(),
            ended,
            ending,
            settled: Vec::new(),
            stop,
            end_runs: CancellationToken::new(),
            watch: LeaseWatch::default(),
            starts: Starts::default(),
            served: Served::default(),
            lines_after: None,
            renew_at: 0,
            tidy_at: 0,
            budgets_changed_at: None,
            gauge: QueueGauge::default(),
            is_idle: false,
            notify_at: 0,
            is_busy: false,
            watch_at: 0,
            claimed_at: 0,
            renewed: Arc::default(),
        }
    }
}

fn complain(error: &StoreError) {
    tracing::warn!(
        error = error as &dyn std::error::Error,
        "the webhook worker could not use the database; it retries"
    );
}
