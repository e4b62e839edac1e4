//! Copies of the audit log in a file (`audit.file`) and at a syslog server (`audit.syslog`). A background task reads
//! committed rows, so a change neither waits for a copy nor fails because of one. The position of each copy is in the
//! database: a restart continues there, and only one node at a time takes the next rows (`position`).
//!
//! A row is written once, with two exceptions. If a process is killed after it sent rows to syslog and before it stored
//! the position, the rows are sent again. If another node takes over from a killed one, it writes the last rows again,
//! into its own file. The sequence numbers of the records reveal both cases.

mod check;
mod destination;
mod file;
mod health;
mod position;
mod progress;
mod record;
mod remote;
mod syslog;

pub(crate) use check::check;
use destination::{Destination, Target};
use progress::{Polls, Progress};

use crate::Services;
use gatehouse_domain::{Watched, Zone};
use gatehouse_store::{AuditRow, StoreError};
use health::Health;
use position::{Claimed, Taking};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::task::AbortHandle;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How often the task reads new rows after this process has appended some, or while rows wait.
const POLL: Duration = Duration::from_secs(2);
/// Every so many polls, the task reads rows that other processes have appended and do not copy themselves.
const POLLS_WHEN_IDLE: u32 = 10;
/// The wait after a failure. Another node may copy the rows during this time.
const RETRY_MS: u64 = 30_000;
/// A claim of another node that did not change for this time was left by a process that ended.
const CLAIM_MS: u64 = 60_000;
/// How long a copy may take to accept claimed rows. Less than [`CLAIM_MS`], or two nodes could write the same rows.
const WRITE_TIMEOUT: Duration = Duration::from_secs(20);

/// The copies of this node.
#[derive(Debug, Default)]
pub(crate) struct AuditExport {
    progress: Mutex<[Progress; 2]>,
    health: Health,
    /// A write to the file that did not end in time. It occupies a thread, so no other write begins before it ends.
    hung: std::sync::Mutex<Option<AbortHandle>>,
}

const NO_RESPONSE: &str = "the file system does not respond";

impl AuditExport {
    fn hung(&self) -> std::sync::MutexGuard<'_, Option<AbortHandle>> {
        self.hung.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether an earlier write still has not ended.
    fn hangs(&self) -> bool {
        let mut hung = self.hung();
        if hung.as_ref().is_some_and(AbortHandle::is_finished) {
            *hung = None;
        }
        hung.is_some()
    }
}

/// The rows up to `through` were written. `error` is the reason why the others were not.
struct Written {
    through: i64,
    error: Option<String>,
}

impl Services {
    /// Writes the copies until `shutdown`, then the remaining rows.
    pub fn export_audit_log(self: &Arc<Self>, shutdown: CancellationToken, tasks: &TaskTracker) {
        let services = Arc::clone(self);
        tasks.spawn(async move {
            let mut timer = tokio::time::interval(POLL);
            timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
            let mut polls = Polls::new(services.store.changes());
            while shutdown.run_until_cancelled(timer.tick()).await.is_some() {
                if polls.is_due(services.has_unfinished_copy().await) {
                    services.export_audit_rows().await;
                }
            }
            services.export_audit_rows().await;
        });
    }

    async fn has_unfinished_copy(&self) -> bool {
        let progress = self.audit_export.progress.lock().await;
        progress.iter().any(Progress::is_unfinished)
    }

    /// Writes the rows that are not in the copies yet. Tests call it to wait for them.
    #[doc(hidden)]
    pub async fn export_audit_rows(&self) {
        let mut progress = self.audit_export.progress.lock().await;
        let settings = &self.config.resolved().settings.audit;
        let places = Destination::all(settings, self.config.layers().data_dir());
        for ((target, place), progress) in places.into_iter().zip(&mut *progress) {
            let health = &self.audit_export.health;
            let Some(place) = place else {
                health.forget(target);
                // Another copy may be turned on later.
                (progress.retry_at_ms, progress.is_cut_off) = (0, false);
                (progress.other, progress.has_more) = (None, false);
                continue;
            };
            match self.export_to(target, &place, progress).await {
                Ok(Some(written)) => {
                    if written.error.is_some() {
                        let now_ms = self.clock.monotonic_ms();
                        progress.retry_at_ms = now_ms.saturating_add(RETRY_MS);
                    }
                    health.note(target, written.error);
                }
                Ok(None) => {}
                Err(error) => {
                    if !std::mem::replace(&mut progress.is_cut_off, true) {
                        tracing::warn!(%error, "the audit log cannot be read to copy it");
                    }
                    continue;
                }
            }
            progress.is_cut_off = false;
        }
    }

