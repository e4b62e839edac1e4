//! The loop of a worker, and its wake-up events.

use super::{
    AFTER_ERROR, BUDGETS_MS, IDLE_POLL, LONE_POLL, SHARED_POLL, Worker, complain, recover,
};
use gatehouse_secrets::Status;
use gatehouse_store::StoreError;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{broadcast, watch};

impl Worker {
    pub(super) async fn serve(mut self) {
        let mut vault = self.inner.secrets.subscribe_status();
        let stop = self.stop.clone();
        let worked = stop.run_until_cancelled(self.work(&mut vault)).await;
        debug_assert!(worked.is_none(), "the loop ends only when it is stopped");
        self.drain().await;
    }

    /// Runs until dropped. Dropping is safe at every await: the drain returns claims that were not started, and
    /// ended runs stay in `settled` until their write is acknowledged.
    pub(super) async fn work(&mut self, vault: &mut watch::Receiver<Status>) {
        let mut news = self.inner.store.changes();
        let mut notified = self.inner.store.notified();
        while let Err(error) = recover::at_start(&self.inner).await {
            complain(&error);
            tokio::time::sleep(AFTER_ERROR).await;
        }
        loop {
            let rest = match self.turn().await {
                Ok(Some(rest)) => rest,
                Ok(None) => {
                    self.is_busy = true;
                    continue;
                }
                Err(error) => {
                    self.is_busy = false;
                    complain(&error);
                    self.inner.turns.send_modify(|turns| *turns += 1);
                    tokio::time::sleep(AFTER_ERROR).await;
                    continue;
                }
            };
            self.is_busy = self.slots.len() > 0;
            self.inner.turns.send_modify(|turns| *turns += 1);
            tokio::select! {
                () = self.inner.wake.notified() => {}
                () = self.slots.freed() => {}
                Some(ended) = self.ended.recv() => self.take_in(ended),
                () = tokio::time::sleep(rest) => {}
                is_budget = until_relevant(&mut news) => self.after_change(is_budget),
                Ok(()) = notified.changed() => {}
                changed = vault.changed() => self.after_vault_change(changed.is_ok()).await,
            }
        }
    }

    fn after_change(&mut self, is_budget: bool) {
        if is_budget {
            let monotonic = self.inner.clock.monotonic_ms();
            self.budgets_changed_at = Some(monotonic);
            self.tidy_at = self.tidy_at.min(monotonic.saturating_add(BUDGETS_MS));
        }
    }

    async fn after_vault_change(&mut self, is_alive: bool) {
        if is_alive {
            self.tidy_at = 0;
        } else {
            // The sender is dropped at shutdown. The sleep prevents a busy loop until then.
            tokio::time::sleep(AFTER_ERROR).await;
        }
    }

    /// Runs one iteration. Returns how long the worker may sleep, or `None` if there is more work now.
    async fn turn(&mut self) -> Result<Option<Duration>, StoreError> {
        let kept = self.keep_leases().await;
        let stepped = self.step().await;
        let tidied = self.tidy().await;
        kept?;
        let (stepped, has_more) = (stepped?, tidied?);
        if !stepped.is_idle {
            self.gauge.expire();
        }
        if stepped.has_more || has_more {
            return Ok(None);
        }
        self.count_queue().await?;
        self.is_idle = stepped.is_idle && self.gauge.is_zero();
        let poll = match (self.inner.store.engine().is_shared(), self.is_idle) {
            (true, false) => SHARED_POLL,
            (true, true) => IDLE_POLL,
            (false, _) => LONE_POLL,
        };
        let rest = poll
            .min(self.until_renewal())
            .min(stepped.next.unwrap_or(poll));
        Ok(Some(if self.gauge.is_out_of_date() {
            rest.min(SHARED_POLL)
        } else {
            rest
        }))
    }

    pub(super) fn until_renewal(&self) -> Duration {
        let now = self.inner.clock.monotonic_ms();
        Duration::from_millis(self.renew_at.saturating_sub(now).max(10))
    }
}

/// Waits for a change that may let deliveries run. Returns whether the change may concern budgets.
async fn until_relevant(changes: &mut broadcast::Receiver<Arc<str>>) -> bool {
    loop {
        match changes.recv().await {
            Ok(subject) if !matches!(&*subject, "budgets" | "channels" | "webhooks") => {}
            Ok(subject) => return &*subject == "budgets",
            Err(broadcast::error::RecvError::Lagged(_)) => return true,
            // The store is closed. The timer keeps running until the worker is stopped.
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
    }
}
