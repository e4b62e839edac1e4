//! The slots of running deliveries. Slots are in memory only; the leases are in the database.

use gatehouse_domain::{DeliveryId, WebhookId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// A delivery and the number of the attempt. A lease belongs to one attempt: a node may lose the lease of one attempt
/// and get the lease of the next.
pub(crate) type Attempt = (DeliveryId, i64);

/// The pool of slots that a delivery uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pool {
    /// Agent turns.
    Agent,
    /// Channel sends.
    Send,
}

impl Pool {
    /// Returns the pool of a target. Agent turns have an empty target.
    pub(crate) const fn of(target: &str) -> Self {
        if target.is_empty() {
            Self::Agent
        } else {
            Self::Send
        }
    }
}

/// The resources of a run.
#[derive(Clone, Debug)]
pub(crate) struct Occupied {
    pub(crate) pool: Pool,
    /// The webhook; `None` if the limit per webhook does not apply.
    pub(crate) webhook: Option<WebhookId>,
    /// The channel account; `None` if the limit per account does not apply.
    pub(crate) account: Option<Arc<str>>,
    pub(crate) cancel: CancellationToken,
}

/// The number of runs per pool, webhook and account.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Load {
    pub(crate) agent: usize,
    pub(crate) send: usize,
    pub(crate) webhooks: HashMap<WebhookId, usize>,
    pub(crate) accounts: HashMap<Arc<str>, usize>,
}

/// The running deliveries of this node.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    taken: Mutex<HashMap<Attempt, Occupied>>,
    freed: Notify,
}

/// The slot of a run. Dropping it frees the slot, even during a panic.
#[derive(Debug)]
pub(crate) struct Slot {
    slots: Arc<Slots>,
    attempt: Attempt,
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.lock().remove(&self.attempt);
        self.slots.freed.notify_one();
    }
}

impl Slots {
    fn lock(&self) -> MutexGuard<'_, HashMap<Attempt, Occupied>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn take(self: &Arc<Self>, attempt: Attempt, occupied: Occupied) -> Slot {
        self.lock().insert(attempt.clone(), occupied);
        Slot {
            slots: Arc::clone(self),
            attempt,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }

    /// Returns the current load without the runs in `ended`, which only have to be stored.
    pub(crate) fn load(&self, ended: &[Attempt]) -> Load {
        let mut load = Load::default();
        let taken = self.lock();
        for (_, occupied) in taken.iter().filter(|(one, _)| !ended.contains(one)) {
            match occupied.pool {
                Pool::Agent => load.agent += 1,
                Pool::Send => load.send += 1,
            }
            if let Some(webhook) = &occupied.webhook {
                *load.webhooks.entry(webhook.clone()).or_default() += 1;
            }
            if let Some(account) = &occupied.account {
                *load.accounts.entry(Arc::clone(account)).or_default() += 1;
            }
        }
        load
    }

    pub(crate) fn attempts(&self) -> Vec<Attempt> {
        self.lock().keys().cloned().collect()
    }

    pub(crate) fn contains(&self, id: &DeliveryId) -> bool {
        self.lock().keys().any(|(taken, _)| taken == id)
    }

    /// Cancels the run of an attempt.
    pub(crate) fn cancel(&self, attempt: &Attempt) {
        if let Some(occupied) = self.lock().get(attempt) {
            occupied.cancel.cancel();
        }
    }

    /// Waits until a slot is freed.
    pub(crate) async fn freed(&self) {
        self.freed.notified().await;
    }
}
