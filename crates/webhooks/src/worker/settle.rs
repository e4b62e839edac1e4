//! Writes how a run ended, in one transaction, and tells of it. A database that does not answer is
//! asked again until it does: what was done must not be done again because it was not noted.

use super::{AFTER_ERROR, backoff, complain};
use crate::handle::Inner;
use crate::metrics;
use crate::run::{Outcome, Trace};
use gatehouse_domain::{DeliveryId, DeliveryStatus, Timestamp};
use gatehouse_secrets::Status;
use gatehouse_store::{DeliveryFinish, DeliveryRequeue, DeliveryWork, StoreError, WAITS_FOR_VAULT};
use std::sync::Arc;
use std::time::Duration;

/// How long a delivery waits that needed the vault in the moment when it was opened.
const VAULT_PAUSE: Duration = Duration::from_secs(5);
/// How many characters of an error are kept.
const MAX_ERROR_CHARS: usize = 1000;

/// Where a delivery goes after a run.
#[derive(Clone, Debug)]
enum Next {
    Finish(DeliveryFinish),
    Requeue(DeliveryRequeue),
}

impl Next {
    const fn status(&self) -> DeliveryStatus {
        match self {
            Self::Finish(finish) => finish.status,
            Self::Requeue(_) => DeliveryStatus::Queued,
        }
    }
}

/// Back to the queue as if nobody had touched it.
pub(super) const fn untouched(now: Timestamp) -> DeliveryRequeue {
    DeliveryRequeue {
        next_attempt_at: Some(now),
        uncount: true,
        error: None,
        session_id: None,
    }
}

/// Writes how a run ended, and tells of it. Nothing happens when the lease was lost meanwhile.
pub(super) async fn settle(
    inner: &Arc<Inner>,
    work: &DeliveryWork,
    public_id: &str,
    outcome: Outcome,
    begun_ms: u64,
) {
    let took = Duration::from_millis(inner.clock.monotonic_ms().saturating_sub(begun_ms));
    let trace = trace_of(&outcome);
    let agent_ms = trace.and_then(|trace| trace.agent_ms);
    let actions = trace.map(|trace| trace.actions.clone()).unwrap_or_default();
    let next = decide(inner, work, outcome, work.started_at.after(took));
    let status = next.status();
    let waits_for_vault =
        matches!(&next, Next::Requeue(requeue) if requeue.next_attempt_at.is_none());
    if !persist(inner, &work.id, next).await {
        tracing::info!(delivery = %work.id, "the run of a delivery ended after its lease");
        return;
    }
    if let Some(agent_ms) = agent_ms {
        metrics::processing_duration(agent_ms);
    }
    for action in &actions {
        metrics::response_action(&action.tool, &action.status);
    }
    metrics::delivery(public_id, status, work.event_type.as_deref());
    tell(inner, &work.id).await;
    // It may have been opened between the refusal and the write above.
    if waits_for_vault
        && inner.secrets.status() != Status::Sealed
        && let Err(error) = super::recover::release_from_vault(inner).await
    {
        complain(&error);
    }
}

/// Gives back what never ran.
pub(super) async fn give_back(inner: &Arc<Inner>, id: &DeliveryId) {
    let next = Next::Requeue(untouched(inner.now()));
    if persist(inner, id, next).await {
        tell(inner, id).await;
    }
}

fn trace_of(outcome: &Outcome) -> Option<&Trace> {
    match outcome {
        Outcome::Completed(trace)
        | Outcome::Failed(trace, _)
        | Outcome::Retry(trace, ..)
        | Outcome::Sealed(trace) => Some(trace),
        Outcome::Interrupted { .. } => None,
    }
}

