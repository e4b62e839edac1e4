//! The one writer of this process. Jobs that are waiting are run one after the other in one
//! transaction, each behind a savepoint of its own, and all are acknowledged after the commit: an
//! fsync is paid once for up to [`GROUP_LIMIT`] writes.

use crate::dialect::Engine;
use crate::{Conn, Guard, StoreError};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use sqlx::AnyPool;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio_util::task::TaskTracker;

/// How many writes share one commit at most.
const GROUP_LIMIT: usize = 512;
/// How many may wait for the next commit; a caller beyond that waits to be let in.
const QUEUE_LIMIT: usize = 1024;

/// Tells the caller how its write ended, once the group's commit is known.
type Acknowledge = Box<dyn FnOnce(Result<(), StoreError>) + Send>;
/// What a job left behind: keep its changes, or undo them.
enum Ran {
    Keep(Acknowledge),
    Undo(Acknowledge),
}
type Job = Box<dyn for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Ran> + Send>;

enum Order {
    Run(Job),
    Checkpoint(oneshot::Sender<Result<(), StoreError>>),
    Stop,
}

/// A handle to the writer task.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    orders: mpsc::Sender<Order>,
    tasks: TaskTracker,
}

fn stopped() -> StoreError {
    StoreError::NotCommitted("the store is closed".to_owned())
}

impl Writer {
    pub(crate) fn start(
        engine: Engine,
        pool: AnyPool,
        changed: broadcast::Sender<Arc<str>>,
    ) -> Self {
        let (orders, inbox) = mpsc::channel(QUEUE_LIMIT);
        let tasks = TaskTracker::new();
        tasks.spawn(serve(engine, pool, changed, inbox));
        tasks.close();
        Self { orders, tasks }
    }

    pub(crate) async fn submit<T, E, F>(&self, job: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T, E>> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel::<Result<T, E>>();
        let guard = Guard::current();
        let job: Job = Box::new(move |conn| {
            Box::pin(async move {
                // A caller that has gone away is no error: its write stands all the same.
                let may_write = match &guard {
                    Some(guard) => guard.check(conn).await,
                    None => Ok(()),
                };
                let ran = match may_write {
                    Ok(()) => job(conn).await,
                    Err(refused) => Err(E::from(refused)),
                };
                match ran {
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

    pub(crate) async fn stop(&self) {
        if self.orders.send(Order::Stop).await.is_ok() {
            self.tasks.wait().await;
        }
    }
}

async fn serve(
    engine: Engine,
    pool: AnyPool,
    changed: broadcast::Sender<Arc<str>>,
    mut inbox: mpsc::Receiver<Order>,
) {
    while let Some(order) = inbox.recv().await {
        match order {
            Order::Run(first) => {
                let (group, next) = gather(first, &mut inbox);
                run_group(engine, &pool, &changed, group).await;
                match next {
                    Some(Order::Checkpoint(reply)) => {
                        drop(reply.send(empty_log(engine, &pool).await));
                    }
                    Some(Order::Stop) => break,
                    Some(Order::Run(_)) | None => {}
                }
            }
            Order::Checkpoint(reply) => drop(reply.send(empty_log(engine, &pool).await)),
            Order::Stop => break,
        }
    }
    pool.close().await;
}

/// The first job and those that wait behind it, up to the first order of another kind.
fn gather(first: Job, inbox: &mut mpsc::Receiver<Order>) -> (Vec<Job>, Option<Order>) {
    let mut group = vec![first];
    while group.len() < GROUP_LIMIT {
        match inbox.try_recv() {
            Ok(Order::Run(job)) => group.push(job),
            Ok(other) => return (group, Some(other)),
            Err(_) => break,
        }
    }
    (group, None)
}

async fn run_group(
    engine: Engine,
    pool: &AnyPool,
    changed: &broadcast::Sender<Arc<str>>,
    group: Vec<Job>,
) {
    metrics::histogram!("store_group_size").record(u32::try_from(group.len()).unwrap_or(u32::MAX));
    let mut conn = match begin(engine, pool).await {
        Ok(conn) => conn,
        Err(error) => return refuse(group, &error),
    };
    let alone = group.len() == 1;
    let mut acknowledgements = Vec::with_capacity(group.len());
    let mut broken = None;
    for job in group {
        match run_one(&mut conn, job, alone).await {
            Ok(acknowledge) => acknowledgements.extend(acknowledge),
            Err(error) => {
                broken = Some(error);
                break;
            }
        }
    }
    let outcome = match broken {
        None => conn.plain("COMMIT").await,
        Some(error) => Err(error),
    };
    let told = std::mem::take(&mut conn.changed);
    if outcome.is_err() && conn.plain("ROLLBACK").await.is_err() {
        // The engine may have rolled back by itself, or the connection is gone: take a new one.
        conn.discard();
    }
    if let Err(error) = &outcome {
        tracing::error!(
            error = error as &dyn std::error::Error,
            "a group of writes was not committed"
        );
    }
    if outcome.is_ok() {
        for subject in told {
            // Nobody listening is no error.
            drop(changed.send(Arc::from(subject)));
        }
    }
    for acknowledge in acknowledgements {
        acknowledge(copy_of(&outcome));
    }
}

async fn begin(engine: Engine, pool: &AnyPool) -> Result<Conn, StoreError> {
    let mut conn = Conn::new(pool.acquire().await?);
    for statement in engine.begin() {
        if let Err(error) = conn.plain(statement).await {
            conn.discard();
            return Err(error);
        }
    }
    Ok(conn)
}

/// Runs one job of a group. Its own failure undoes it alone; an error returned from here is one of the
/// transaction itself and fails the whole group.
async fn run_one(
    conn: &mut Conn,
    job: Job,
    alone: bool,
) -> Result<Option<Acknowledge>, StoreError> {
    conn.plain("SAVEPOINT job").await?;
    let before = conn.changed.len();
    // A panic in a job must not take the writer with it. Its caller's channel closes: "not committed".
    let ran = AssertUnwindSafe(job(conn)).catch_unwind().await;
    match ran {
        Ok(Ran::Keep(acknowledge)) => {
            if !alone {
                conn.plain("RELEASE SAVEPOINT job").await?;
            }
            Ok(Some(acknowledge))
        }
        Ok(Ran::Undo(acknowledge)) => {
            conn.changed.truncate(before);
            let undone = conn.plain("ROLLBACK TO SAVEPOINT job").await;
            acknowledge(Ok(()));
            undone.map(|()| None)
        }
        Err(_panic) => {
            conn.changed.truncate(before);
            conn.plain("ROLLBACK TO SAVEPOINT job").await.map(|()| None)
        }
    }
}

/// The group could not even begin: every caller is told why.
fn refuse(group: Vec<Job>, error: &StoreError) {
    tracing::error!(
        error = error as &dyn std::error::Error,
        "writes are refused: no transaction could begin"
    );
    drop(group);
}

/// Each caller of a group gets the same outcome; the source stays in the log.
fn copy_of(outcome: &Result<(), StoreError>) -> Result<(), StoreError> {
    match outcome {
        Ok(()) => Ok(()),
        Err(error) => Err(StoreError::NotCommitted(error.to_string())),
    }
}

async fn empty_log(engine: Engine, pool: &AnyPool) -> Result<(), StoreError> {
    let Some(statement) = engine.checkpoint() else {
        return Ok(());
    };
    Conn::new(pool.acquire().await?).plain(statement).await
}
