//! Copies of the audit log in a file (`audit.file`) and at a syslog server (`audit.syslog`). A background task
//! reads committed rows, so a change does not wait for a copy and does not fail because of one. The position of
//! each copy is in the database. A restart continues at the position, and only one node at a time takes the next
//! rows (`position`).
//!
//! A row is written once, with two exceptions. If a process is killed after it sent rows to syslog and before it
//! stored the position, the rows are sent again. If another node takes over from a killed one, it writes the last
//! rows again, into its own file. Both cases can be detected by the sequence numbers of the records.

mod check;
mod destination;
mod file;
mod health;
mod position;
mod progress;
mod record;
mod remote;
mod rows;
mod syslog;

pub(crate) use check::check;
use destination::{Destination, Target};
use progress::{Polls, Progress};

use crate::Services;
use gatehouse_store::StoreError;
use health::Health;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::task::AbortHandle;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How often the task reads new rows while rows wait, or after this process has appended some.
const POLL: Duration = Duration::from_secs(2);
/// The number of polls after which the task reads rows that other processes have appended but do not copy
/// themselves.
const POLLS_WHEN_IDLE: u32 = 10;
/// The delay after a failure. Another node may copy the rows during this time.
const RETRY_MS: u64 = 30_000;

/// The copies of this node.
#[derive(Debug, Default)]
pub(crate) struct AuditExport {
    progress: Mutex<[Progress; 2]>,
    health: Health,
    /// A write to the file that did not end in time. It occupies a thread, so no other write begins until it ends.
    hung: std::sync::Mutex<Option<AbortHandle>>,
}

/// The result of writing rows. The rows up to `through` were written. `error` is the reason why later rows were
/// not.
struct Written {
    through: i64,
    error: Option<String>,
}

impl Services {
    /// Writes the copies until `shutdown`, followed by the remaining rows.
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

    /// Writes the rows that are not yet in the copies. Tests call it to wait for them.
    #[doc(hidden)]
    pub async fn export_audit_rows(&self) {
        let mut progress = self.audit_export.progress.lock().await;
        let settings = &self.config.resolved().settings.audit;
        let places = Destination::all(settings, self.config.layers().data_dir());
        for ((target, place), progress) in places.into_iter().zip(&mut *progress) {
            let health = &self.audit_export.health;
            let Some(place) = place else {
                health.forget(target);
                // The copy may be turned on again later.
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

    /// Writes rows until none remain. Returns `None` if there was nothing to do.
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
}

#[cfg(test)]
mod tests;
