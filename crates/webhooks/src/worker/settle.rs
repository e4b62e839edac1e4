//! Decides how to store the end of a run, and announces it after the write.

use super::attempt::Ended;
use super::backoff;
use super::slots::{Attempt, Slot};
use crate::delivery::ResponseAction;
use crate::handle::Inner;
use crate::metrics;
use crate::run::{Outcome, Trace};
use gatehouse_channels::PreparedInbox;
use gatehouse_domain::{DeliveryId, DeliveryStatus, Timestamp};
use gatehouse_secrets::Status;
use gatehouse_store::{
    Conn, DeliveryAnswer, DeliveryAttempt, DeliveryEnd, DeliveryFinish, DeliveryRequeue,
    DeliveryResponse, DeliveryRow, StoreError, WAITS_FOR_BUDGET, WAITS_FOR_VAULT,
};
use std::sync::Arc;
use std::time::Duration;

/// The delay before a retry if the vault was unlocked while the run failed for lack of it.
const VAULT_PAUSE: Duration = Duration::from_secs(5);
/// The delay before a retry if the account was disabled after the claim.
const DISABLED_PAUSE: Duration = Duration::from_secs(1);
/// How long after its arrival a delivery may wait for a provider without using up attempts.
const LONGEST_PARKED: Duration = Duration::from_hours(24);
/// The error of an attempt that was refused what it was about to do, because its lease may have expired.
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
    /// Stores the ends of runs. Returns `false` for each run that had lost its lease: then nothing is changed, and
    /// the caller must not store the message.
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

    /// The end of the delivery, if the run ended it.
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

    /// The inbox message to store in the same transaction.
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

    /// Whether the delivery is parked for the vault.
    pub(super) fn waits_for_vault(&self) -> bool {
        matches!(&self.ending.next, Next::Requeue(requeue) if requeue.next_attempt_at.is_none())
    }

    /// Replaces the result with a failure without values that a database could refuse.
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

