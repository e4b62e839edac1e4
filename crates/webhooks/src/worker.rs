//! The worker: claims what is due, runs it, writes how it ended. One loop for each node, one task for
//! each delivery that runs.
//!
//! It is woken by ingest, by each run that ends, by the vault, by a timer that knows when the next
//! delivery is due and, where nodes share a database, each second. A delivery belongs to who holds its
//! lease; what somebody writes who lost it changes nothing.
//!
//! Nothing is run twice without a trace of it: a claim counts as an attempt before the run begins. The
//! count is taken back only when nothing can have left the house: the vault was sealed, or an agent's
//! turn was stopped at shutdown (its tools only read).
//!
//! The time of day decides only when a retry is due. A jump forward lets one come early; after a jump
//! back what would be due too far in the future is due at once. Leases do not trust it: see `leases`.

mod attempt;
mod backoff;
mod leases;
mod pace;
mod recover;
mod renewal;
mod settle;
mod slots;

use crate::handle::{Inner, Webhooks};
use crate::metrics;
use gatehouse_domain::DeliveryId;
use gatehouse_secrets::Status;
use gatehouse_store::{ClaimRequest, StoreError};
use leases::LeaseWatch;
use pace::Starts;
pub(crate) use recover::revive;
use slots::Slots;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long runs may go on after the order to stop, before they are stopped themselves.
const GRACE: Duration = Duration::from_secs(3);
/// How long what is left may take then to write where it stands.
const LAST_WRITES: Duration = Duration::from_millis(1500);
/// How often the database is looked at where other nodes share it.
const SHARED_POLL: Duration = Duration::from_secs(1);
/// How often it is where they do not: what a jump of the clock did is put right then.
const LONE_POLL: Duration = Duration::from_secs(15);
/// How long the worker leaves a database alone that did not answer.
const AFTER_ERROR: Duration = Duration::from_secs(1);
/// How often the lists of what waits are looked through.
const TIDY_MS: u64 = 15_000;
/// How long the count of what waits is good for.
const GAUGE_MS: u64 = 1000;

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
    /// No more claims; runs may end.
    stop: CancellationToken,
    /// Ends every run; its children are the runs' own.
    end_runs: CancellationToken,
    watch: LeaseWatch,
    starts: Starts,
    /// When leases are renewed next, and when waiting deliveries are looked through, by the
    /// monotonic clock.
    renew_at: u64,
    tidy_at: u64,
    /// When what waits is counted next, and whether something may have changed since.
    gauge_at: u64,
    gauge_is_stale: bool,
}

impl Worker {
    fn new(inner: Arc<Inner>, stop: CancellationToken) -> Self {
        Self {
            inner,
            slots: Arc::default(),
            runs: TaskTracker::new(),
            stop,
            end_runs: CancellationToken::new(),
            watch: LeaseWatch::default(),
            starts: Starts::default(),
            renew_at: 0,
            tidy_at: 0,
            gauge_at: 0,
            gauge_is_stale: false,
        }
    }

    async fn serve(mut self) {
        let mut vault = self.inner.secrets.subscribe_status();
        let stop = self.stop.clone();
        let worked = stop.run_until_cancelled(self.work(&mut vault)).await;
        debug_assert!(worked.is_none(), "the loop ends only when it is stopped");
        self.drain().await;
    }

    /// Until it is dropped, which is safe at every await: a claim that was made and not taken up is
    /// returned by the drain.
    async fn work(&mut self, vault: &mut watch::Receiver<Status>) {
        while let Err(error) = recover::at_start(&self.inner).await {
            complain(&error);
            tokio::time::sleep(AFTER_ERROR).await;
        }
        loop {
            let rest = match self.turn().await {
                Ok(rest) => rest,
                Err(error) => {
                    complain(&error);
                    AFTER_ERROR
                }
            };
            self.inner.turns.send_modify(|turns| *turns += 1);
            tokio::select! {
                () = self.inner.wake.notified() => {}
                () = self.slots.freed() => {}
                () = tokio::time::sleep(rest) => {}
                changed = vault.changed() => self.after_vault_change(changed.is_ok()).await,
            }
        }
    }

