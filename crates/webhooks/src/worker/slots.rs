//! Which deliveries this node works on right now. In memory only; the database has the leases.

use gatehouse_domain::DeliveryId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// The runs in progress.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    taken: Mutex<HashMap<DeliveryId, CancellationToken>>,
    freed: Notify,
}

/// One run's place; free again when this is dropped, also by a panic.
#[derive(Debug)]
pub(crate) struct Slot {
    slots: Arc<Slots>,
    id: DeliveryId,
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.lock().remove(&self.id);
        self.slots.freed.notify_one();
    }
}

impl Slots {
    fn lock(&self) -> MutexGuard<'_, HashMap<DeliveryId, CancellationToken>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn take(self: &Arc<Self>, id: &DeliveryId, cancel: CancellationToken) -> Slot {
        self.lock().insert(id.clone(), cancel);
        Slot {
            slots: Arc::clone(self),
            id: id.clone(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }

    pub(crate) fn ids(&self) -> Vec<DeliveryId> {
        self.lock().keys().cloned().collect()
    }

    pub(crate) fn contains(&self, id: &DeliveryId) -> bool {
        self.lock().contains_key(id)
    }

    /// Stops one run.
    pub(crate) fn cancel(&self, id: &DeliveryId) {
        if let Some(cancel) = self.lock().get(id) {
            cancel.cancel();
        }
    }

    /// Until a run ends.
    pub(crate) async fn freed(&self) {
        self.freed.notified().await;
    }
}
