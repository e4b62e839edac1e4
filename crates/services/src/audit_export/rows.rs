//! Claims rows of the audit log, writes them and stores the position.

use super::{
    AuditExport, Written,
    destination::{Destination, Target},
    file,
    position::{self, Claimed, Taking},
    progress::Progress,
    remote, syslog,
};
use crate::Services;
use gatehouse_domain::{Watched, Zone};
use gatehouse_store::{AuditRow, StoreError};
use std::path::PathBuf;
use std::sync::PoisonError;
use std::time::Duration;
use tokio::task::AbortHandle;

/// How long a claim of another node may stay unchanged. After this time, its process counts as ended.
const CLAIM_MS: u64 = 60_000;

/// How long a copy may take to accept claimed rows. Must be less than [`CLAIM_MS`]. Otherwise two nodes could write
/// the same rows.
const WRITE_TIMEOUT: Duration = Duration::from_secs(20);

const NO_RESPONSE: &str = "the file system does not respond";

impl AuditExport {
    fn hung(&self) -> std::sync::MutexGuard<'_, Option<AbortHandle>> {
        self.hung.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether an earlier write has still not ended.
    fn hangs(&self) -> bool {
        let mut hung = self.hung();
        if hung.as_ref().is_some_and(AbortHandle::is_finished) {
            *hung = None;
        }
        hung.is_some()
    }
}

impl Services {
    /// Claims the next rows for this node. Returns `None` if there are none, or if another node writes them.
    pub(super) async fn claim_rows(
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

    pub(super) async fn write_rows(
        &self,
        target: Target,
        place: &Destination,
        claimed: Claimed,
    ) -> Written {
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

    /// Appends rows in a separate thread, because a network file system may not answer.
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

    /// Stores the number of the last written row, and ends the claim. Retries until it succeeds.
    pub(super) async fn store_position(
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

/// Runs a send with a timeout.
async fn in_time<E: std::fmt::Display>(
    send: impl Future<Output = Result<(), E>>,
) -> Result<(), String> {
    match tokio::time::timeout(WRITE_TIMEOUT, send).await {
        Ok(outcome) => outcome.map_err(|error| error.to_string()),
        Err(_) => Err("syslog does not accept messages".to_owned()),
    }
}

/// Warns of missing rows: retention deletes old rows even if they were not copied.
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
