//! The worker: claims what is due, runs it, writes how it ended. One loop for each node, one task for
//! each delivery that runs.
//!
//! It is woken by ingest, by each run that ends, by the vault, by changes of channels and webhooks, by a timer that
//! knows when the next delivery is due and, where nodes share a database, each second. Each turn of the loop does a
//! bounded amount of work and renews leases first. What ended and what is claimed next is one transaction (`step`).
//!
//! Turns of agents and sends have slots of their own, shared among webhooks by `fair`. A webhook that is disabled,
//! and an account that is disabled or does not answer, are left out: what waits for them keeps its place.
//!
//! Nothing is run twice without a trace of it: a claim counts as an attempt before the run begins. The
//! count is taken back only when nothing was sent: the vault was sealed, the account was disabled, or an agent's
//! turn was stopped at shutdown (its tools only read). A lease belongs to one attempt; a write by whoever lost it
//! changes nothing.
//!
//! The time of day decides only when a retry is due. A jump forward lets one come early; after a jump
//! back what would be due too far in the future is due at once. Leases do not trust it: see `leases`.

mod attempt;
mod backoff;
pub(crate) mod circuit;
mod fair;
mod holds;
mod leases;
mod look;
mod pace;
mod recover;
mod renewal;
mod settle;
mod slots;
mod step;

