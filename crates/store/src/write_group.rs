//! Group commit. Waiting jobs run one after another in one transaction and are acknowledged after the commit. A
//! failed job is undone alone, by rolling back to its savepoint. If it runs before all others, its transaction is
//! rolled back. Up to [`GROUP_LIMIT`] writes share one fsync. If they take longer than [`GROUP_TIME`], the
//! remaining ones run in further transactions.

mod ends;
mod jobs;

use crate::dialect::{BUSY_TIMEOUT, Engine, Lane};
use crate::location::Source;
use crate::open_file::OpenFile;
use crate::sql::query;
use crate::write_health::WriteHealth;
use crate::write_job::{Busy, Job, Order};
use crate::{Conn, StoreError};
use ends::{acknowledge_all, commit, roll_back};
use jobs::{End, gather, refuse, run_jobs};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{broadcast, mpsc};

/// Maximum number of writes per commit.
const GROUP_LIMIT: usize = 512;
/// The time after the first write of a transaction in which further writes may begin. On PostgreSQL, other nodes
/// wait at most 10 seconds for the lock that a group holds.
const GROUP_TIME: Duration = Duration::from_secs(3);
/// How long the outcome of an unacknowledged commit is looked up before it is reported as unknown.
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

/// State that a writer shares with the store.
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
    /// The connection. `None` before the first write, and after an error that leaves the connection in an unknown
    /// state.
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
            Some(conn) if !conn.is_suspected() => Ok(conn),
            // A new connection would open the wrong file, and would keep it even after the right file is restored.
            _ if self.is_file_replaced() => Err(StoreError::FileReplaced),
            _ => self.source.connect().await,
        }
    }

    /// Runs jobs in one transaction. Returns the jobs that did not begin in time.
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
                // Data that is written to a replaced file would be missing after a restart.
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

    /// Notifies subscribers of the changes of a group, or logs why the group failed.
    fn announce(&self, outcome: &Outcome, changed: Vec<String>) {
        match outcome {
            Outcome::Committed => {
                for subject in changed {
                    // Having no receiver is not an error.
                    drop(self.shared.changed.send(Arc::from(subject)));
                }
            }
            // Logged once for all writes.
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

/// Empties the write-ahead log with `statement`. Fails if a reader still needs the log. Waits for readers only
/// briefly, because all writes wait in the meantime.
async fn empty_log(conn: &mut Conn, statement: &'static str) -> Result<(), StoreError> {
    conn.plain("PRAGMA busy_timeout = 50").await?;
    let is_busy = conn.number(query(statement)).await;
    conn.plain(BUSY_TIMEOUT).await?;
    match is_busy? {
        0 => Ok(()),
        _ => Err(StoreError::unavailable("a reader uses the write-ahead log")),
    }
}

#[cfg(test)]
mod tests;
