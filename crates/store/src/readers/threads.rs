//! Threads that read SQLite, and sessions that read PostgreSQL.

use super::{Job, READERS};
use crate::StoreError;
use crate::conn::Conn;
use crate::location::Source;
use deadpool_postgres::Pool;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, SemaphorePermit, mpsc};
use tokio_util::task::TaskTracker;

/// Sessions of a PostgreSQL server.
#[derive(Clone, Debug)]
pub(crate) struct Sessions {
    pub(super) source: Source,
    pub(super) pool: Pool,
    pub(super) running: TaskTracker,
}

impl Sessions {
    /// Reads in a separate task, which completes even if the caller stops waiting. Otherwise a silent connection
    /// would return to the pool when a caller stops waiting before the connection's timeout.
    pub(super) async fn start_reading(&self, job: Job) -> Result<(), StoreError> {
        let mut conn = self.source.connect().await?;
        self.running.spawn(async move {
            let reply = job(&mut conn).await;
            conn.give_back();
            reply();
        });
        Ok(())
    }
}

/// Threads that each own a connection and take jobs from a shared queue.
#[derive(Clone, Debug)]
pub(crate) struct Threads {
    jobs: Arc<Mutex<Option<mpsc::Sender<Job>>>>,
    /// One permit per thread. A permit is held until the caller has received the result, which limits the number of
    /// results in memory if callers are slower than the threads.
    permits: Arc<Semaphore>,
    running: TaskTracker,
}

impl Threads {
    pub(super) fn start(conns: Vec<Conn>) -> Self {
        let permits = Arc::new(Semaphore::new(conns.len()));
        let (jobs, queue) = mpsc::channel::<Job>(READERS);
        let queue = Arc::new(Mutex::new(queue));
        let closing = Arc::new(Mutex::new(()));
        let running = TaskTracker::new();
        for mut conn in conns {
            let (queue, closing) = (Arc::clone(&queue), Arc::clone(&closing));
            let (runtime, token) = (Handle::current(), running.token());
            std::thread::spawn(move || {
                let next = || {
                    let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
                    queue.blocking_recv()
                };
                while let Some(job) = next() {
                    // If the job panics, its reply channel closes and the caller gets an error.
                    drop(std::panic::catch_unwind(AssertUnwindSafe(|| {
                        runtime.block_on(job(&mut conn))();
                    })));
                }
                // Only one connection closes at a time. If two connections close at once, neither is the last one,
                // and SQLite leaves its `-wal` and `-shm` files.
                let turn = closing.lock();
                drop(conn);
                drop(turn);
                drop(token);
            });
        }
        running.close();
        Self {
            jobs: Arc::new(Mutex::new(Some(jobs))),
            permits,
            running,
        }
    }

    pub(super) async fn start_reading(&self, job: Job) -> Result<SemaphorePermit<'_>, StoreError> {
        let closed = || StoreError::unavailable("the store is closed");
        let permit = self.permits.acquire().await.map_err(|_| closed())?;
        let jobs = self.sender().ok_or_else(closed)?;
        jobs.send(job).await.map_err(|_| closed())?;
        Ok(permit)
    }

    fn sender(&self) -> Option<mpsc::Sender<Job>> {
        self.jobs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(super) async fn close(&self) {
        drop(
            self.jobs
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
        self.running.wait().await;
    }
}
