//! Reasons why a turn ends early, and their reports.

use crate::budget_values::Exhausted;
use crate::stop::Stop;
use gatehouse_domain::{ErrorCode, Problem};
use gatehouse_models::ModelError;
use gatehouse_store::StoreError;
use std::time::Duration;

/// The message to people about a stopped turn.
pub(super) const STOPPED: &str = "The turn was stopped.";

/// Why a turn ended early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TurnFailure {
    /// A caller stopped the turn, or Gatehouse is shutting down.
    #[error("stopped")]
    Stopped,
    /// The turn exceeded its timeout.
    #[error("the turn took longer than {} seconds", .0.as_secs())]
    TimedOut(Duration),
    /// The session was deleted during the turn.
    #[error("the session was deleted")]
    SessionGone,
    /// This process did not renew the turn or the lease of its work, so another node has taken it over or may do so.
    #[error("the turn was interrupted")]
    TakenOver,
    /// Even the agent `default` is missing.
    #[error("there is no agent")]
    NoAgent,
    /// A bug in Gatehouse.
    #[error("a turn panicked")]
    Panicked,
    /// No model could be chosen, or it did not answer.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A budget that applies to the next call is used up.
    #[error(transparent)]
    Budget(Exhausted),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl TurnFailure {
    /// Returns the label for the metrics.
    pub(crate) const fn outcome(&self) -> &'static str {
        match self {
            Self::Stopped | Self::SessionGone | Self::TakenOver => "stopped",
            Self::TimedOut(_) => "timed_out",
            Self::Model(_) => "model_failed",
            Self::Budget(_) => "budget_exhausted",
            Self::NoAgent | Self::Panicked | Self::Store(_) => "error",
        }
    }

    /// Returns why the answer ended. `is_shutdown` means that Gatehouse is shutting down.
    pub(crate) const fn stop(&self, is_shutdown: bool) -> Stop {
        match self {
            Self::TakenOver => Stop::Interrupted,
            Self::Stopped if is_shutdown => Stop::Interrupted,
            Self::Stopped | Self::SessionGone => Stop::Aborted,
            _ => Stop::Error,
        }
    }

    /// Returns the problem to show to callers. Logs internal failures.
    pub(crate) fn into_problem(self) -> Problem {
        if matches!(self, Self::NoAgent | Self::Panicked | Self::Store(_)) {
            tracing::error!(error = &self as &dyn std::error::Error, "a turn failed");
        }
        match self {
            Self::TakenOver => Problem::new(
                ErrorCode::Conflict,
                "The turn was interrupted because this node did not respond for some time.",
            ),
            Self::Stopped => Problem::new(ErrorCode::Conflict, STOPPED),
            Self::TimedOut(limit) => Problem::new(
                ErrorCode::Timeout,
                format!(
                    "The turn was stopped after {} seconds (agents.turn_timeout_seconds). The \
                     output so far is kept. Raise the setting or make a smaller request.",
                    limit.as_secs()
                ),
            ),
            Self::SessionGone => Problem::not_found("session"),
            Self::Model(error) => error.into(),
            Self::Budget(exhausted) => exhausted.into(),
            Self::Store(error) => error.into(),
            Self::NoAgent | Self::Panicked => Problem::internal(),
        }
    }
}
