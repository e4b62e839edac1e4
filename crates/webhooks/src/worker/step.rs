//! One step of the worker: a transaction that stores ended runs and claims deliveries for the free slots.

mod write;

use super::attempt::{self, Ended, Start};
use super::queue_read::QueueRead;
use super::settle::Settled;
use super::slots::{Occupied, Pool};
use super::{SHARED_POLL_MS, Worker};
use crate::metrics;
use crate::run::Outcome;
use futures_util::FutureExt;
use gatehouse_channels::TargetAccount;
use gatehouse_store::{ClaimRequest, Claims, DeliveryWork, StoreError, Take};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

/// The result of a step.
pub(super) struct Stepped {
    /// Whether more work can be done immediately.
    pub(super) has_more: bool,
    /// How long until more deliveries may be claimed, if known.
    pub(super) next: Option<Duration>,
    /// Whether no delivery in the database has a due time and this node runs none.
    pub(super) is_idle: bool,
}

impl Worker {
    /// Records the result of an ended run.
    pub(super) fn take_in(&mut self, ended: Ended) {
        self.note_answer(&ended);
        self.settled.push(Settled::of(&self.inner, ended));
    }

    pub(super) fn take_in_all(&mut self) {
        while let Ok(ended) = self.ended.try_recv() {
            self.take_in(ended);
        }
    }

    /// Updates the circuit of the account.
    fn note_answer(&self, ended: &Ended) {
        let Some(account) = &ended.account else {
            return;
        };
        let mut circuits = self.inner.circuits();
        match &ended.outcome {
            Outcome::Completed(_) | Outcome::Failed(..) | Outcome::Retry(..) => {
                if circuits.answered(account) {
                    tracing::info!(account = %account, "a channel responds again");
                }
            }
            Outcome::Unreachable(_) => {
                let now_ms = self.inner.clock.monotonic_ms();
                if circuits.unanswered(account, &ended.attempt, now_ms) {
                    tracing::warn!(
                        account = %account,
                        "a channel does not respond; its deliveries wait, and single ones are sent as probes"
                    );
                }
            }
            Outcome::Answered { .. }
            | Outcome::Wait(..)
            | Outcome::Sealed(_)
            | Outcome::Exhausted(..)
            | Outcome::Disabled(_)
            | Outcome::WithoutLease
            | Outcome::Interrupted { .. } => {
                circuits.unused(account, &ended.attempt);
            }
        }
    }

    /// Stores ended runs and claims deliveries for the free slots.
    pub(super) async fn step(&mut self) -> Result<Stepped, StoreError> {
        // Lets runs that are about to end share the write.
        tokio::task::yield_now().await;
        self.take_in_all();
        let queue = match self.read_queue().await {
            Ok(queue) => queue,
            Err(error) => {
                self.write_ended().await?;
                return Err(error);
            }
        };
        if self.settled.is_empty() && queue.takes.is_empty() {
            self.notify_nodes(queue.leaves_work).await?;
            return Ok(Stepped {
                has_more: false,
                next: queue.next,
                is_idle: queue.is_idle,
            });
        }
        self.claimed_at = self.inner.clock.monotonic_ms();
        let claims = self.write(&queue.takes).await?;
        let has_more = claims.more || claims.postponed || !claims.claimed.is_empty();
        let leaves_work = claims.more || queue.leaves_work;
        self.start_all(claims, &queue);
        self.notify_nodes(leaves_work).await?;
        Ok(Stepped {
            has_more,
            next: queue.next,
            is_idle: false,
        })
    }

    /// Wakes the other nodes if this node leaves work in the queue, at most once per [`SHARED_POLL_MS`].
    async fn notify_nodes(&mut self, leaves_work: bool) -> Result<(), StoreError> {
        let store = &self.inner.store;
        let now = self.inner.clock.monotonic_ms();
        if !leaves_work || !store.engine().is_shared() || now < self.notify_at {
            return Ok(());
        }
        self.notify_at = now.saturating_add(SHARED_POLL_MS);
        store
            .write_queue(|conn| Box::pin(async move { conn.notify_nodes().await }))
            .await
    }

    fn claim_request(&mut self, takes: Vec<Take>) -> ClaimRequest {
        let (now, monotonic) = (self.inner.now(), self.inner.clock.monotonic_ms());
        let paced = self.inner.live.paced();
        ClaimRequest {
            owner: self.inner.node.clone(),
            now,
            lease_until: now.after(self.inner.lease()),
            takes,
            paced: self.starts.paces(&paced, now, monotonic),
        }
    }

    fn start_all(&mut self, claims: Claims, queue: &QueueRead) {
        for failed in &claims.failed {
            metrics::delivery(&failed.webhook_id, failed.status, None);
            self.inner.publish(failed);
        }
        let webhooks = claims
            .claimed
            .iter()
            .map(|work| work.row.webhook_id.clone());
        let webhooks: Vec<_> = webhooks.collect();
        self.starts
            .record(&webhooks, self.inner.clock.monotonic_ms());
        for work in claims.claimed {
            let target = work.row.target.clone().unwrap_or_default();
            self.served.note(&target, &work.row.webhook_id);
            let account = queue.accounts.get(&target).cloned().flatten();
            self.start(work, &target, account);
        }
    }

    fn start(&self, work: DeliveryWork, target: &str, account: Option<TargetAccount>) {
        let cancel = self.end_runs.child_token();
        let attempt = (work.row.id.clone(), work.row.attempts);
        let is_local = account.as_ref().is_some_and(|account| account.is_local);
        let account: Option<Arc<str>> = account
            .filter(|account| !account.is_local)
            .map(|account| account.id.into());
        if let Some(account) = &account {
            self.inner.circuits().started(account, &attempt);
        }
        let occupied = Occupied {
            pool: Pool::of(target),
            webhook: Some(work.row.webhook_id.clone()).filter(|_| !is_local),
            account: account.clone(),
            cancel: cancel.clone(),
        };
        let start = Start {
            work,
            account: account.clone(),
            slot: self.slots.take(attempt.clone(), occupied),
            cancel,
        };
        let (inner, stop, ending) = (
            Arc::clone(&self.inner),
            self.stop.clone(),
            self.ending.clone(),
        );
        let fence = self.fence(self.claimed_at, start.cancel.clone());
        self.runs.spawn(async move {
            let run = attempt::run_claimed(&inner, start, &stop);
            match AssertUnwindSafe(fence.over(run)).catch_unwind().await {
                // The loop receives the results until every run has ended.
                Ok(ended) => drop(ending.send(ended).await),
                // The next renewal of the leases queues the delivery again.
                Err(_panic) => {
                    if let Some(account) = account {
                        inner.circuits().unused(&account, &attempt);
                    }
                }
            }
        });
    }
}
