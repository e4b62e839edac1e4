//! Background tasks: loads credentials, writes last uses, sweeps expired credentials, reads other
//! nodes' changes, and logs reminders for the operator.

mod sweep;

use crate::change_feed::poll_interval;
use crate::error::AuthError;
use crate::live_credential::Live;
use crate::state::Auth;
use gatehouse_domain::Timestamp;
use gatehouse_store::Duty;
use std::time::Duration;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, sleep_until};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The interval between two rounds of upkeep.
const UPKEEP: Duration = Duration::from_secs(5);
/// The number of rounds of upkeep between two sweeps of expired rows in the database.
const ROUNDS_PER_SWEEP: u32 = 60;
/// The interval of reminders in the log.
const REMINDER: Duration = Duration::from_hours(1);
/// The lease of the node that completes and cuts the audit log. If this node is gone, another node takes over after
/// this time.
const AUDIT_LEASE: Duration = Duration::from_mins(150);

fn ticks(period: Duration) -> Interval {
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

impl Auth {
    /// Starts the background tasks. When `shutdown` is canceled, they flush pending writes and end.
    pub fn background(&self, shutdown: CancellationToken, tracker: &TaskTracker) {
        let auth = self.clone();
        let stop = shutdown.clone();
        tracker.spawn(async move {
            auth.load_with_retries(&stop).await;
        });
        if self.0.feed.is_shared() {
            let auth = self.clone();
            let stop = shutdown.clone();
            tracker.spawn(async move { auth.follow_feed(&stop).await });
        }
        let auth = self.clone();
        let stop = shutdown.clone();
        // On a database that no other node uses, an earlier process left all unfinished changes.
        let started = (!self.0.feed.is_shared()).then(|| self.0.now());
        tracker.spawn(async move { auth.remind(&stop, started).await });
        let auth = self.clone();
        let (sweeps, node) = (Self::sweep_duty(), self.random_node());
        tracker.spawn(async move {
            let mut ticks = ticks(UPKEEP);
            let mut round = 0_u32;
            while shutdown.run_until_cancelled(ticks.tick()).await.is_some() {
                auth.upkeep().await;
                if round.is_multiple_of(ROUNDS_PER_SWEEP)
                    && let Err(error) = auth.sweep_rows_once(&sweeps, &node).await
                {
                    tracing::warn!(%error, "expired rows were not deleted");
                }
                round = round.wrapping_add(1);
            }
            auth.flush_failures(true).await;
            auth.flush_uses(true).await;
            // Changes run to completion even if their callers are gone.
            auth.0.tasks.close();
            auth.0.tasks.wait().await;
        });
    }

    async fn load_with_retries(&self, shutdown: &CancellationToken) {
        let mut ticks = ticks(UPKEEP);
        while shutdown.run_until_cancelled(ticks.tick()).await.is_some() {
            match self.load_credentials().await {
                Ok(()) => return,
                Err(error) => tracing::warn!(%error, "credentials are not loaded yet"),
            }
        }
    }

    async fn follow_feed(&self, shutdown: &CancellationToken) {
        let mut notified = self.0.store.notified();
        let mut is_deaf = false;
        loop {
            let began = Instant::now();
            match self.look_at_feed().await {
                Ok(()) => is_deaf = false,
                Err(error) if !is_deaf => {
                    is_deaf = true;
                    tracing::warn!(%error, "changes by other nodes cannot be read");
                }
                Err(_) => {}
            }
            let next = began + poll_interval(self.0.changed.receiver_count());
            tokio::select! {
                () = shutdown.cancelled() => break,
                () = sleep_until(next) => {}
                Ok(()) = notified.changed() => {}
                () = self.0.first_watched.notified() => {}
            }
        }
    }

    /// One round of upkeep.
    pub(crate) async fn upkeep(&self) {
        self.0.throttle.sweep();
        self.flush_failures(false).await;
        self.flush_uses(false).await;
        self.end_expired();
        if let Err(error) = self.replace_due_setup_code().await {
            tracing::warn!(%error, "a used-up setup code was not replaced");
        }
    }

    /// Removes expired credentials from memory and notifies sockets.
    fn end_expired(&self) {
        let (inner, now) = (&self.0, self.0.now());
        if inner.sessions.has_expired(now) {
            inner.sessions.end_where(|session| session.is_expired(now));
            inner.announce(&["sessions"]);
        }
        if inner.devices.has_expired(now) {
            inner.devices.end_where(|device| device.is_expired(now));
            inner.announce(&["devices"]);
        }
        if inner.keys.has_expired(now) {
            inner.keys.end_where(|key| key.is_expired(now));
            inner.announce(&["api_keys"]);
        }
    }

    /// Returns a unique name for this node.
    fn random_node(&self) -> String {
        format!("{:016x}", u64::from_be_bytes(self.0.random.bytes()))
    }

    /// Completes the audit log and deletes its old rows. Only one of several nodes does so.
    async fn tend_audit_log_once(
        &self,
        duty: &Duty,
        node: &str,
        started: Option<Timestamp>,
    ) -> Result<u64, AuthError> {
        let inner = &self.0;
        if duty.claim(&inner.store, &inner.clock, node).await? {
            self.sweep_left_changes(started).await;
            return self.cut_audit_log().await;
        }
        Ok(0)
    }

    /// Every hour, logs a reminder if auth is disabled, completes and deletes audit rows, and logs the head of the
    /// audit log. If the newest rows of the chain are removed, the logged head reveals it.
    async fn remind(&self, shutdown: &CancellationToken, started: Option<Timestamp>) {
        let mut ticks = ticks(REMINDER);
        let duty = Duty::new("audit.retention", AUDIT_LEASE);
        let node = self.random_node();
        while shutdown.run_until_cancelled(ticks.tick()).await.is_some() {
            if self.facts().auth_disabled {
                tracing::warn!(
                    "auth is disabled: everyone who can reach this server has access; complete \
                     setup to enable it"
                );
            }
            match self.tend_audit_log_once(&duty, &node, started).await {
                Ok(0) => {}
                Ok(rows) => tracing::info!(rows, "old rows of the audit log were deleted"),
                Err(error) => tracing::warn!(%error, "old rows of the audit log were not deleted"),
            }
            let head = self.0.store.read(|conn| {
                Box::pin(async move { Ok::<_, AuthError>(conn.find_audit_head().await?) })
            });
            match head.await {
                Ok(Some(row)) => tracing::info!(seq = row.seq, head = %row.hash, "audit log"),
                Ok(None) => {}
                Err(error) => tracing::warn!(%error, "the head of the audit log cannot be read"),
            }
        }
    }
}
