//! Decides how to store the end of a run, and publishes it after the write.

mod decide;

use super::attempt::Ended;
use super::slots::{Attempt, Slot};
use crate::delivery::ResponseAction;
use crate::handle::Inner;
use crate::metrics;
use crate::run::Trace;
use decide::{decide, failed_attempt, finish};
use gatehouse_channels::PreparedInbox;
use gatehouse_domain::{DeliveryId, DeliveryStatus, Timestamp};
use gatehouse_store::{
    Conn, DeliveryAnswer, DeliveryAttempt, DeliveryEnd, DeliveryFinish, DeliveryRequeue,
    DeliveryRow, StoreError,
};
use std::sync::Arc;
use std::time::Duration;

/// The delay before a retry if the run failed because the vault was sealed, but the vault has been unlocked since.
const VAULT_PAUSE: Duration = Duration::from_secs(5);
/// The delay before a retry if the account was disabled after the claim.
const DISABLED_PAUSE: Duration = Duration::from_secs(1);
/// The maximum time after arrival in which a wait for a provider does not count as an attempt.
const LONGEST_PARKED: Duration = Duration::from_hours(24);
/// The error of an attempt that was refused an action because its lease may have expired.
const LEASE_EXPIRED: &str = "Gatehouse could not renew its lease on this delivery in time.";
/// Maximum length of a stored error, in characters.
const MAX_ERROR_CHARS: usize = 1000;

/// The change to a delivery after a run.
#[derive(Clone, Debug)]
pub(super) enum Next {
    Finish(DeliveryFinish),
    Requeue(DeliveryRequeue),
    Answer(DeliveryAnswer),
}

/// The data to store at the end of a run.
#[derive(Debug)]
pub(super) struct Ending {
    attempt: Attempt,
    next: Next,
    /// The record of this attempt, if it failed and will be repeated.
    failed: Option<DeliveryAttempt>,
    /// The inbox message to store in the same transaction.
    inbox: Option<PreparedInbox>,
}

impl Ending {
    /// Stores the ends of runs. Returns `false` for each run that had lost its lease. For these runs, nothing is
    /// changed, and the caller must not store the inbox message.
    pub(super) async fn write_all(
        endings: &[Arc<Self>],
        conn: &mut Conn,
        owner: &str,
    ) -> Result<Vec<bool>, StoreError> {
        let ends: Vec<_> = endings.iter().filter_map(|it| it.finish()).collect();
        let mut finished = conn.finish_deliveries(owner, &ends).await?.into_iter();
        let mut written = Vec::with_capacity(endings.len());
        for ending in endings {
            let (id, attempt) = &ending.attempt;
            let was_ours = match &ending.next {
                Next::Finish(_) => finished.next().unwrap_or_default(),
                Next::Requeue(requeue) => {
                    conn.requeue_delivery(id, owner, *attempt, requeue).await?
                }
                Next::Answer(answer) => conn.answer_delivery(id, owner, *attempt, answer).await?,
            };
            if let Some(failed) = ending.failed.as_ref().filter(|_| was_ours) {
                conn.insert_delivery_attempt(id, failed).await?;
            }
            written.push(was_ours);
        }
        Ok(written)
    }

    /// Returns the end of the delivery, if the run ended it.
    fn finish(&self) -> Option<DeliveryEnd<'_>> {
        let Next::Finish(finish) = &self.next else {
            return None;
        };
        let (id, attempt) = &self.attempt;
        Some(DeliveryEnd {
            id,
            attempt: *attempt,
            finish,
        })
    }

    /// Returns the inbox message to store in the same transaction.
    pub(super) fn inbox(&self) -> Option<PreparedInbox> {
        self.inbox.clone()
    }
}

/// An ended run to store. Dropping it frees the slot.
#[derive(Debug)]
pub(super) struct Settled {
    pub(super) ending: Arc<Ending>,
    row: DeliveryRow,
    agent_ms: Option<u64>,
    actions: Vec<ResponseAction>,
    _slot: Slot,
}

impl Settled {
    /// Decides what to store.
    pub(super) fn of(inner: &Inner, ended: Ended) -> Self {
        let ended_at = ended
            .row
            .started_at
            .unwrap_or(ended.row.received_at)
            .after(ended.took);
        let (trace, next) = decide(inner, &ended.row, ended.outcome, ended_at);
        let failed = failed_attempt(&ended.row, &next, ended_at, &trace.response);
        Self {
            agent_ms: trace.agent_ms,
            actions: trace.actions,
            ending: Arc::new(Ending {
                attempt: ended.attempt,
                next,
                failed,
                inbox: trace.inbox,
            }),
            row: ended.row,
            _slot: ended.slot,
        }
    }

    pub(super) fn attempt(&self) -> &Attempt {
        &self.ending.attempt
    }

    /// Returns whether the delivery is parked for the vault.
    pub(super) fn waits_for_vault(&self) -> bool {
        matches!(&self.ending.next, Next::Requeue(requeue) if requeue.next_attempt_at.is_none())
    }

    /// Replaces the result with a failure that contains no value that a database could refuse.
    pub(super) fn reduce(&mut self, now: Timestamp) {
        let why = "The result of this delivery could not be stored. The log has the reason.";
        self.ending = Arc::new(Ending {
            attempt: self.ending.attempt.clone(),
            next: Next::Finish(finish(
                DeliveryStatus::Failed,
                &Trace::default(),
                Some(why),
                now,
            )),
            failed: None,
            inbox: None,
        });
        self.actions = Vec::new();
    }

    /// Updates metrics and publishes events after the write.
    pub(super) fn publish(mut self, inner: &Inner, was_ours: bool) {
        if !was_ours {
            tracing::info!(delivery = %self.row.id, "the run of a delivery ended after its lease");
            return;
        }
        if let Some(agent_ms) = self.agent_ms {
            metrics::processing_duration(agent_ms);
        }
        for action in &self.actions {
            metrics::response_action(&action.tool, &action.status);
        }
        match &self.ending.next {
            Next::Finish(finish) => finish.apply(&mut self.row),
            Next::Requeue(requeue) => requeue.apply(&mut self.row),
            Next::Answer(answer) => answer.apply(&mut self.row),
        }
        let event = self.row.event_type.as_deref();
        metrics::delivery(&self.row.webhook_id, self.row.status, event);
        if let Some(message) = &self.ending.inbox {
            inner.channels.announce_inbox(message.clone());
        }
        inner.publish(&self.row);
    }
}

/// Requeues a delivery without counting the attempt.
pub(super) const fn untouched(now: Timestamp) -> DeliveryRequeue {
    DeliveryRequeue {
        next_attempt_at: Some(now),
        uncount: true,
        error: None,
        session_id: None,
    }
}

/// Updates metrics and publishes an event after a change of status outside a run.
pub(super) async fn announce(inner: &Arc<Inner>, id: &DeliveryId, status: DeliveryStatus) {
    if let Some(row) = find(inner, id).await {
        metrics::delivery(&row.webhook_id, status, row.event_type.as_deref());
        inner.publish(&row);
    }
}

/// Reads a delivery. Returns `None` on a database error, because announcing a change is best effort.
async fn find(inner: &Inner, id: &DeliveryId) -> Option<DeliveryRow> {
    let id = id.clone();
    let row = inner
        .queue
        .read(move |conn| Box::pin(async move { conn.find_delivery(id.as_str()).await }));
    row.await.inspect_err(super::complain).ok().flatten()
}
