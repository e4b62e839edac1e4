//! The writers of this process. Jobs that are waiting run one after the other in one transaction, each behind a
//! savepoint of its own, and all are acknowledged after the commit: an fsync is paid once for up to
//! [`GROUP_LIMIT`] writes.
//!
//! SQLite has one writer, on a thread of its own. PostgreSQL has one for each [`Lane`].

use crate::dialect::{Engine, Lane, Role};
use crate::open::Source;
use crate::postgres::TransactionId;
use crate::{Conn, Guard, Location, OpenError, StoreError};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

/// How many writes share one commit at most.
const GROUP_LIMIT: usize = 512;
/// How many may wait for the next commit; a caller beyond that waits to be let in.
const QUEUE_LIMIT: usize = 1024;
/// One that writes, and one to ask how a transaction ended whose connection was lost.
const WRITER_CONNECTIONS: usize = 2;
/// How long a lost commit is looked up before its outcome is given as unknown.
const LOOK_UP: Duration = Duration::from_secs(15);
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);

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

/// Handles to the writers, one for each lane.
#[derive(Clone, Debug)]
pub(crate) struct Writers {
    rules: Writer,
    queue: Writer,
    arrivals: Writer,
}

impl Writers {
    pub(crate) fn open(
        location: &Location,
        changed: &broadcast::Sender<Arc<str>>,
    ) -> Result<Self, OpenError> {
        let start = |lane| {
            let source = location.source(Role::Writer, WRITER_CONNECTIONS)?;
            Ok(Writer::start(
                location.engine(),
                lane,
                source,
                changed.clone(),
            ))
        };
        let rules = start(Lane::Rules)?;
        Ok(match location.engine() {
            Engine::Sqlite => Self {
                queue: rules.clone(),
                arrivals: rules.clone(),
                rules,
            },
            Engine::Postgres => Self {
                queue: start(Lane::Queue)?,
                arrivals: start(Lane::Arrivals)?,
                rules,
            },
        })
    }

    pub(crate) const fn lane(&self, lane: Lane) -> &Writer {
        match lane {
            Lane::Rules => &self.rules,
            Lane::Queue => &self.queue,
            Lane::Arrivals => &self.arrivals,
        }
    }

    pub(crate) async fn stop(&self) {
        for writer in [&self.arrivals, &self.queue, &self.rules] {
            writer.stop().await;
        }
    }
}

/// A handle to one writer.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    orders: mpsc::Sender<Order>,
    running: TaskTracker,
}

fn stopped() -> StoreError {
    StoreError::NotCommitted("the store is closed, or the write was cut off".to_owned())
}

impl Writer {
    fn start(
        engine: Engine,
        lane: Lane,
        source: Source,
        changed: broadcast::Sender<Arc<str>>,
    ) -> Self {
        let (orders, inbox) = mpsc::channel(QUEUE_LIMIT);
        let running = TaskTracker::new();
        let worker = Worker {
            engine,
            lane,
            source,
            changed,
            conn: None,
        };
        match engine {
            Engine::Sqlite => {
                let (runtime, token) = (Handle::current(), running.token());
                std::thread::spawn(move || {
                    runtime.block_on(worker.serve(inbox));
                    drop(token);
                });
            }
            Engine::Postgres => drop(running.spawn(worker.serve(inbox))),
        }
        running.close();
        Self { orders, running }
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

    async fn stop(&self) {
        // The second of two handles to one writer finds it stopped.
        drop(self.orders.send(Order::Stop).await);
        self.running.wait().await;
    }
}

/// How a group ended.
enum Outcome {
    Committed,
    /// Nothing of it is there.
    Undone(StoreError),
    Unknown,
}

impl Outcome {
    /// What each caller of the group gets; the source stays in the log.
    fn tell(&self) -> Result<(), StoreError> {
        match self {
            Self::Committed => Ok(()),
            Self::Undone(error) => Err(StoreError::NotCommitted(error.to_string())),
            Self::Unknown => Err(StoreError::OutcomeUnknown),
        }
    }
}

/// One writer.
struct Worker {
    engine: Engine,
    lane: Lane,
    source: Source,
    changed: broadcast::Sender<Arc<str>>,
    /// Absent before the first write, and after an error that leaves a connection in an unknown state.
    conn: Option<Conn>,
}

impl Worker {
    async fn serve(mut self, mut inbox: mpsc::Receiver<Order>) {
        while let Some(order) = inbox.recv().await {
            match order {
                Order::Run(first) => {
                    let (group, next) = gather(first, &mut inbox);
                    self.run_group(group).await;
                    match next {
                        Some(Order::Checkpoint(reply)) => drop(reply.send(self.empty_log().await)),
                        Some(Order::Stop) => break,
                        Some(Order::Run(_)) | None => {}
                    }
                }
                Order::Checkpoint(reply) => drop(reply.send(self.empty_log().await)),
                Order::Stop => break,
            }
        }
    }

    async fn take_conn(&mut self) -> Result<Conn, StoreError> {
        match self.conn.take() {
            Some(conn) if conn.is_usable() => Ok(conn),
            _ => self.source.connect().await,
        }
    }

