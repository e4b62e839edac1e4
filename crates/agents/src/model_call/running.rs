//! The running calls.

use crate::error::AgentsError;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// The maximum number of concurrent calls.
const MAX_CALLS: usize = 256;

/// The running calls.
#[derive(Debug)]
pub(crate) struct ModelCalls {
    permits: Arc<Semaphore>,
    pub(super) cancel: CancellationToken,
}

impl Default for ModelCalls {
    fn default() -> Self {
        Self {
            permits: Arc::new(Semaphore::new(MAX_CALLS)),
            cancel: CancellationToken::new(),
        }
    }
}

impl ModelCalls {
    pub(super) fn admit(&self) -> Result<OwnedSemaphorePermit, AgentsError> {
        let permit = Arc::clone(&self.permits).try_acquire_owned();
        permit.map_err(|_| AgentsError::TooManyWaiting)
    }

    /// Stops the running calls.
    pub(crate) fn cancel_all(&self) {
        self.cancel.cancel();
    }
}