    /// Takes rows until none are left. `None` if there was nothing to do.
    async fn export_to(
        &self,
        target: Target,
        place: &Destination,
        progress: &mut Progress,
    ) -> Result<Option<Written>, StoreError> {
        if self.clock.monotonic_ms() < progress.retry_at_ms {
            return Ok(None);
        }
        (progress.retry_at_ms, progress.has_more) = (0, false);
        self.store_position(target, progress).await?;
        let mut last = None;
        loop {
            let read = self
                .store
                .read(|conn| Box::pin(async move { conn.find_audit_head().await }));
            let head = read.await?;
            if head.is_none_or(|head| head.seq <= progress.done) {
                return Ok(last);
            }
            let Some(claimed) = self.claim_rows(target, progress).await? else {
                return Ok(last);
            };
            let is_full =
                i64::try_from(claimed.rows.len()).is_ok_and(|rows| rows == target.batch());
            let claim = claimed.id.clone();
            let written = self.write_rows(target, place, claimed).await;
            progress.unstored = Some((claim, written.through));
            self.store_position(target, progress).await?;
            let goes_on = is_full && target == Target::File && written.error.is_none();
            progress.has_more = is_full;
            last = Some(written);
            if !goes_on {
                return Ok(last);
            }
        }
    }

    /// Claims the next rows for this node. `None` if there are none, or another node writes.
    async fn claim_rows(
        &self,
        target: Target,
        progress: &mut Progress,
    ) -> Result<Option<Claimed>, StoreError> {
        let now_ms = self.clock.monotonic_ms();
        let other = progress.other.as_ref();
        let stale = other.filter(|other| other.unchanged_ms(now_ms) >= CLAIM_MS);
        let taking = Taking {
            target,
            is_shared: self.store.engine().is_shared(),
            stale: stale.map(|other| other.value().clone()),
            now: self.clock.now(),
        };
        match position::claim(&self.store, taking, &*self.random).await? {
            position::Claim::Rows(claimed) => {
                progress.other = None;
                Ok(Some(claimed))
            }
            position::Claim::Nothing { done } => {
                (progress.done, progress.other) = (done, None);
                Ok(None)
            }
            position::Claim::OfOther(id) => {
                let now_ms = self.clock.monotonic_ms();
                progress.other = Some(Watched::after(progress.other.take(), id, now_ms));
                Ok(None)
            }
        }
    }

    async fn write_rows(&self, target: Target, place: &Destination, claimed: Claimed) -> Written {
        let Claimed { done, rows, .. } = claimed;
        warn_of_gap(target, done, &rows);
        let mut through = done;
        let error = match place {
            Destination::File(path) => {
                let last = rows.last().map_or(done, |row| row.seq);
                let error = self.append_to_file(path.clone(), rows).await.err();
                if error.is_none() {
                    through = last;
                }
                error
            }
            Destination::Socket(path) => {
                let zone = Zone::system();
                let send = syslog::send(path, &rows, &zone, &mut through);
                in_time(send).await.err()
            }
            Destination::Remote(remote) => {
                let send = remote::send(&self.outbound, remote, &rows, &mut through);
                in_time(send).await.err()
            }
        };
        Written { through, error }
    }

    /// Appends rows on a thread of its own, because a network file system may not answer.
    async fn append_to_file(&self, path: PathBuf, rows: Vec<AuditRow>) -> Result<(), String> {
        if self.audit_export.hangs() {
            return Err(NO_RESPONSE.to_owned());
        }
        let work = tokio::task::spawn_blocking(move || file::append(&path, &rows));
        let handle = work.abort_handle();
        match tokio::time::timeout(WRITE_TIMEOUT, work).await {
            Ok(Ok(written)) => written.map_err(|error| error.to_string()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => {
                *self.audit_export.hung() = Some(handle);
                Err(NO_RESPONSE.to_owned())
            }
        }
    }

    /// Stores the number of the last written row, and ends the claim. Repeated until it succeeds.
    async fn store_position(
        &self,
        target: Target,
        progress: &mut Progress,
    ) -> Result<(), StoreError> {
        let Some((claim, through)) = progress.unstored.clone() else {
            return Ok(());
        };
        let now = self.clock.now();
        let is_stored = position::advance(&self.store, target, claim, through, now).await?;
        progress.unstored = None;
        if is_stored {
            progress.done = through;
        } else {
            tracing::warn!(
                setting = target.setting(),
                through,
                "another node took over rows of the audit log that this node wrote; the copy may contain them twice"
            );
        }
        Ok(())
    }
}

/// Sends for a limited time.
async fn in_time<E: std::fmt::Display>(
    send: impl Future<Output = Result<(), E>>,
) -> Result<(), String> {
    match tokio::time::timeout(WRITE_TIMEOUT, send).await {
        Ok(outcome) => outcome.map_err(|error| error.to_string()),
        Err(_) => Err("syslog does not accept messages".to_owned()),
    }
}

/// Retention deletes old rows even if they were not copied.
fn warn_of_gap(target: Target, done: i64, rows: &[AuditRow]) {
    let first = rows.first().map_or(done + 1, |row| row.seq);
    if done > 0 && first > done + 1 {
        tracing::warn!(
            setting = target.setting(),
            from = done + 1,
            to = first - 1,
            "rows of the audit log were deleted before they were copied"
        );
    }
}

#[cfg(test)]
mod tests;
