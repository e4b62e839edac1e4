//! Groups of writes: the jobs that are waiting run one after the other in one transaction, each behind a
//! savepoint of its own, and all are acknowledged after the commit. An fsync is paid once for up to
//! [`GROUP_LIMIT`] writes.

use crate::dialect::{Engine, Lane};
use crate::open::Source;
use crate::postgres::TransactionId;
use crate::writer::{Acknowledge, Job, Order, Ran};
use crate::{Conn, StoreError};
use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{broadcast, mpsc};
use tokio::time::Instant;

/// How many writes share one commit at most.
const GROUP_LIMIT: usize = 512;
/// How long a lost commit is looked up before its outcome is given as unknown.
const LOOK_UP: Duration = Duration::from_secs(15);
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);

/// How a group ended.
enum Outcome {
    Committed,
    /// Nothing of it is there.
    Undone(StoreError),
    Unknown,
}

impl Outcome {
    /// What each caller of the group gets.
    fn for_caller(&self) -> Result<(), StoreError> {
        match self {
            Self::Committed => Ok(()),
            Self::Undone(error) => Err(error.for_caller()),
            Self::Unknown => Err(StoreError::OutcomeUnknown),
        }
    }
}

/// Runs the orders of one writer.
pub(crate) struct GroupWriter {
    engine: Engine,
    lane: Lane,
    source: Source,
    changed: broadcast::Sender<Arc<str>>,
    /// Absent before the first write, and after an error that leaves a connection in an unknown state.
    conn: Option<Conn>,
}

impl GroupWriter {
    pub(crate) const fn new(
        engine: Engine,
        lane: Lane,
        source: Source,
        changed: broadcast::Sender<Arc<str>>,
    ) -> Self {
        Self {
            engine,
            lane,
            source,
            changed,
            conn: None,
        }
    }

    /// Until [`Order::Stop`], or until every handle is dropped.
    pub(crate) async fn serve(mut self, mut inbox: mpsc::Receiver<Order>) {
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
            Ok(End::Commit) => Some(commit(self.engine, &self.source, &mut conn, id).await),
            // Its only caller has the answer.
            Ok(End::RollBack) => {
                roll_back(&mut conn).await;
                None
            }
            Err(error) => {
                roll_back(&mut conn).await;
                Some(Outcome::Undone(error))
            }
        };
        let changed = std::mem::take(&mut conn.changed);
        if conn.is_usable() {
            self.conn = Some(conn);
        } else {
            conn.discard();
        }
        if let Some(outcome) = outcome {
            self.conclude(&outcome, changed, acknowledgements);
        }
    }

    /// Announces the changes of a group and answers its callers.
    fn conclude(
        &self,
        outcome: &Outcome,
        changed: Vec<String>,
        acknowledgements: Vec<Acknowledge>,
    ) {
        match outcome {
            Outcome::Committed => {
                for subject in changed {
                    // It is no error if there is no receiver.
                    drop(self.changed.send(Arc::from(subject)));
                }
            }
            Outcome::Undone(error) => tracing::error!(
                error = error as &dyn std::error::Error,
                "a group of writes was not committed"
            ),
            Outcome::Unknown => {
                tracing::error!("the connection was lost during a commit; its outcome is unknown");
            }
        }
        for acknowledge in acknowledgements {
            acknowledge(outcome.for_caller());
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

async fn commit(
    engine: Engine,
    source: &Source,
    conn: &mut Conn,
    id: Option<TransactionId>,
) -> Outcome {
    let Err(error) = conn.plain(engine.commit()).await else {
        return Outcome::Committed;
    };
    // A server that still answers has refused the commit.
    let was_answered = roll_back(conn).await;
    match id {
        Some(id) if !was_answered => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "a commit was not answered; its outcome is looked up"
            );
            look_up(source, &id, error).await
        }
        _ => Outcome::Undone(error),
    }
}

/// Rolls back, and says whether the connection can be used again. The engine may have rolled back already.
async fn roll_back(conn: &mut Conn) -> bool {
    let is_done = conn.is_usable() && conn.plain("ROLLBACK").await.is_ok();
    if !is_done {
        conn.mark_unusable();
    }
    is_done
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
