//! Group commit. Waiting jobs run one after another in one transaction and are acknowledged after the commit. A job
//! that fails is undone alone: by its savepoint, or with its transaction if it runs before all others. Up to
//! [`GROUP_LIMIT`] writes share one fsync. If they take longer than [`GROUP_TIME`], the remaining ones run in
//! further transactions.

use crate::dialect::{BUSY_TIMEOUT, Engine, Lane};
use crate::location::Source;
use crate::open_file::OpenFile;
use crate::postgres::{TransactionId, TransactionStatus};
use crate::sql::query;
use crate::write_health::WriteHealth;
use crate::write_job::{Acknowledge, Busy, Job, Order, Ran};
use crate::{Conn, StoreError};
use futures_util::FutureExt;
use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{broadcast, mpsc};
use tokio::time::{Instant, timeout_at};

/// Maximum number of writes per commit.
const GROUP_LIMIT: usize = 512;
/// When a transaction has lasted this long after its first write, no further write of its group begins. On PostgreSQL,
/// other nodes wait at most 10 seconds for the lock that a group holds.
const GROUP_TIME: Duration = Duration::from_secs(3);
/// How long to look up the outcome of an unanswered commit before reporting it as unknown.
const LOOK_UP: Duration = Duration::from_secs(15);
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);

/// The outcome of a group.
enum Outcome {
    Committed,
    /// Nothing was written.
    Undone(StoreError),
    Unknown,
}

impl Outcome {
    /// Returns the result for each caller of the group.
    fn for_caller(&self) -> Result<(), StoreError> {
        match self {
            Self::Committed => Ok(()),
            Self::Undone(error) => Err(error.for_caller()),
            Self::Unknown => Err(StoreError::OutcomeUnknown),
        }
    }
}

/// What a writer shares with the store.
pub(crate) struct Shared {
    pub(crate) changed: broadcast::Sender<Arc<str>>,
    pub(crate) busy: Busy,
    pub(crate) health: WriteHealth,
    /// The file of a SQLite database.
    pub(crate) file: Option<Arc<OpenFile>>,
}

/// Executes the orders of one writer.
pub(crate) struct GroupWriter {
    engine: Engine,
    lane: Lane,
    source: Source,
    shared: Shared,
    /// [`GROUP_TIME`], except in tests.
    group_time: Duration,
    /// Absent before the first write, and after an error that leaves the connection in an unknown state.
    conn: Option<Conn>,
}

impl GroupWriter {
    pub(crate) const fn new(engine: Engine, lane: Lane, source: Source, shared: Shared) -> Self {
        Self {
            engine,
            lane,
            source,
            shared,
            group_time: GROUP_TIME,
            conn: None,
        }
    }

    /// Runs until [`Order::Stop`] or until every handle is dropped.
    pub(crate) async fn serve(mut self, mut inbox: mpsc::Receiver<Order>) {
        let busy = self.shared.busy.clone();
        while let Some(order) = inbox.recv().await {
            if busy
                .during(self.carry_out(order, &mut inbox))
                .await
                .is_break()
            {
                break;
            }
        }
    }

    async fn carry_out(
        &mut self,
        order: Order,
        inbox: &mut mpsc::Receiver<Order>,
    ) -> ControlFlow<()> {
        let next = match order {
            Order::Run(first) => {
                let (mut group, next) = gather(first, inbox);
                loop {
                    group = self.run_group(group).await;
                    if group.is_empty() {
                        break;
                    }
                    self.shared.busy.restart();
                }
                next
            }
            other => Some(other),
        };
        match next {
            Some(Order::Checkpoint(reply)) => drop(reply.send(self.empty_log().await)),
            Some(Order::Stop) => return ControlFlow::Break(()),
            Some(Order::Run(_)) | None => {}
        }
        ControlFlow::Continue(())
    }

    async fn take_conn(&mut self) -> Result<Conn, StoreError> {
        match self.conn.take() {
            Some(conn) if conn.is_usable() => Ok(conn),
            // A new connection would use the other file, also after the right one is back.
            _ if self.is_file_replaced() => Err(StoreError::FileReplaced),
            _ => self.source.connect().await,
        }
    }

