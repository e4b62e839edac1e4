//! The outcome of a run whose turn failed or was incomplete.

use super::{Outcome, Stops, Trace, UNSTATED_WAIT};
use gatehouse_agents::{AgentsError, Stop, TurnReport};
use gatehouse_domain::{ErrorCode, Problem, Timestamp};
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;

/// Returns when the budget that stopped a turn resets.
pub(super) fn resets_at(problem: &Problem) -> Option<Timestamp> {
    if problem.code != ErrorCode::BudgetExhausted {
        return None;
    }
    let at = problem.details.get("resets_at")?;
    Timestamp::deserialize(at).ok()
}

/// Returns the delay after a rate limit or an overload of the model provider: the requested delay, otherwise
/// [`UNSTATED_WAIT`]. Returns `None` for exhausted credit, even if the provider requests a delay: waiting does not
/// help, so the failure must be reported.
pub(super) fn asked_wait(problem: &Problem) -> Option<Duration> {
    let reason = problem.details.get("reason")?.as_str()?;
    if !matches!(reason, "rate_limited" | "overloaded") {
        return None;
    }
    let seconds = problem.details.get("retry_after_seconds");
    let seconds = seconds.and_then(Value::as_u64);
    Some(seconds.map_or(UNSTATED_WAIT, Duration::from_secs))
}

/// Returns the reason why a turn that ended normally has no answer.
pub(super) fn lack_of(report: &TurnReport) -> Option<&'static str> {
    match report.stop {
        Stop::Refused => Some("The model refused to answer."),
        Stop::Filtered => Some("The content filter of the model provider removed the answer."),
        _ if !report.has_answer => Some("The agent's answer is empty."),
        _ => None,
    }
}

pub(super) fn no_turn(error: AgentsError, stops: Stops<'_>) -> Outcome {
    let trace = Trace::default();
    match error {
        _ if stops.is_any() => Outcome::Interrupted { began: false },
        AgentsError::TakenOver => Outcome::Interrupted { began: false },
        AgentsError::Sealed => Outcome::Sealed(trace),
        AgentsError::Budget(exhausted) => Outcome::Exhausted(trace, exhausted.resets_at),
        AgentsError::ShuttingDown => {
            let why = "The agent could not start a turn.".to_owned();
            Outcome::Retry(trace, why, None)
        }
        AgentsError::NotFound("agent") | AgentsError::Invalid { field: "agent", .. } => {
            Outcome::Failed(
            trace,
            "The agent of this webhook no longer exists. Choose another one for the webhook, then \
             replay the delivery."
                .to_owned(),
            )
        }
        AgentsError::TooManyWaiting => {
            let why = "Too many turns wait in the session of this delivery.".to_owned();
            Outcome::Retry(trace, why, None)
        }
        AgentsError::Store(error) if error.is_unavailable() => {
            let why = "The database was unavailable when the agent was about to start.".to_owned();
            Outcome::Retry(trace, why, None)
        }
        other => Outcome::Failed(trace, Problem::from(other).message),
    }
}
