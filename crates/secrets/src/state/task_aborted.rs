//! The error for a task that ended before its result was known.

use crate::VaultError;

/// A task ended before its work was complete.
pub(crate) struct TaskAborted;

impl From<TaskAborted> for VaultError {
    fn from(_: TaskAborted) -> Self {
        Self::TaskAborted
    }
}

impl From<TaskAborted> for crate::SecretsError {
    fn from(_: TaskAborted) -> Self {
        Self::TaskAborted
    }
}