    /// Runs jobs in one transaction. Returns those that did not begin in time.
    async fn run_group(&mut self, group: Vec<Job>) -> Vec<Job> {
        let count = group.len();
        let is_alone = count == 1;
        let mut conn = match self.begin().await {
            Ok(begun) => begun,
            Err(error) => {
                self.shared.health.note(&error);
                refuse(group, &error);
                return Vec::new();
            }
        };
        let mut acknowledgements = Vec::with_capacity(count);
        let mut left = Vec::new();
        let begin = self.engine.begin(self.lane);
        let work = (group, self.group_time);
        let outcome = match run_jobs(&mut conn, begin, work, &mut acknowledgements).await {
            Ok(End::Commit(remaining)) => {
                left = remaining;
                // The next start would not find what is written to another file.
                Some(if self.is_file_replaced() {
                    roll_back(&mut conn).await;
                    Outcome::Undone(StoreError::FileReplaced)
                } else {
                    commit(&self.source, &mut conn).await
                })
            }
            // The only caller already has its result.
            Ok(End::RollBack) => {
                roll_back(&mut conn).await;
                None
            }
            Err(error) => {
                roll_back(&mut conn).await;
                Some(Outcome::Undone(error))
            }
        };
        let ran = count.saturating_sub(left.len());
        metrics::histogram!("store_group_size").record(u32::try_from(ran).unwrap_or(u32::MAX));
        let changed = std::mem::take(&mut conn.changed);
        conn.ended.clear();
        let is_committed = matches!(outcome, Some(Outcome::Committed));
        conn.stored_configs.end(is_committed);
        if std::mem::take(&mut conn.was_unavailable) {
            self.shared.health.note_failure();
        }
        if conn.is_usable() {
            self.conn = Some(conn);
        } else {
            conn.discard();
        }
        if let Some(outcome) = outcome {
            self.announce(&outcome, changed);
            acknowledge_all(outcome, acknowledgements, is_alone);
        }
        left
    }

    fn is_file_replaced(&self) -> bool {
        let file = self.shared.file.as_ref();
        file.is_some_and(|file| file.is_replaced())
    }

    /// Announces the changes of a group, or logs why there are none.
    fn announce(&self, outcome: &Outcome, changed: Vec<String>) {
        match outcome {
            Outcome::Committed => {
                for subject in changed {
                    // Having no receiver is not an error.
                    drop(self.shared.changed.send(Arc::from(subject)));
                }
            }
            // Logged once, for all writes.
            Outcome::Undone(error @ StoreError::FileReplaced) => self.shared.health.note(error),
            Outcome::Undone(error) => {
                self.shared.health.note(error);
                tracing::error!(
                    error = error as &dyn std::error::Error,
                    "a group of writes was not committed"
                );
            }
            Outcome::Unknown => {
                self.shared.health.note_failure();
                tracing::error!("the connection was lost during a commit; its outcome is unknown");
            }
        }
    }

