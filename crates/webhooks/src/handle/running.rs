//! Running deliveries and their cancellation.

use super::Inner;
use gatehouse_domain::DeliveryId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

/// Cancellation tokens of the runs in progress.
#[derive(Debug, Default)]
pub(crate) struct Cancels(
    Mutex<HashMap<DeliveryId, (gatehouse_domain::WebhookId, CancellationToken)>>,
);

/// Removes its run from [`Cancels`] when dropped.
#[derive(Debug)]
pub(crate) struct Running {
    pub(super) inner: Arc<Inner>,
    pub(super) delivery: DeliveryId,
    /// Canceled when the delivery is canceled or its webhook is deleted.
    pub(crate) cancel: CancellationToken,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.inner.cancels.lock().remove(&self.delivery);
    }
}

impl Cancels {
    pub(super) fn lock(
        &self,
    ) -> MutexGuard<'_, HashMap<DeliveryId, (gatehouse_domain::WebhookId, CancellationToken)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn cancel_delivery(&self, delivery: &DeliveryId) {
        if let Some((_, cancel)) = self.lock().get(delivery) {
            cancel.cancel();
        }
    }

    pub(crate) fn cancel_webhook(&self, webhook: &gatehouse_domain::WebhookId) {
        for (whose, cancel) in self.lock().values() {
            if whose == webhook {
                cancel.cancel();
            }
        }
    }
}