/// The record of an attempt that counts and will be repeated.
fn failed_attempt(
    row: &DeliveryRow,
    next: &Next,
    ended_at: Timestamp,
    response: &DeliveryResponse,
) -> Option<DeliveryAttempt> {
    let Next::Requeue(requeue) = next else {
        return None;
    };
    let error = requeue.error.clone().filter(|_| !requeue.uncount)?;
    Some(DeliveryAttempt {
        attempt: row.attempts,
        started_at: row.started_at.unwrap_or(row.received_at),
        ended_at,
        error,
        status_code: response.status_code,
        answer: response.answer.clone(),
    })
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

fn decide(inner: &Inner, row: &DeliveryRow, outcome: Outcome, ended: Timestamp) -> (Trace, Next) {
    let now = inner.now();
    let (completed, failed) = (DeliveryStatus::Completed, DeliveryStatus::Failed);
    match outcome {
        Outcome::Completed(trace) => {
            let next = finish(completed, &trace, None, ended);
            (trace, Next::Finish(next))
        }
        Outcome::Answered {
            trace,
            answer,
            target,
        } => {
            let next = Next::Answer(answered(&trace, answer, target, now));
            (trace, next)
        }
        Outcome::Failed(trace, why) => {
            let next = finish(failed, &trace, Some(&why), ended);
            (trace, Next::Finish(next))
        }
        Outcome::Unreachable(why) => {
            let next = retry(inner, row, &Trace::default(), &why, None, ended);
            (Trace::default(), next)
        }
        Outcome::WithoutLease => {
            let next = retry(inner, row, &Trace::default(), LEASE_EXPIRED, None, ended);
            (Trace::default(), next)
        }
        Outcome::Retry(trace, why, after) => {
            let next = retry(inner, row, &trace, &why, after, ended);
            (trace, next)
        }
        Outcome::Wait(trace, why, asked) => {
            let next = wait(inner, row, &trace, &why, asked, ended);
            (trace, next)
        }
        Outcome::Disabled(why) => {
            let next = Next::Requeue(DeliveryRequeue {
                next_attempt_at: Some(now.after(DISABLED_PAUSE)),
                error: Some(bounded(&why)),
                ..untouched(now)
            });
            (Trace::default(), next)
        }
        Outcome::Sealed(trace) => {
            let next = Next::Requeue(DeliveryRequeue {
                next_attempt_at: match inner.secrets.status() {
                    Status::Sealed => None,
                    _ => Some(now.after(VAULT_PAUSE)),
                },
                uncount: true,
                error: Some(WAITS_FOR_VAULT.to_owned()),
                session_id: trace.session.clone(),
            });
            (trace, next)
        }
        Outcome::Exhausted(trace, resets_at) => {
            let next = Next::Requeue(DeliveryRequeue {
                next_attempt_at: Some(resets_at),
                error: Some(WAITS_FOR_BUDGET.to_owned()),
                session_id: trace.session.clone(),
                ..untouched(now)
            });
            (trace, next)
        }
        Outcome::Interrupted { began: false } => (Trace::default(), Next::Requeue(untouched(now))),
        Outcome::Interrupted { began: true } => {
            let next = Next::Requeue(DeliveryRequeue {
                uncount: false,
                error: Some("Gatehouse stopped while it sent this delivery.".to_owned()),
                ..untouched(now)
            });
            (Trace::default(), next)
        }
    }
}

/// Waits as long as the model's provider asked, without using an attempt. A delivery that waited too long uses
/// its attempts.
fn wait(
    inner: &Inner,
    row: &DeliveryRow,
    trace: &Trace,
    why: &str,
    asked: Duration,
    ended: Timestamp,
) -> Next {
    let now = inner.now();
    if row.received_at.until(now) >= LONGEST_PARKED {
        return retry(inner, row, trace, why, Some(asked), ended);
    }
    let base = Duration::from_millis(inner.settings.load().section.retry_base_ms);
    let wait = backoff::wait(base, row.attempts, Some(asked), inner.random.as_ref());
    Next::Requeue(DeliveryRequeue {
        next_attempt_at: Some(now.after(wait)),
        error: Some(bounded(why)),
        session_id: trace.session.clone(),
        ..untouched(now)
    })
}

fn retry(
    inner: &Inner,
    row: &DeliveryRow,
    trace: &Trace,
    why: &str,
    after: Option<Duration>,
    ended: Timestamp,
) -> Next {
    let settings = inner.settings.load();
    if row.attempts >= i64::from(settings.section.max_attempts.max(1)) {
        let why = format!("{why} It was tried {} times.", row.attempts);
        return Next::Finish(finish(DeliveryStatus::Failed, trace, Some(&why), ended));
    }
    let base = Duration::from_millis(settings.section.retry_base_ms);
    let wait = backoff::wait(base, row.attempts, after, inner.random.as_ref());
    Next::Requeue(DeliveryRequeue {
        next_attempt_at: Some(inner.now().after(wait)),
        uncount: false,
        error: Some(bounded(why)),
        session_id: trace.session.clone(),
    })
}

fn answered(trace: &Trace, answer: String, target: String, now: Timestamp) -> DeliveryAnswer {
    let (input_tokens, output_tokens) = stored_tokens(trace);
    DeliveryAnswer {
        answer: without_nul(answer),
        outcome: trace.outcome.clone(),
        target,
        now,
        session_id: trace.session.clone(),
        input_tokens,
        output_tokens,
        response_actions: stored_actions(trace),
    }
}

/// Input and output tokens as the store has them.
fn stored_tokens(trace: &Trace) -> (Option<i64>, Option<i64>) {
    let stored = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let (input, output) = trace.tokens.unzip();
    (input.map(stored), output.map(stored))
}

fn stored_actions(trace: &Trace) -> String {
    // Actions consist of plain fields, which always serialize.
    serde_json::to_string(&trace.actions).unwrap_or_else(|_| "[]".to_owned())
}

fn finish(
    status: DeliveryStatus,
    trace: &Trace,
    error: Option<&str>,
    finished_at: Timestamp,
) -> DeliveryFinish {
    let (input_tokens, output_tokens) = stored_tokens(trace);
    DeliveryFinish {
        status,
        finished_at,
        session_id: trace.session.clone(),
        input_tokens,
        output_tokens,
        error: error.map(bounded),
        // Only an agent's turn has actions.
        response_actions: trace.agent_ms.map(|_| stored_actions(trace)),
        delivered_at: trace.is_delivered.then_some(finished_at),
        outcome: trace.outcome.clone(),
        channel: trace.channel.clone(),
        response: trace.response.clone(),
    }
}

/// Truncates an error and replaces NUL.
fn bounded(why: &str) -> String {
    without_nul(why.chars().take(MAX_ERROR_CHARS).collect())
}

/// Replaces NUL, which PostgreSQL cannot store.
fn without_nul(text: String) -> String {
    if text.contains('\0') {
        text.replace('\0', "\u{fffd}")
    } else {
        text
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