use crate::handle::{Inner, Webhooks};
use crate::metrics;
use attempt::Ended;
use fair::Served;
use gatehouse_secrets::Status;
use gatehouse_store::{DeliveryLine, StoreError};
use leases::LeaseWatch;
use pace::Starts;
pub(crate) use recover::revive;
use settle::Settled;
use slots::Slots;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{broadcast, mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long interrupted runs may take to be written.
const LAST_WRITES: Duration = Duration::from_millis(1500);
/// How often the database is looked at where other nodes share it.
const SHARED_POLL_MS: u64 = 1000;
const SHARED_POLL: Duration = Duration::from_millis(SHARED_POLL_MS);
/// The same while the queue is empty. A node that has more to do than it can notifies the others.
const IDLE_POLL: Duration = Duration::from_secs(10);
/// How often it is where they do not: what a jump of the clock did is put right then.
const LONE_POLL: Duration = Duration::from_secs(15);
/// How long the worker leaves a database alone that did not answer.
const AFTER_ERROR: Duration = Duration::from_secs(1);
/// How often the lists of what waits are looked through.
const TIDY_MS: u64 = 15_000;
/// The same while the queue is empty.
const IDLE_TIDY_MS: u64 = 60_000;
/// How long the count of what waits is good for.
const GAUGE_MS: u64 = 1000;
/// How many runs may have ended and not be taken in by the loop.
const ENDED: usize = 2048;

impl Webhooks {
    /// Everything that goes on by itself until `stop`: deliveries run, secrets follow the vault, what is
    /// deleted or old is removed. Call it once the recorder of metrics is installed.
    pub fn background(&self, stop: CancellationToken, tasks: &TaskTracker) {
        metrics::describe();
        self.follow_vault(&stop, tasks);
        self.follow_removals(&stop, tasks);
        tasks.spawn(crate::retention::serve(Arc::clone(&self.0), stop.clone()));
        tasks.spawn(Worker::new(Arc::clone(&self.0), stop).serve());
    }

    /// Tells the worker that there may be something to do, as after a change of the clock.
    pub fn wake(&self) {
        self.0.wake.notify_one();
    }

    /// Until the worker has looked at everything once more, from beginning to end. For tests, which
    /// cannot see otherwise that nothing happens.
    #[doc(hidden)]
    pub async fn worker_turn(&self) {
        let mut turns = self.0.turns.subscribe();
        let seen = *turns.borrow_and_update();
        // The first to end may have begun before the call.
        for ended in [seen, seen.wrapping_add(1)] {
            self.wake();
            drop(turns.wait_for(|now| *now > ended).await);
        }
    }

    /// How many deliveries wait for a worker.
    pub async fn queue_depth(&self) -> Result<i64, StoreError> {
        self.0.queue_depth().await
    }
}

impl Inner {
    async fn queue_depth(&self) -> Result<i64, StoreError> {
        let depth = self
            .store
            .read(|conn| Box::pin(async move { conn.count_queued_deliveries().await }))
            .await?;
        metrics::queue_depth(depth);
        Ok(depth)
    }

    fn lease(&self) -> Duration {
        Duration::from_secs(self.settings.load().lease_seconds.max(1))
    }
}

/// The loop's own state.
struct Worker {
    inner: Arc<Inner>,
    slots: Arc<Slots>,
    runs: TaskTracker,
    /// Runs that ended, and where they say so.
    ended: mpsc::Receiver<Ended>,
    ending: mpsc::Sender<Ended>,
    /// What ended and is not written yet.
    settled: Vec<Settled>,
    /// No more claims; runs may end.
    stop: CancellationToken,
    /// Ends every run; its children are the runs' own.
    end_runs: CancellationToken,
    watch: LeaseWatch,
    starts: Starts,
    /// The lines that were served last.
    served: Served,
    /// Where the next look begins when there are more lines than one look reads.
    lines_after: Option<DeliveryLine>,
    /// When leases are renewed next, and when waiting deliveries are looked through, by the
    /// monotonic clock.
    renew_at: u64,
    tidy_at: u64,
    /// When what waits is counted next, and whether something may have changed since.
    gauge_at: u64,
    gauge_is_stale: bool,
    /// The last count.
    depth: i64,
    /// Whether the queue was empty at the last look, on all nodes.
    is_idle: bool,
    /// Whether other nodes are to look at the queue, and not before when.
    calls_nodes: bool,
    call_at: u64,
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
            gauge_at: 0,
            gauge_is_stale: false,
            depth: 0,
            is_idle: false,
            calls_nodes: false,
            call_at: 0,
        }
    }

    async fn serve(mut self) {
        let mut vault = self.inner.secrets.subscribe_status();
        let stop = self.stop.clone();
        let worked = stop.run_until_cancelled(self.work(&mut vault)).await;
        debug_assert!(worked.is_none(), "the loop ends only when it is stopped");
        self.drain().await;
    }

    /// Until it is dropped, which is safe at every await: a claim that was made and not taken up is returned by the
    /// drain, and what ended is kept until its write is acknowledged.
    async fn work(&mut self, vault: &mut watch::Receiver<Status>) {
        let mut news = self.inner.store.changes();
        let mut notified = self.inner.store.notified();
        while let Err(error) = recover::at_start(&self.inner).await {
            complain(&error);
            tokio::time::sleep(AFTER_ERROR).await;
        }
        loop {
            let rest = match self.turn().await {
                Ok(Some(rest)) => rest,
                Ok(None) => continue,
                Err(error) => {
                    complain(&error);
                    self.inner.turns.send_modify(|turns| *turns += 1);
                    tokio::time::sleep(AFTER_ERROR).await;
                    continue;
                }
            };
            self.inner.turns.send_modify(|turns| *turns += 1);
            tokio::select! {
                () = self.inner.wake.notified() => {}
                () = self.slots.freed() => {}
                Some(ended) = self.ended.recv() => self.take_in(ended),
                () = tokio::time::sleep(rest) => {}
                () = until_relevant(&mut news) => {}
                Ok(()) = notified.changed() => {}
                changed = vault.changed() => self.after_vault_change(changed.is_ok()).await,
            }
        }
    }

    async fn after_vault_change(&mut self, is_alive: bool) {
        if is_alive {
            self.tidy_at = 0;
        } else {
            // The vault is gone with the process; the timer does until then.
            tokio::time::sleep(AFTER_ERROR).await;
        }
    }

    /// One bounded piece of what there is to do; how long nothing more will be, or `None` when there is more now.
    async fn turn(&mut self) -> Result<Option<Duration>, StoreError> {
        let kept = self.keep_leases().await;
        let stepped = self.step().await;
        let tidied = self.tidy().await;
        kept?;
        let (stepped, has_more) = (stepped?, tidied?);
        if stepped.has_more || has_more {
            return Ok(None);
        }
        // Nothing new can wait: what has no place in the queue was counted before.
        if !stepped.is_idle || self.depth > 0 {
            self.gauge().await?;
        }
        let poll = match (self.inner.store.engine().is_shared(), stepped.is_idle) {
            (true, false) => SHARED_POLL,
            (true, true) => IDLE_POLL,
            (false, _) => LONE_POLL,
        };
        self.is_idle = stepped.is_idle;
        let rest = poll
            .min(self.until_renewal())
            .min(stepped.next.unwrap_or(poll));
        Ok(Some(if self.gauge_is_stale {
            rest.min(SHARED_POLL)
        } else {
            rest
        }))
    }

    fn until_renewal(&self) -> Duration {
        let now = self.inner.clock.monotonic_ms();
        Duration::from_millis(self.renew_at.saturating_sub(now).max(10))
    }

    /// Counts what waits, at most once a second: with a long queue that is work.
    async fn gauge(&mut self) -> Result<(), StoreError> {
        let monotonic = self.inner.clock.monotonic_ms();
        self.gauge_is_stale = monotonic < self.gauge_at;
        if !self.gauge_is_stale {
            self.gauge_at = monotonic.saturating_add(GAUGE_MS);
            self.depth = self.inner.queue_depth().await?;
        }
        Ok(())
    }

    /// Now and then: what waits for something that has happened long ago gets its place again. Whether there is
    /// more to put right.
    async fn tidy(&mut self) -> Result<bool, StoreError> {
        let monotonic = self.inner.clock.monotonic_ms();
        if monotonic < self.tidy_at {
            return Ok(false);
        }
        recover::revive(&self.inner).await?;
        recover::cancel_removed(&self.inner).await?;
        let has_more = recover::release_from_vault(&self.inner).await?;
        if !has_more {
            let interval = if self.is_idle { IDLE_TIDY_MS } else { TIDY_MS };
            self.tidy_at = monotonic.saturating_add(interval);
        }
        Ok(has_more)
    }

    /// No more claims. Runs may end by themselves for a while; then they are stopped, and say so in
    /// the database.
    async fn drain(mut self) {
        self.runs.close();
        let grace = Duration::from_secs(self.inner.settings.load().drain_seconds);
        if tokio::time::timeout(grace, self.finish_all())
            .await
            .is_err()
        {
            tracing::info!(left = self.slots.len(), "runs are stopped and queued again");
            self.end_runs.cancel();
            drop(tokio::time::timeout(LAST_WRITES, self.finish_all()).await);
        }
        // A claim whose answer nobody waited for any more.
        let last = tokio::time::timeout(
            LAST_WRITES,
            recover::return_unstarted(&self.inner, &self.slots),
        );
        if let Ok(Err(error)) = last.await {
            complain(&error);
        }
    }

    /// Until every run has ended and is written. Leases are renewed meanwhile.
    async fn finish_all(&mut self) {
        loop {
            let written = async {
                self.keep_leases().await?;
                self.write_ended().await
            };
            if let Err(error) = written.await {
                complain(&error);
                tokio::time::sleep(AFTER_ERROR).await;
                continue;
            }
            if self.slots.len() == 0 {
                return;
            }
            let rest = self.until_renewal();
            tokio::select! {
                Some(ended) = self.ended.recv() => self.take_in(ended),
                () = self.slots.freed() => {}
                () = tokio::time::sleep(rest) => {}
            }
        }
    }
}

/// Until something changed that deliveries may have waited for.
async fn until_relevant(changes: &mut broadcast::Receiver<Arc<str>>) {
    loop {
        match changes.recv().await {
            Ok(subject) if !matches!(&*subject, "channels" | "webhooks") => {}
            Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => return,
            // The store is closed; the timer does until the worker is stopped.
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }
}

fn complain(error: &StoreError) {
    tracing::warn!(
        error = error as &dyn std::error::Error,
        "the webhook worker could not use the database; it goes on trying"
    );
}
