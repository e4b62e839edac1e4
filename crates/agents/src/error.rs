//! What can go wrong with agents, sessions and the beginning of turns, and what a caller is told.

use gatehouse_domain::{ErrorCode, Problem};
use gatehouse_store::StoreError;

/// It was refused or failed; nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum AgentsError {
    /// The caller's input is not acceptable.
    #[error("invalid {field}: {reason}")]
    Invalid {
        /// Which field.
        field: &'static str,
        /// Why, for a person.
        reason: String,
    },
    /// There is no such thing; the text is a noun.
    #[error("there is no such {0}")]
    NotFound(&'static str),
    /// The agent's id is in use.
    #[error("the id is taken")]
    IdTaken,
    /// The agent `default` always exists.
    #[error("the agent `default` cannot be deleted")]
    DefaultAgent,
    /// So many turns wait in the session, or in all, that no more are taken.
    #[error("too many turns wait")]
    TooManyWaiting,
    /// The key of the model that is to answer a webhook is in the vault, and the vault is sealed.
    #[error("the vault is sealed")]
    Sealed,
    /// Gatehouse ends.
    #[error("shutting down")]
    ShuttingDown,
    /// The database.
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
            AgentsError::IdTaken => Self::new(ErrorCode::Conflict, "That id is taken."),
            AgentsError::DefaultAgent => Self::new(
                ErrorCode::Conflict,
                "The agent `default` always exists; it can be changed, but not deleted.",
            ),
            // How long the turns before it take is not known: a while.
            AgentsError::TooManyWaiting => Self::rate_limited(10_000),
            AgentsError::Sealed => Self::vault_sealed(),
            AgentsError::ShuttingDown => Self::new(
                ErrorCode::StorageUnavailable,
                "Gatehouse is shutting down; try again in a moment.",
            ),
            AgentsError::Store(error) => error.into(),
        }
    }
}
