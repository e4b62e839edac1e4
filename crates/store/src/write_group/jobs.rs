//! Runs the closures of one group.

use super::GROUP_LIMIT;
use crate::write_job::{Acknowledge, Job, Order, Ran};
use crate::{Conn, StoreError};
use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Returns the first job and the jobs queued after it, up to the first order of a different kind.
pub(super) fn gather(first: Job, inbox: &mut mpsc::Receiver<Order>) -> (Vec<Job>, Option<Order>) {
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
pub(super) enum End {
    /// Commit. The jobs have not begun and run in another transaction.
    Commit(Vec<Job>),
    RollBack,
}

/// The time limit for beginning jobs in a transaction.
pub(super) struct BeginTime {
    pub(super) limit: Duration,
    /// `None` until the transaction has begun.
    pub(super) until: Option<Instant>,
}

impl BeginTime {
    pub(super) fn start(&mut self, now: Instant) {
        self.until.get_or_insert(now + self.limit);
    }

    pub(super) fn is_over(&self, now: Instant) -> bool {
        self.until.is_some_and(|until| now >= until)
    }
}

/// Runs the jobs of a group, and begins no job after `limit` has passed since the first. A failed job is undone
/// alone. An error concerns the transaction and fails the whole group. `begin` is the statement that began the
/// transaction.
pub(super) async fn run_jobs(
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
        // Jobs that failed before this one have been rolled back completely.
        let is_bare = first_is_bare && acknowledgements.is_empty();
        if let Some(acknowledge) = run_job(conn, job, is_bare).await? {
            acknowledgements.push(acknowledge);
            // Checked because the savepoint of the next job would begin a new transaction.
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
        // The limit does not include the wait of the first job for the lock, which other nodes may hold for long.
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
    // A panic in a job must not end the writer. The channel of the job's caller closes, which reports "not
    // committed".
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
pub(super) fn refuse(group: Vec<Job>, error: &StoreError) {
    tracing::error!(
        error = error as &dyn std::error::Error,
        "writes are refused: no transaction could begin"
    );
    drop(group);
}
