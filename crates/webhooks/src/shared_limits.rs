//! Rate limits for accepted deliveries, per webhook and overall, that all nodes of a database share.

use crate::limits::per_minute::{PerMinute, WINDOW_MS};
use gatehouse_domain::{Clock, WebhookId};
use gatehouse_store::{RateKey, RateLeases, RatePermit, RateRefused, Store, StoreError};
use std::sync::Arc;
use tokio_util::task::TaskTracker;

/// The limit of a webhook, or the limit of all webhooks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key(Option<WebhookId>);

impl RateKey for Key {
    fn name(&self) -> String {
        format!(
            "deliveries:{}",
            self.0.as_ref().map_or("", WebhookId::as_str)
        )
    }
}

/// The state of the shared rate limits on this node.
#[derive(Debug)]
pub(crate) struct SharedLimits(Arc<RateLeases<Key>>);

/// A permit under the limit of a webhook and under the overall limit.
#[derive(Debug)]
pub(crate) struct SharedPermit([RatePermit<Key>; 2]);

impl SharedPermit {
    /// Sets whether the permit is used. An unused permit is returned on drop.
    pub(crate) const fn set_used(&mut self, is_used: bool) {
        let [own, global] = &mut self.0;
        own.set_used(is_used);
        global.set_used(is_used);
    }
}

impl SharedLimits {
    pub(crate) fn new(store: Store, clock: Arc<dyn Clock>, tasks: TaskTracker) -> Self {
        Self(Arc::new(RateLeases::new(store, clock, tasks, WINDOW_MS)))
    }

    /// Like [`Self::take`], but waits for undecided permits and retries, at most three times. A duplicate or a
    /// failed write returns its permit, which can then be used.
    pub(crate) async fn take_decided(
        &self,
        webhook: &WebhookId,
        limits: PerMinute,
    ) -> Result<Result<SharedPermit, RateRefused>, StoreError> {
        const TRIES: usize = 3;
        for _ in 0..TRIES {
            let settled = self.0.settled();
            match self.take(webhook, limits).await? {
                Err(refused) if refused.undecided => settled.await,
                decided => return Ok(decided),
            }
        }
        self.take(webhook, limits).await
    }

    /// Takes a permit, or returns how long to wait.
    pub(crate) async fn take(
        &self,
        webhook: &WebhookId,
        limits: PerMinute,
    ) -> Result<Result<SharedPermit, RateRefused>, StoreError> {
        let own = Key(Some(webhook.clone()));
        let own = match self.0.take(own, (1, limits.webhook)).await? {
            Ok(permit) => permit,
            Err(refused) => return Ok(Err(refused)),
        };
        let global = self.0.take(Key(None), (1, limits.global)).await?;
        Ok(global.map(|global| SharedPermit([own, global])))
    }

    /// Discards the permits of a deleted webhook.
    pub(crate) fn forget(&self, webhook: &WebhookId) {
        self.0.forget(&Key(Some(webhook.clone())));
    }
}