    async fn after_vault_change(&self, is_alive: bool) {
        if !is_alive {
            // The vault is gone with the process; the timer does until then.
            return tokio::time::sleep(AFTER_ERROR).await;
        }
        if let Err(error) = recover::release_from_vault(&self.inner).await {
            complain(&error);
        }
    }

    /// Everything there is to do now; how long nothing more will be.
    async fn turn(&mut self) -> Result<Duration, StoreError> {
        self.keep_leases().await?;
        self.tidy().await?;
        let due = self.claim().await?;
        self.gauge().await?;
        let poll = if self.inner.store.engine().is_shared() {
            SHARED_POLL
        } else {
            LONE_POLL
        };
        let renew = Duration::from_millis(
            self.renew_at
                .saturating_sub(self.inner.clock.monotonic_ms())
                .max(10),
        );
        let rest = poll.min(renew).min(due.unwrap_or(poll));
        Ok(if self.gauge_is_stale {
            rest.min(SHARED_POLL)
        } else {
            rest
        })
    }

    /// Counts what waits, at most once a second: with a long queue that is work.
    async fn gauge(&mut self) -> Result<(), StoreError> {
        let monotonic = self.inner.clock.monotonic_ms();
        self.gauge_is_stale = monotonic < self.gauge_at;
        if !self.gauge_is_stale {
            self.gauge_at = monotonic.saturating_add(GAUGE_MS);
            self.inner.queue_depth().await?;
        }
        Ok(())
    }

    /// Claims until every slot is taken or nothing is due; how long until something is.
    async fn claim(&mut self) -> Result<Option<Duration>, StoreError> {
        loop {
            let workers = self.inner.settings.load().workers.max(1);
            let limit = workers.saturating_sub(self.slots.len());
            if limit == 0 {
                return Ok(None);
            }
            // A look costs no transaction.
            let next = self
                .inner
                .store
                .read(|conn| Box::pin(async move { conn.find_next_due().await }))
                .await?;
            let now = self.inner.now();
            match next {
                None => return Ok(None),
                Some(at) if at > now => return Ok(Some(now.until(at))),
                Some(_) => {}
            }
            let monotonic = self.inner.clock.monotonic_ms();
            let paced = self.inner.live.paced();
            let want = ClaimRequest {
                owner: self.inner.node.clone(),
                now,
                lease_until: now.after(self.inner.lease()),
                limit,
                paced: self.starts.paces(&paced, now, monotonic),
            };
            let claims = self
                .inner
                .store
                .write(move |conn| Box::pin(async move { conn.claim_deliveries(&want).await }))
                .await?;
            self.starts.record(&claims.webhooks, monotonic);
            let is_over = claims.claimed.is_empty() && !claims.more;
            for id in claims.claimed {
                self.start(id);
            }
            if is_over {
                return Ok(None);
            }
        }
    }

    fn start(&self, id: DeliveryId) {
        let cancel = self.end_runs.child_token();
        let slot = self.slots.take(&id, cancel.clone());
        let (inner, stop) = (Arc::clone(&self.inner), self.stop.clone());
        self.runs.spawn(async move {
            attempt::run_claimed(&inner, &id, cancel, &stop).await;
            drop(slot);
        });
    }

    /// Now and then: what waits for something that has happened long ago gets its place again.
    async fn tidy(&mut self) -> Result<(), StoreError> {
        let monotonic = self.inner.clock.monotonic_ms();
        if monotonic < self.tidy_at {
            return Ok(());
        }
        self.tidy_at = monotonic.saturating_add(TIDY_MS);
        recover::revive(&self.inner).await?;
        recover::cancel_removed(&self.inner).await?;
        recover::release_from_vault(&self.inner).await
    }

    /// No more claims. Runs may end by themselves for a while; then they are stopped, and say so in
    /// the database.
    async fn drain(self) {
        self.runs.close();
        if tokio::time::timeout(GRACE, self.runs.wait()).await.is_err() {
            tracing::info!(left = self.slots.len(), "runs are stopped and queued again");
            self.end_runs.cancel();
            drop(tokio::time::timeout(LAST_WRITES, self.runs.wait()).await);
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
}

fn complain(error: &StoreError) {
    tracing::warn!(
        error = error as &dyn std::error::Error,
        "the webhook worker could not use the database; it goes on trying"
    );
}
