//! Publishes changes of deliveries. Subscribers of deliveries receive each change; a subscriber that falls behind
//! misses changes. Failures and refusals are also collected for notices, and kept until they are taken.

use crate::delivery::DeliveryChange;
use crate::handle::Webhooks;
use gatehouse_domain::{DeliveryId, DeliveryStatus, WebhookId};
use gatehouse_store::{CANCELLED, DeliveryRow};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::{Notify, broadcast, watch};

/// How many delivery changes a subscriber may lag behind.
const EVENTS: usize = 1024;
/// How many failures and refusals are kept as separate entries. A further one is added to the last entry of its
/// webhook.
const ONE_BY_ONE: usize = 1024;

/// Deliveries of a webhook that failed or were refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failures {
    pub webhook_id: WebhookId,
    /// `Failed` or `Rejected`.
    pub status: DeliveryStatus,
    /// At least 1.
    pub count: i64,
    pub first: DeliveryId,
    pub last: DeliveryId,
}

impl Failures {
    fn is_like(&self, other: &Self) -> bool {
        self.status == other.status && self.webhook_id == other.webhook_id
    }
}

/// Adds failures to the waiting ones. There are at most [`ONE_BY_ONE`] entries, plus two per webhook.
fn add(waiting: &mut Vec<Failures>, more: Failures) {
    if waiting.len() >= ONE_BY_ONE
        && let Some(known) = waiting.iter_mut().rev().find(|it| it.is_like(&more))
    {
        known.count = known.count.saturating_add(more.count);
        known.last = more.last;
    } else {
        waiting.push(more);
    }
}

/// A change that may be published.
pub(crate) struct Changed<'a> {
    pub(crate) id: &'a DeliveryId,
    pub(crate) webhook_id: &'a WebhookId,
    pub(crate) status: DeliveryStatus,
    pub(crate) error: Option<&'a str>,
}

impl Changed<'_> {
    /// Returns whether the change is reported as a failure. Canceled deliveries have the status `Failed`, but are
    /// not reported.
    fn is_failure(&self) -> bool {
        match self.status {
            DeliveryStatus::Failed => self.error != Some(CANCELLED),
            DeliveryStatus::Rejected => true,
            _ => false,
        }
    }
}

/// A function that returns whether subscribers currently need changes.
type Condition = Box<dyn Fn() -> bool + Send + Sync>;

/// The channels for changes of deliveries.
pub(crate) struct Changes {
    /// Changes for subscribers that need them only while a condition is true.
    events: broadcast::Sender<Arc<DeliveryChange>>,
    condition: OnceLock<Condition>,
    /// The last delivery that failed and was not canceled.
    failed: watch::Sender<Option<Arc<DeliveryChange>>>,
    /// Failures and refusals that were not yet taken.
    waiting: Mutex<Vec<Failures>>,
    noted: Notify,
}

impl Default for Changes {
    fn default() -> Self {
        Self {
            events: broadcast::Sender::new(EVENTS),
            condition: OnceLock::new(),
            failed: watch::Sender::new(None),
            waiting: Mutex::default(),
            noted: Notify::new(),
        }
    }
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changes").finish_non_exhaustive()
    }
}

impl Changes {
    fn waiting(&self) -> MutexGuard<'_, Vec<Failures>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Vec<Failures> {
        std::mem::take(&mut *self.waiting())
    }

    /// Publishes a change. Builds its event only if it is needed.
    pub(crate) fn publish(&self, changed: &Changed<'_>, event: impl FnOnce() -> DeliveryChange) {
        let is_failure = changed.is_failure();
        if is_failure {
            let one = Failures {
                webhook_id: changed.webhook_id.clone(),
                status: changed.status,
                count: 1,
                first: changed.id.clone(),
                last: changed.id.clone(),
            };
            add(&mut self.waiting(), one);
            self.noted.notify_one();
        }
        let is_wanted = self.is_wanted();
        let has_failed = is_failure
            && changed.status == DeliveryStatus::Failed
            && self.failed.receiver_count() > 0;
        if !is_wanted && !has_failed {
            return;
        }
        let event = Arc::new(event());
        if has_failed {
            self.failed.send_replace(Some(Arc::clone(&event)));
        }
        if is_wanted {
            // The last receiver may have been dropped in the meantime.
            drop(self.events.send(event));
        }
    }

    /// Publishes the current state of a delivery.
    pub(crate) fn publish_row(&self, row: &DeliveryRow) {
        let changed = Changed {
            id: &row.id,
            webhook_id: &row.webhook_id,
            status: row.status,
            error: row.error.as_deref(),
        };
        self.publish(&changed, || row.into());
    }

    fn is_wanted(&self) -> bool {
        self.condition.get().is_some_and(|condition| condition())
            && self.events.receiver_count() > 0
    }
}

impl Webhooks {
    /// Subscribes to delivery status changes that happen while `is_wanted` returns true. All subscribers share the
    /// `is_wanted` of the first one, which is called for each change. A subscriber that falls behind misses some
    /// changes.
    pub fn subscribe(
        &self,
        is_wanted: impl Fn() -> bool + Send + Sync + 'static,
    ) -> broadcast::Receiver<Arc<DeliveryChange>> {
        let changes = &self.0.changes;
        changes.condition.get_or_init(|| Box::new(is_wanted));
        changes.events.subscribe()
    }

    /// Returns whether changes that are neither failures nor refusals are published.
    #[doc(hidden)]
    pub fn publishes_changes(&self) -> bool {
        self.0.changes.is_wanted()
    }

    /// Returns the last failed delivery and its successors. Each failure replaces the previous one. Canceled
    /// deliveries do not count as failed.
    pub fn last_failure(&self) -> watch::Receiver<Option<Arc<DeliveryChange>>> {
        self.0.changes.failed.subscribe()
    }

    /// Waits for failures and refusals and takes them in order. Returns nothing if a concurrent
    /// [`Self::take_failures`] has taken them. Cancellation-safe.
    pub async fn next_failures(&self) -> Vec<Failures> {
        self.0.changes.noted.notified().await;
        self.0.changes.take()
    }

    /// Takes the failures and refusals since the last call, in order. Does not include canceled deliveries.
    pub fn take_failures(&self) -> Vec<Failures> {
        self.0.changes.take()
    }

    /// Puts back failures that could not be counted, in front of newer ones.
    pub fn return_failures(&self, earlier: Vec<Failures>) {
        let mut waiting = self.0.changes.waiting();
        let since = std::mem::replace(&mut *waiting, earlier);
        for more in since {
            add(&mut waiting, more);
        }
    }
}

#[cfg(test)]
mod tests;
