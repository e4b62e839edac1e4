//! A queue for password hashing. Runs a few jobs at a time on blocking threads, so a burst of
//! logins cannot exhaust memory or CPU. Does not know what is computed.

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
    /// A queue for passwords that runs at most `concurrency` jobs at a time (at least one).
    pub fn new(concurrency: usize) -> Self {
        Self::with(Limits {
            running: concurrency,
            ..PASSWORDS
        })
    }

    /// A queue for passphrases of imported keys: one job runs and four wait, at most two per
    /// client.
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

/// A place in the queue, released on drop.
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
mod tests {
    use super::*;
    use std::net::{IpAddr, Ipv4Addr};
    use std::pin::Pin;
    use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
    use std::task::{Context, Poll, Waker};

    type Answer = Result<u32, KdfError>;
    type Job<'a> = Pin<Box<dyn Future<Output = Answer> + 'a>>;

    fn key(number: u32) -> ClientKey {
        ClientKey::of(IpAddr::V4(Ipv4Addr::from_bits(number)))
    }

    fn poll(job: &mut Job<'_>) -> Poll<Answer> {
        job.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    }

    /// A started job that ends when a message is sent or the sender is dropped.
    fn blocker(queue: &KdfQueue, number: u32) -> (SyncSender<()>, Job<'_>) {
        let (sender, receiver): (SyncSender<()>, Receiver<()>) = sync_channel(1);
        let mut job: Job<'_> = Box::pin(queue.run(key(number), move || {
            receiver.recv().ok();
            number
        }));
        assert!(poll(&mut job).is_pending());
        (sender, job)
    }

    fn waiter(queue: &KdfQueue, number: u32) -> Result<Job<'_>, KdfError> {
        let mut job: Job<'_> = Box::pin(queue.run(key(number), move || number));
        match poll(&mut job) {
            Poll::Ready(answer) => Err(answer.unwrap_err()),
            Poll::Pending => Ok(job),
        }
    }

    #[tokio::test]
    async fn one_client_waits_eight_times_and_is_then_refused() {
        let queue = KdfQueue::new(2);
        let (end_a, a) = blocker(&queue, 1);
        let (end_b, b) = blocker(&queue, 1);
        let waiting: Vec<_> = (0..8).map(|_| waiter(&queue, 1).unwrap()).collect();
        assert_eq!(waiter(&queue, 1).err(), Some(KdfError::Busy));
        assert!(waiter(&queue, 2).is_ok(), "others still get in");
        drop((end_a, end_b));
        assert_eq!((a.await, b.await), (Ok(1), Ok(1)));
        for job in waiting {
            assert_eq!(job.await, Ok(1));
        }
        assert!(queue.lock().is_empty());
    }

    #[tokio::test]
    async fn thirty_two_wait_in_all_and_no_more() {
        let queue = KdfQueue::new(1);
        let (end, running) = blocker(&queue, 0);
        let mut waiting: Vec<_> = (0..32).map(|n| waiter(&queue, n).unwrap()).collect();
        assert_eq!(waiter(&queue, 99).err(), Some(KdfError::Busy));
        drop(waiting.pop());
        waiting.push(waiter(&queue, 99).unwrap());
        assert_eq!(
            waiter(&queue, 100).err(),
            Some(KdfError::Busy),
            "a leaver freed one place"
        );
        drop(end);
        assert_eq!(running.await, Ok(0));
        for job in waiting {
            assert!(job.await.is_ok());
        }
        assert!(queue.lock().is_empty());
    }

    #[tokio::test]
    async fn four_imports_wait_two_of_one_client() {
        let queue = KdfQueue::for_imports();
        let (end, running) = blocker(&queue, 1);
        let mut waiting: Vec<_> = (0..2).map(|_| waiter(&queue, 1).unwrap()).collect();
        assert_eq!(waiter(&queue, 1).err(), Some(KdfError::Busy));
        waiting.extend((2..4).map(|n| waiter(&queue, n).unwrap()));
        assert_eq!(waiter(&queue, 4).err(), Some(KdfError::Busy));
        drop(end);
        assert_eq!(running.await, Ok(1));
        for job in waiting {
            assert!(job.await.is_ok());
        }
    }

    #[tokio::test]
    async fn a_started_job_keeps_its_turn_when_its_caller_goes_away() {
        let queue = KdfQueue::new(1);
        let (end, running) = blocker(&queue, 1);
        drop(running);
        assert_eq!(queue.running.available_permits(), 0);
        let next = waiter(&queue, 1).unwrap();
        drop(end);
        assert_eq!(next.await, Ok(1));
    }

    #[tokio::test]
    async fn a_panic_ends_its_job_alone() {
        let queue = KdfQueue::new(1);
        let broken: Answer = queue.run(key(1), || panic!("for the test")).await;
        assert_eq!(broken, Err(KdfError::TaskAborted));
        assert_eq!(queue.run(key(1), || 7).await, Ok(7));
    }

    #[test]
    fn a_full_queue_is_rate_limited() {
        assert_eq!(Problem::from(KdfError::Busy).code, ErrorCode::RateLimited);
        assert_eq!(
            Problem::from(KdfError::TaskAborted).code,
            ErrorCode::Internal
        );
    }
}
