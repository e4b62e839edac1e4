//! Work of the worker other than attempts: the gauge of the queue, sweeps, and the last writes at shutdown.

use super::{
    AFTER_ERROR, BUDGET_WRITES, BUDGETS_MS, IDLE_TIDY_MS, LAST_WRITES, TIDY_MS, Worker, complain,
    recover,
};
use gatehouse_store::StoreError;
use std::time::Duration;

impl Worker {
    /// Counts the queued deliveries if a count is due.
    pub(super) async fn count_queue(&mut self) -> Result<(), StoreError> {
        let began = self.inner.clock.monotonic_ms();
        if self.gauge.is_due(began) {
            let depth = self.inner.queue_depth().await?;
            self.gauge
                .set(depth, began, self.inner.clock.monotonic_ms());
        }
        Ok(())
    }

    /// Periodically makes deliveries due whose reason to wait has passed. Returns whether there are more.
    pub(super) async fn tidy(&mut self) -> Result<bool, StoreError> {
        let monotonic = self.inner.clock.monotonic_ms();
        if monotonic < self.tidy_at {
            return Ok(false);
        }
        if self.slots.len() > 0 {
            recover::cancel_removed(&self.inner).await?;
        }
        // Other nodes may have queued or parked deliveries.
        self.gauge.expire();
        self.count_queue().await?;
        let has_more = !self.gauge.is_zero() && {
            self.revive().await?;
            self.release_from_budget(monotonic).await?;
            recover::release_from_vault(&self.inner).await?
        };
        if !has_more {
            let interval = if self.is_idle { IDLE_TIDY_MS } else { TIDY_MS };
            self.tidy_at = monotonic.saturating_add(interval);
        }
        Ok(has_more)
    }

    /// Finds the deliveries that no longer have a reason to wait, and makes them due. A million deliveries take longer
    /// than a lease, so leases are renewed in between.
    async fn revive(&mut self) -> Result<(), StoreError> {
        while recover::revive(&self.inner).await? {
            self.keep_leases().await?;
        }
        Ok(())
    }

    /// Releases the deliveries that were refused while a budget was changed. The change released only deliveries
    /// that already waited. The others would wait until the budget resets.
    async fn release_from_budget(&mut self, monotonic: u64) -> Result<(), StoreError> {
        let changed_at = self.budgets_changed_at;
        if changed_at.is_some_and(|at| monotonic >= at.saturating_add(BUDGETS_MS)) {
            for _ in 0..BUDGET_WRITES {
                if !recover::release_from_budget(&self.inner).await? {
                    break;
                }
                self.keep_leases().await?;
            }
            self.budgets_changed_at = None;
        }
        Ok(())
    }

    /// Shuts down. Claims nothing, waits for runs to end, cancels the remaining ones, and stores that they were
    /// interrupted.
    pub(super) async fn drain(mut self) {
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
        // The loop may have been dropped before it received the result of a claim.
        let last = tokio::time::timeout(
            LAST_WRITES,
            recover::return_unstarted(&self.inner, &self.slots),
        );
        if let Ok(Err(error)) = last.await {
            complain(&error);
        }
    }

    /// Waits until every run has ended and is stored. Renews leases in the meantime.
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