    async fn begin(&mut self) -> Result<Conn, StoreError> {
        let mut conn = self.take_conn().await?;
        match conn.begin(self.engine.begin(self.lane)) {
            Ok(()) => Ok(conn),
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
        let emptied = empty_log(&mut conn, statement).await;
        self.conn = Some(conn);
        emptied
    }
}

/// Empties the write-ahead log with `statement`. Fails if a reader still needs it. Waits for readers only briefly,
/// because all writes wait meanwhile.
async fn empty_log(conn: &mut Conn, statement: &'static str) -> Result<(), StoreError> {
    conn.plain("PRAGMA busy_timeout = 50").await?;
    let is_busy = conn.number(query(statement)).await;
    conn.plain(BUSY_TIMEOUT).await?;
    match is_busy? {
        0 => Ok(()),
        _ => Err(StoreError::unavailable("a reader uses the write-ahead log")),
    }
}

async fn commit(source: &Source, conn: &mut Conn) -> Outcome {
    if conn.is_untouched() {
        roll_back(conn).await;
        return Outcome::Committed;
    }
    let id = match conn.transaction_id().await {
        Ok(id) => id,
        Err(error) => {
            roll_back(conn).await;
            return Outcome::Undone(error);
        }
    };
    let Err(error) = conn.commit().await else {
        return Outcome::Committed;
    };
    // If the server still responds, it has refused the commit.
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

/// Rolls back and returns whether the connection can be reused. Fails if the engine has already rolled back.
async fn roll_back(conn: &mut Conn) -> bool {
    let is_done = conn.is_usable() && conn.roll_back().await.is_ok();
    if !is_done {
        conn.mark_unusable();
    }
    is_done
}

/// Reports the outcome of a group to the callers of its writes.
fn acknowledge_all(outcome: Outcome, mut callers: Vec<Acknowledge>, is_alone: bool) {
    match outcome {
        // The statement that was refused may have been sent with the commit. Its caller decides by the error.
        Outcome::Undone(error) if is_alone && !matches!(error, StoreError::Unavailable(_)) => {
            if let Some(acknowledge) = callers.pop() {
                acknowledge(Err(error));
            }
        }
        outcome => {
            for acknowledge in callers {
                acknowledge(outcome.for_caller());
            }
        }
    }
}

/// Queries the database for the outcome of a transaction.
async fn look_up(source: &Source, id: &TransactionId, error: StoreError) -> Outcome {
    let until = Instant::now() + LOOK_UP;
    while Instant::now() < until {
        match look_up_once(source, id, until).await {
            Ok(TransactionStatus::Committed) => return Outcome::Committed,
            Ok(TransactionStatus::RolledBack) => return Outcome::Undone(error),
            Ok(TransactionStatus::Unknown) => return Outcome::Unknown,
            Ok(TransactionStatus::InProgress) | Err(_) => {
                tokio::time::sleep(BETWEEN_LOOKS).await;
            }
        }
    }
    Outcome::Unknown
}

/// Queries the status of a transaction on a new connection.
async fn look_up_once(
    source: &Source,
    id: &TransactionId,
    until: Instant,
) -> Result<TransactionStatus, StoreError> {
    let connected = timeout_at(until, source.connect()).await;
    let mut conn = connected.map_err(StoreError::unavailable)??;
    conn.wait_for(until.saturating_duration_since(Instant::now()));
    let looked = conn.find_status(id).await;
    // Do not return it to the pool, where it would stay unused and could fail unnoticed before the next lookup.
    conn.discard();
    looked
}

/// Returns the first job and the jobs queued behind it, up to the first order of another kind.
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

/// How to end the transaction of a group.
enum End {
    /// With the jobs that have not begun.
    Commit(Vec<Job>),
    RollBack,
}

/// The time in which the jobs of a transaction may begin.
struct BeginTime {
    limit: Duration,
    /// Absent before the transaction has begun.
    until: Option<Instant>,
}

impl BeginTime {
    fn start(&mut self, now: Instant) {
        self.until.get_or_insert(now + self.limit);
    }

    fn is_over(&self, now: Instant) -> bool {
        self.until.is_some_and(|until| now >= until)
    }
}

/// Runs the jobs of a group, and begins none if `limit` has passed since the first. A failed job is undone alone. An
/// error returned here concerns the transaction and fails the whole group. `begin` is the statement that began it.
async fn run_jobs(
    conn: &mut Conn,
    begin: &'static str,
    (group, limit): (Vec<Job>, Duration),
    acknowledgements: &mut Vec<Acknowledge>,
) -> Result<End, StoreError> {
    let is_alone = group.len() == 1;
    let first_is_bare = is_alone || conn.engine().runs_first_write_bare();
    let mut jobs = group.into_iter();
    let mut time = BeginTime { limit, until: None };
    while !time.is_over(Instant::now()) {
        let Some(job) = jobs.next() else {
            break;
        };
        let before = (conn.changed.len(), conn.ended.len());
        // Those that failed before it have left nothing.
        let is_bare = first_is_bare && acknowledgements.is_empty();
        if let Some(acknowledge) = run_job(conn, job, is_bare).await? {
            acknowledgements.push(acknowledge);
            // The savepoint of the next job would begin a transaction of its own.
            conn.check_begun()?;
        } else {
            conn.changed.truncate(before.0);
            conn.ended.truncate(before.1);
            conn.stored_configs.undo();
            if is_alone {
                return Ok(End::RollBack);
            }
            if is_bare {
                conn.begin_again(begin).await?;
            } else {
                conn.roll_back_job().await?;
            }
        }
        // The first job also waits for the lock, which other nodes may hold for long.
        if conn.has_begun() {
            time.start(Instant::now());
        }
    }
    conn.write_delivery_counts()?;
    Ok(End::Commit(jobs.collect()))
}

/// Runs a job of a group, with a savepoint unless it is bare. Returns its acknowledgement, or `None` if its changes
/// must be undone.
async fn run_job(
    conn: &mut Conn,
    job: Job,
    is_bare: bool,
) -> Result<Option<Acknowledge>, StoreError> {
    if !is_bare {
        conn.begin_job()?;
    }
    // A panic in a job must not end the writer. Its caller's channel closes, which reports "not committed".
    match AssertUnwindSafe(job(conn)).catch_unwind().await {
        Ok(Ran::Keep(acknowledge)) if is_bare => Ok(Some(acknowledge)),
        // Statements whose results the job did not need are sent here.
        Ok(Ran::Keep(acknowledge)) => match conn.end_job().await {
            Ok(()) => Ok(Some(acknowledge)),
            Err(error) => {
                acknowledge(Err(error));
                Ok(None)
            }
        },
        Ok(Ran::Undo(acknowledge)) => {
            acknowledge(Ok(()));
            Ok(None)
        }
        Err(_panic) => Ok(None),
    }
}

/// Reports that the transaction could not begin. Dropping the jobs closes their callers' channels, which
/// reports "not committed".
fn refuse(group: Vec<Job>, error: &StoreError) {
    tracing::error!(
        error = error as &dyn std::error::Error,
        "writes are refused: no transaction could begin"
    );
    drop(group);
}

#[cfg(test)]
mod tests;
