//! Handles to the writers of this process. SQLite has one writer on a dedicated thread; PostgreSQL has one
//! for each [`Lane`].

use crate::compatibility::Outdated;
use crate::dialect::{Engine, Lane, Role};
use crate::open_file::OpenFile;
use crate::write_group::{GroupWriter, Shared};
use crate::write_health::WriteHealth;
use crate::write_job::{Busy, Job, Order, Ran};
use crate::{Conn, Guard, Location, OpenError, StoreError};
use futures_util::future::BoxFuture;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio_util::task::TaskTracker;

/// Capacity of the queue; further callers wait for space.
const QUEUE_LIMIT: usize = 1024;
/// One connection for writing, and one to look up the outcome of a transaction whose connection was lost.
const WRITER_CONNECTIONS: usize = 2;

/// Handles to the writers, one for each lane.
#[derive(Clone, Debug)]
pub(crate) struct Writers {
    rules: Writer,
    queue: Writer,
    arrivals: Writer,
    limits: Writer,
    health: WriteHealth,
}

impl Writers {
    pub(crate) fn open(
        location: &Location,
        changed: &broadcast::Sender<Arc<str>>,
        outdated: &Outdated,
        file: Option<&Arc<OpenFile>>,
    ) -> Result<Self, OpenError> {
        let health = WriteHealth::default();
        let start = |lane| {
            let source = location.source(Role::Writer, WRITER_CONNECTIONS)?;
            let (engine, busy) = (location.engine(), Busy::default());
            let shared = Shared {
                changed: changed.clone(),
                busy: busy.clone(),
                health: health.clone(),
                file: file.cloned(),
            };
            let writer = GroupWriter::new(engine, lane, source, shared);
            Ok(Writer::start(engine, writer, busy, outdated.clone()))
        };
        let rules = start(Lane::Rules)?;
        Ok(match location.engine() {
            Engine::Sqlite => Self {
                queue: rules.clone(),
                arrivals: rules.clone(),
                limits: rules.clone(),
                rules,
                health,
            },
            Engine::Postgres => Self {
                queue: start(Lane::Queue)?,
                arrivals: start(Lane::Arrivals)?,
                limits: start(Lane::Limits)?,
                rules,
                health,
            },
        })
    }

    pub(crate) const fn lane(&self, lane: Lane) -> &Writer {
        match lane {
            Lane::Rules => &self.rules,
            Lane::Queue => &self.queue,
            Lane::Arrivals => &self.arrivals,
            Lane::Limits => &self.limits,
        }
    }

    pub(crate) const fn health(&self) -> &WriteHealth {
        &self.health
    }

    /// Returns how long the slowest writer has worked on its current group.
    pub(crate) fn busy_for(&self) -> Duration {
        let writers = [&self.arrivals, &self.queue, &self.limits, &self.rules];
        let durations = writers.map(|writer| writer.busy.duration());
        durations.into_iter().max().unwrap_or_default()
    }

    /// Returns the number of writes that wait for the writer with the longest queue.
    pub(crate) fn waiting(&self) -> usize {
        let writers = [&self.arrivals, &self.queue, &self.limits, &self.rules];
        let lengths = writers.map(|writer| {
            let orders = &writer.orders;
            orders.max_capacity().saturating_sub(orders.capacity())
        });
        lengths.into_iter().max().unwrap_or_default()
    }

    pub(crate) async fn stop(&self) {
        for writer in [&self.arrivals, &self.queue, &self.limits, &self.rules] {
            writer.stop().await;
        }
    }
}

/// Runs a write under the guard of its task, unless this version may not write.
async fn run<T, E, F>(
    conn: &mut Conn,
    outdated: &Outdated,
    guard: Option<&Guard>,
    job: F,
) -> Result<T, E>
where
    T: Send,
    E: From<StoreError> + Send,
    F: for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T, E>> + Send,
{
    outdated.check()?;
    let Some(guard) = guard else {
        return job(conn).await;
    };
    guard.check(conn).await?;
    let value = job(conn).await?;
    guard.record(conn).await?;
    Ok(value)
}

/// A handle to one writer.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    orders: mpsc::Sender<Order>,
    running: TaskTracker,
    busy: Busy,
    outdated: Outdated,
}

fn stopped() -> StoreError {
    StoreError::NotCommitted("the store is closed, or the write was cut off".to_owned())
}

impl Writer {
    fn start(engine: Engine, writer: GroupWriter, busy: Busy, outdated: Outdated) -> Self {
        let (orders, inbox) = mpsc::channel(QUEUE_LIMIT);
        let running = TaskTracker::new();
        match engine {
            Engine::Sqlite => {
                let (runtime, token) = (Handle::current(), running.token());
                std::thread::spawn(move || {
                    runtime.block_on(writer.serve(inbox));
                    drop(token);
                });
            }
            Engine::Postgres => drop(running.spawn(writer.serve(inbox))),
        }
        running.close();
        Self {
            orders,
            running,
            busy,
            outdated,
        }
    }

    pub(crate) async fn submit<T, E, F>(&self, job: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T, E>> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel::<Result<T, E>>();
        let (guard, outdated) = (Guard::current(), self.outdated.clone());
        let job: Job = Box::new(move |conn| {
            Box::pin(async move {
                // The caller may no longer wait for the reply. The write is kept in this case.
                match run(conn, &outdated, guard.as_ref(), job).await {
                    Ok(value) => Ran::Keep(Box::new(move |commit| {
                        let _ = reply.send(commit.map(|()| value).map_err(E::from));
                    })),
                    Err(error) => Ran::Undo(Box::new(move |_| {
                        let _ = reply.send(Err(error));
                    })),
                }
            })
        });
        self.orders
            .send(Order::Run(job))
            .await
            .map_err(|_| stopped())?;
        answer.await.unwrap_or_else(|_| Err(stopped().into()))
    }

    pub(crate) async fn checkpoint(&self) -> Result<(), StoreError> {
        let (reply, answer) = oneshot::channel();
        self.orders
            .send(Order::Checkpoint(reply))
            .await
            .map_err(|_| stopped())?;
        answer.await.unwrap_or_else(|_| Err(stopped()))
    }

    async fn stop(&self) {
        // If two handles share a writer, the second one finds it already stopped.
        drop(self.orders.send(Order::Stop).await);
        self.running.wait().await;
    }
}
