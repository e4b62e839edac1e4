//! Errors of agents, sessions and starting a turn, and how the API reports them.

use crate::budget_values::Exhausted;
use gatehouse_domain::{ErrorCode, Problem};
use gatehouse_store::StoreError;

/// Why an operation was refused or failed. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum AgentsError {
    #[error("invalid {field}: {reason}")]
    Invalid { field: &'static str, reason: String },
    /// The text is a noun.
    #[error("the {0} does not exist")]
    NotFound(&'static str),
    /// The file exceeds this limit in bytes.
    #[error("the file is over the limit of {0} bytes")]
    FileTooLarge(u64),
    #[error("the ID is already in use")]
    IdTaken,
    #[error("a turn is waiting or running in the session")]
    TurnRunning,
    #[error("the agent `default` cannot be deleted")]
    DefaultAgent,
    /// The turn waits or runs.
    #[error("the turn has not ended")]
    TurnRuns,
    /// The session has too many waiting turns, or too many sessions are active.
    #[error("too many turns are waiting")]
    TooManyWaiting,
    /// The model for a webhook has its key in the vault, and the vault is sealed.
    #[error("the vault is sealed")]
    Sealed,
    #[error(transparent)]
    Budget(#[from] Exhausted),
    #[error("shutting down")]
    ShuttingDown,
    /// Another node may have taken over the work that the text belongs to.
    #[error("the lease of this work has expired")]
    TakenOver,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl AgentsError {
    pub(crate) fn invalid(field: &'static str, reason: impl Into<String>) -> Self {
        Self::Invalid {
            field,
            reason: reason.into(),
        }
    }
}

impl From<AgentsError> for Problem {
    fn from(error: AgentsError) -> Self {
        match error {
            AgentsError::Invalid { field, reason } => Self::invalid_params(field, reason),
            AgentsError::NotFound(what) => Self::not_found(what),
            AgentsError::FileTooLarge(max_bytes) => Self::too_large("file", max_bytes),
            AgentsError::IdTaken => Self::new(ErrorCode::Conflict, "This ID is already in use."),
            AgentsError::TurnRunning => Self::new(
                ErrorCode::Conflict,
                "A turn is waiting or running in this session. Nothing was changed. Wait until it ends or stop it, and \
                 check its messages first.",
            ),
            AgentsError::DefaultAgent => Self::new(
                ErrorCode::Conflict,
                "The agent `default` always exists; it can be changed, but not deleted.",
            ),
            AgentsError::TurnRuns => Self::new(
                ErrorCode::Conflict,
                "The turn, or one after it, has not ended. Stop it, then try again.",
            ),
            // The wait for the earlier turns is unknown. 10 seconds is an estimate.
            AgentsError::TooManyWaiting => Self::rate_limited(10_000),
            AgentsError::Sealed => Self::vault_sealed(),
            AgentsError::Budget(exhausted) => exhausted.into(),
            AgentsError::ShuttingDown => Self::new(
                ErrorCode::StorageUnavailable,
                "Gatehouse is shutting down; try again in a moment.",
            ),
            AgentsError::TakenOver => Self::new(
                ErrorCode::StorageUnavailable,
                "Another node may have taken over this work; try again in a moment.",
            ),
            AgentsError::Store(error) => error.into(),
        }
    }
}
