//! The result and outcome of a delivery's run.

use crate::delivery::ResponseAction;
use gatehouse_channels::PreparedInbox;
use gatehouse_domain::{SessionId, Timestamp};
use gatehouse_store::DeliveryResponse;
use std::time::Duration;

/// Maximum length of the stored beginning of an answer, or of a text that was sent without an agent, in characters.
pub(crate) const MAX_OUTCOME_CHARS: usize = 300;

/// The result of a run, whatever its outcome.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    pub(crate) session: Option<SessionId>,
    /// Input and output tokens.
    pub(crate) tokens: Option<(u64, u64)>,
    pub(crate) actions: Vec<ResponseAction>,
    /// How long the agent worked, if one ran.
    pub(crate) agent_ms: Option<u64>,
    /// The beginning of the agent's answer, or of the text that was sent without an agent, as one line.
    pub(crate) outcome: Option<String>,
    /// Whether a channel accepted the text.
    pub(crate) is_delivered: bool,
    /// The name of the channel that accepted a text without an agent.
    pub(crate) channel: Option<String>,
    /// How the receiver responded.
    pub(crate) response: DeliveryResponse,
    /// The message for the inbox. It is stored in the same transaction as the outcome.
    pub(crate) inbox: Option<PreparedInbox>,
}

/// How a run ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    Completed(Trace),
    /// The agent answered, and the answer goes to a channel.
    Answered {
        trace: Trace,
        answer: String,
        target: String,
    },
    /// Failed permanently, with the reason.
    Failed(Trace, String),
    /// Failed, but a retry may succeed: the reason, and the minimum delay.
    Retry(Trace, String, Option<Duration>),
    /// A provider requested this delay. The wait does not count as an attempt, because the delivery did not fail.
    /// Contains the reason.
    Wait(Trace, String, Duration),
    /// The channel did not respond; retry later. Contains the reason.
    Unreachable(String),
    /// The channel is disabled and nothing was sent. Contains the reason.
    Disabled(String),
    /// The run needs a secret, and the vault is sealed.
    Sealed(Trace),
    /// A budget is used up until this time.
    Exhausted(Trace, Timestamp),
    /// The lease may have expired, so the run was refused an action.
    WithoutLease,
    /// A stop signal interrupted the run.
    Interrupted {
        /// Whether a message may have been sent.
        began: bool,
    },
}

impl Outcome {
    /// Returns the outcome of a run that was refused an action. The failure of such a run is not a failure of the
    /// delivery or its target. If `is_stopped` is true, a stop signal caused the refusal. Otherwise the lease may
    /// have expired. If this node still has the lease, the delivery is retried after a delay: while renewals take
    /// longer than the lease, an immediate retry would end in the same way.
    pub(crate) fn without_lease(self, is_stopped: bool) -> Self {
        match self {
            Self::Failed(..) | Self::Retry(..) | Self::Unreachable(_) if is_stopped => {
                Self::Interrupted { began: true }
            }
            Self::Failed(..) | Self::Retry(..) | Self::Unreachable(_) => Self::WithoutLease,
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_its_lease_a_run_has_not_failed() {
        for failed in failures() {
            let outcome = failed.without_lease(false);
            assert!(matches!(outcome, Outcome::WithoutLease), "{outcome:?}");
        }
        let completed = Outcome::Completed(Trace::default()).without_lease(false);
        assert!(matches!(completed, Outcome::Completed(_)), "{completed:?}");
    }

    /// Even the last attempt is queued again. A stop signal closes the fence when it cancels the run, and the run
    /// may notice the refusal before the signal.
    #[test]
    fn a_run_that_is_refused_because_of_a_stop_was_interrupted() {
        for failed in failures() {
            let outcome = failed.without_lease(true);
            assert!(
                matches!(outcome, Outcome::Interrupted { began: true }),
                "{outcome:?}"
            );
        }
        let completed = Outcome::Completed(Trace::default()).without_lease(true);
        assert!(matches!(completed, Outcome::Completed(_)), "{completed:?}");
    }

    fn failures() -> [Outcome; 3] {
        let why = || "the lease of this work has expired".to_owned();
        [
            Outcome::Failed(Trace::default(), why()),
            Outcome::Retry(Trace::default(), why(), None),
            Outcome::Unreachable(why()),
        ]
    }
}