fn decide(inner: &Inner, work: &DeliveryWork, outcome: Outcome, ended: Timestamp) -> Next {
    let now = inner.now();
    match outcome {
        Outcome::Completed(trace) => {
            Next::Finish(finish(DeliveryStatus::Completed, trace, None, ended))
        }
        Outcome::Failed(trace, why) => {
            Next::Finish(finish(DeliveryStatus::Failed, trace, Some(&why), ended))
        }
        Outcome::Retry(trace, why, after) => {
            let settings = inner.settings.load();
            if work.attempts >= i64::from(settings.max_attempts.max(1)) {
                let why = format!("{why} It was tried {} times.", work.attempts);
                return Next::Finish(finish(DeliveryStatus::Failed, trace, Some(&why), ended));
            }
            let base = Duration::from_millis(settings.retry_base_ms);
            let wait = backoff::wait(base, work.attempts, after, inner.random.as_ref());
            Next::Requeue(DeliveryRequeue {
                next_attempt_at: Some(now.after(wait)),
                uncount: false,
                error: Some(bounded(&why)),
                session_id: trace.session,
            })
        }
        Outcome::Sealed(trace) => Next::Requeue(DeliveryRequeue {
            next_attempt_at: match inner.secrets.status() {
                Status::Sealed => None,
                _ => Some(now.after(VAULT_PAUSE)),
            },
            uncount: true,
            error: Some(WAITS_FOR_VAULT.to_owned()),
            session_id: trace.session,
        }),
        Outcome::Interrupted { began: false } => Next::Requeue(untouched(now)),
        Outcome::Interrupted { began: true } => Next::Requeue(DeliveryRequeue {
            uncount: false,
            error: Some("Gatehouse stopped while it sent this delivery.".to_owned()),
            ..untouched(now)
        }),
    }
}

fn finish(
    status: DeliveryStatus,
    trace: Trace,
    error: Option<&str>,
    finished_at: Timestamp,
) -> DeliveryFinish {
    let tokens = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    DeliveryFinish {
        status,
        finished_at,
        session_id: trace.session,
        input_tokens: trace.tokens.map(|(read, _)| tokens(read)),
        output_tokens: trace.tokens.map(|(_, written)| tokens(written)),
        error: error.map(bounded),
        // Plain fields of text always make JSON.
        response_actions: serde_json::to_string(&trace.actions).unwrap_or_else(|_| "[]".to_owned()),
    }
}

fn bounded(why: &str) -> String {
    why.chars().take(MAX_ERROR_CHARS).collect()
}

/// Whether it was still ours to write.
async fn persist(inner: &Arc<Inner>, id: &DeliveryId, next: Next) -> bool {
    loop {
        let (id, owner, next) = (id.clone(), inner.node.clone(), next.clone());
        let written: Result<bool, StoreError> = inner
            .store
            .write(move |conn| {
                Box::pin(async move {
                    match &next {
                        Next::Finish(finish) => conn.finish_delivery(&id, &owner, finish).await,
                        Next::Requeue(requeue) => conn.requeue_delivery(&id, &owner, requeue).await,
                    }
                })
            })
            .await;
        match written {
            Ok(was_ours) => return was_ours,
            Err(error) => complain(&error),
        }
        tokio::time::sleep(AFTER_ERROR).await;
    }
}

/// A delivery reached a status outside a run: counts and tells.
pub(super) async fn announce(inner: &Arc<Inner>, id: &DeliveryId, status: DeliveryStatus) {
    if let Some(row) = find(inner, id).await {
        if let Some(webhook) = inner.live.find_by_id(&row.webhook_id) {
            metrics::delivery(&webhook.public_id, status, row.event_type.as_deref());
        }
        inner.publish(row);
    }
}

/// Tells whoever listens where a delivery stands now.
async fn tell(inner: &Arc<Inner>, id: &DeliveryId) {
    if inner.events.receiver_count() > 0
        && let Some(row) = find(inner, id).await
    {
        inner.publish(row);
    }
}

/// The delivery as it stands. That nobody hears of a change is no reason to wait for the database.
async fn find(inner: &Inner, id: &DeliveryId) -> Option<gatehouse_store::DeliveryRow> {
    let id = id.clone();
    let row = inner
        .store
        .read(move |conn| Box::pin(async move { conn.find_delivery(id.as_str()).await }));
    row.await.inspect_err(complain).ok().flatten()
}
