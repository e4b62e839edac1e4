//! Which deliveries this node works on right now. In memory only; the database has the leases.

use gatehouse_domain::{DeliveryId, WebhookId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// One attempt at a delivery. A lease belongs to an attempt: the same node may lose one and get the next.
pub(crate) type Attempt = (DeliveryId, i64);

/// Which workers a delivery needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pool {
    /// Those that run agents.
    Agent,
    /// Those that send to channels.
    Send,
}

impl Pool {
    /// The pool of a target; that of an agent's turn is empty.
    pub(crate) const fn of(target: &str) -> Self {
        if target.is_empty() {
            Self::Agent
        } else {
            Self::Send
        }
    }
}

/// What a run takes up.
#[derive(Clone, Debug)]
pub(crate) struct Occupied {
    pub(crate) pool: Pool,
    /// The webhook, unless its runs are not limited.
    pub(crate) webhook: Option<WebhookId>,
    /// The channel account, unless its sends are not limited.
    pub(crate) account: Option<Arc<str>>,
    pub(crate) cancel: CancellationToken,
}

/// How much is taken.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Load {
    pub(crate) agent: usize,
    pub(crate) send: usize,
    pub(crate) webhooks: HashMap<WebhookId, usize>,
    pub(crate) accounts: HashMap<Arc<str>, usize>,
}

/// The runs in progress.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    taken: Mutex<HashMap<Attempt, Occupied>>,
    freed: Notify,
}

/// One run's place; free again when this is dropped, also by a panic.
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

    /// What is taken, without the runs that have ended and are only to be written.
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

    pub(crate) fn ids(&self) -> Vec<DeliveryId> {
        self.lock().keys().map(|(id, _)| id.clone()).collect()
    }

    pub(crate) fn contains(&self, id: &DeliveryId) -> bool {
        self.lock().keys().any(|(taken, _)| taken == id)
    }

    /// Stops the runs of one delivery.
    pub(crate) fn cancel(&self, id: &DeliveryId) {
        let taken = self.lock();
        for (_, occupied) in taken.iter().filter(|((taken, _), _)| taken == id) {
            occupied.cancel.cancel();
        }
    }

    /// Until a run ends.
    pub(crate) async fn freed(&self) {
        self.freed.notified().await;
    }
}
