//! Decides how an attempt ends its delivery: completed, failed, or queued again.

use super::{
    DISABLED_PAUSE, LEASE_EXPIRED, LONGEST_PARKED, MAX_ERROR_CHARS, Next, VAULT_PAUSE, untouched,
};
use crate::handle::Inner;
use crate::run::{Outcome, Trace};
use crate::worker::backoff;
use gatehouse_domain::{DeliveryStatus, Timestamp};
use gatehouse_secrets::Status;
use gatehouse_store::{
    DeliveryAnswer, DeliveryAttempt, DeliveryFinish, DeliveryRequeue, DeliveryResponse,
    DeliveryRow, WAITS_FOR_BUDGET, WAITS_FOR_VAULT,
};
use std::time::Duration;

/// Returns the record of an attempt that counts and will be repeated.
pub(super) fn failed_attempt(
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

pub(super) fn decide(
    inner: &Inner,
    row: &DeliveryRow,
    outcome: Outcome,
    ended: Timestamp,
) -> (Trace, Next) {
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

/// Waits as long as the model provider requested, without using up an attempt. If the delivery has waited too long,
/// the wait uses up an attempt.
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

/// Returns input and output tokens in the types of the store.
fn stored_tokens(trace: &Trace) -> (Option<i64>, Option<i64>) {
    let stored = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let (input, output) = trace.tokens.unzip();
    (input.map(stored), output.map(stored))
}

fn stored_actions(trace: &Trace) -> String {
    // Actions consist of plain fields, so serializing them cannot fail.
    serde_json::to_string(&trace.actions).unwrap_or_else(|_| "[]".to_owned())
}

pub(super) fn finish(
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
