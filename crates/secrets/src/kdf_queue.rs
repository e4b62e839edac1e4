//! A queue for password hashing. Runs a few jobs at a time on blocking threads, so a burst of logins cannot exhaust
//! memory or CPU.

use gatehouse_domain::{ClientKey, ErrorCode, Problem};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Semaphore, TryAcquireError};

/// How many jobs may run and wait concurrently.
#[derive(Clone, Copy, Debug)]
struct Limits {
    running: usize,
    waiting: usize,
    waiting_per_client: usize,
}

/// Password jobs. `running` is only a placeholder: [`KdfQueue::new`] replaces it.
const PASSWORDS: Limits = Limits {
    running: 2,
    waiting: 32,
    waiting_per_client: 8,
};
/// Key imports: each may take seconds, and no login depends on them.
const IMPORTS: Limits = Limits {
    running: 1,
    waiting: 4,
    waiting_per_client: 2,
};
/// The estimated time until a full queue has a free slot.
const RETRY_AFTER_MS: u64 = 1_000;

/// Why a job returned no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KdfError {
    /// Too many jobs are waiting, in total or for this client.
    #[error("the queue for password hashing is full")]
    Busy,
    /// The job panicked, or the runtime is stopping.
    #[error("password hashing did not complete")]
    TaskAborted,
}

impl From<KdfError> for Problem {
    fn from(error: KdfError) -> Self {
        match error {
            KdfError::Busy => Self::rate_limited(RETRY_AFTER_MS),
            KdfError::TaskAborted => Self::new(
                ErrorCode::Internal,
                "The password could not be checked. The server's log has the details.",
            ),
        }
    }
}

/// A first-in, first-out queue. Cheap to clone: the whole process shares one queue for passwords.
#[derive(Clone, Debug)]
pub struct KdfQueue {
    limits: Limits,
    running: Arc<Semaphore>,
    waiting: Arc<Mutex<Vec<ClientKey>>>,
}

impl KdfQueue {
    /// Returns a queue for passwords that runs at most `concurrency` jobs at a time (at least one).
    pub fn new(concurrency: usize) -> Self {
        Self::with(Limits {
            running: concurrency,
            ..PASSWORDS
        })
    }

    /// Returns a queue for passphrases of imported keys. One job runs and four wait, at most two per client.
    pub(crate) fn for_imports() -> Self {
        Self::with(IMPORTS)
    }

    fn with(limits: Limits) -> Self {
        let permits = limits.running.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            limits,
            running: Arc::new(Semaphore::new(permits)),
            waiting: Arc::new(Mutex::new(Vec::with_capacity(limits.waiting))),
        }
    }

    /// Runs `work` once a permit is free. Dropping the future while it waits leaves the queue. A
    /// started job runs to completion and keeps its permit until then.
    pub async fn run<T, F>(&self, client: ClientKey, work: F) -> Result<T, KdfError>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let turn = match Arc::clone(&self.running).try_acquire_owned() {
            Ok(turn) => turn,
            Err(TryAcquireError::Closed) => return Err(KdfError::TaskAborted),
            Err(TryAcquireError::NoPermits) => {
                let _waiting = self.enter(client)?;
                let turn = Arc::clone(&self.running).acquire_owned().await;
                turn.map_err(|_| KdfError::TaskAborted)?
            }
        };
        let job = tokio::task::spawn_blocking(move || {
            let answer = work();
            drop(turn);
            answer
        });
        job.await.map_err(|error| {
            tracing::error!(%error, "password hashing did not complete");
            KdfError::TaskAborted
        })
    }

    fn enter(&self, client: ClientKey) -> Result<Waiting<'_>, KdfError> {
        let mut waiting = self.lock();
        let of_client = waiting.iter().filter(|key| **key == client).count();
        if waiting.len() >= self.limits.waiting || of_client >= self.limits.waiting_per_client {
            return Err(KdfError::Busy);
        }
        waiting.push(client);
        Ok(Waiting {
            queue: self,
            client,
        })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<ClientKey>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A slot in the queue, released on drop.
struct Waiting<'a> {
    queue: &'a KdfQueue,
    client: ClientKey,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut waiting = self.queue.lock();
        if let Some(place) = waiting.iter().position(|key| *key == self.client) {
            waiting.swap_remove(place);
        }
    }
}

#[cfg(test)]
mod tests;