    async fn run_group(&mut self, group: Vec<Job>) {
        metrics::histogram!("store_group_size")
            .record(u32::try_from(group.len()).unwrap_or(u32::MAX));
        let (mut conn, id) = match self.begin().await {
            Ok(begun) => begun,
            Err(error) => return refuse(group, &error),
        };
        let mut acknowledgements = Vec::with_capacity(group.len());
        let outcome = match run_jobs(&mut conn, group, &mut acknowledgements).await {
            Ok(End::RollBack) => conn
                .plain("ROLLBACK")
                .await
                .map_or_else(Outcome::Undone, |()| {
                    Outcome::Undone(StoreError::NotCommitted("undone".to_owned()))
                }),
            Ok(End::Commit) => commit(&self.source, &mut conn, id).await,
            Err(error) => roll_back(&mut conn, error).await,
        };
        let told = std::mem::take(&mut conn.changed);
        if conn.is_usable() {
            self.conn = Some(conn);
        } else {
            conn.give_back();
        }
        match &outcome {
            Outcome::Committed => {
                for subject in told {
                    // Nobody listening is no error.
                    drop(self.changed.send(Arc::from(subject)));
                }
            }
            Outcome::Undone(_) if acknowledgements.is_empty() => {}
            Outcome::Undone(error) => tracing::error!(
                error = error as &dyn std::error::Error,
                "a group of writes was not committed"
            ),
            Outcome::Unknown => {
                tracing::error!("a connection was lost in a commit, whose outcome is not known");
            }
        }
        for acknowledge in acknowledgements {
            acknowledge(outcome.tell());
        }
    }

    async fn begin(&mut self) -> Result<(Conn, Option<TransactionId>), StoreError> {
        let mut conn = self.take_conn().await?;
        let begun = conn.begin(self.engine.begin(self.lane)).await;
        match begun {
            Ok(id) => Ok((conn, id)),
            Err(error) => {
                conn.discard();
                Err(error)
            }
        }
    }

    async fn empty_log(&mut self) -> Result<(), StoreError> {
        let Some(statement) = self.engine.checkpoint() else {
            return Ok(());
        };
        let mut conn = self.take_conn().await?;
        let emptied = conn.plain(statement).await;
        self.conn = Some(conn);
        emptied
    }
}

async fn commit(source: &Source, conn: &mut Conn, id: Option<TransactionId>) -> Outcome {
    match (conn.plain("COMMIT").await, id) {
        (Ok(()), _) => Outcome::Committed,
        (Err(error), None) => roll_back(conn, error).await,
        (Err(error), Some(id)) => {
            conn.mark_unusable();
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "a commit was not answered; its outcome is looked up"
            );
            look_up(source, &id, error).await
        }
    }
}

async fn roll_back(conn: &mut Conn, error: StoreError) -> Outcome {
    if conn.plain("ROLLBACK").await.is_err() {
        // The engine may have rolled back by itself, or the connection is gone: take a new one.
        conn.mark_unusable();
    }
    Outcome::Undone(error)
}

/// Asks the database how a transaction ended.
async fn look_up(source: &Source, id: &TransactionId, error: StoreError) -> Outcome {
    let until = Instant::now() + LOOK_UP;
    while Instant::now() < until {
        let asked = async { source.connect().await?.was_committed(id).await };
        match asked.await {
            Ok(Some(true)) => return Outcome::Committed,
            Ok(Some(false)) => return Outcome::Undone(error),
            Ok(None) | Err(_) => tokio::time::sleep(BETWEEN_LOOKS).await,
        }
    }
    Outcome::Unknown
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

/// What follows a group.
enum End {
    Commit,
    RollBack,
}

/// Runs the jobs of a group. The failure of one undoes it alone; an error returned from here is one of the
/// transaction itself and fails the whole group.
async fn run_jobs(
    conn: &mut Conn,
    group: Vec<Job>,
    acknowledgements: &mut Vec<Acknowledge>,
) -> Result<End, StoreError> {
    let is_alone = group.len() == 1;
    for job in group {
        if !is_alone {
            conn.plain("SAVEPOINT job").await?;
        }
        let before = conn.changed.len();
        // A panic in a job must not take the writer with it. Its caller's channel closes: "not committed".
        let ran = AssertUnwindSafe(job(conn)).catch_unwind().await;
        let undone = match ran {
            Ok(Ran::Keep(acknowledge)) => {
                acknowledgements.push(acknowledge);
                if !is_alone {
                    conn.plain("RELEASE SAVEPOINT job").await?;
                }
                continue;
            }
            Ok(Ran::Undo(acknowledge)) => Some(acknowledge),
            Err(_panic) => None,
        };
        conn.changed.truncate(before);
        if let Some(acknowledge) = undone {
            acknowledge(Ok(()));
        }
        if is_alone {
            return Ok(End::RollBack);
        }
        conn.plain("ROLLBACK TO SAVEPOINT job").await?;
    }
    Ok(End::Commit)
}

/// The group could not even begin: every caller is told why.
fn refuse(group: Vec<Job>, error: &StoreError) {
    tracing::error!(
        error = error as &dyn std::error::Error,
        "writes are refused: no transaction could begin"
    );
    drop(group);
}
