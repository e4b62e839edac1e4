//! The trial restore, which runs every `backup.drill_days` days. It restores the newest backup to a temporary
//! directory and checks it, as `gatehouse backup verify` does. A schedule is not needed, because another program
//! may write the backups to the directory. Directly after the server has created an encrypted backup, it still has
//! the key of the file and runs a trial restore that is due. For any other encrypted backup, only the file is
//! checked. The state is in the database. If there are several nodes, the node with the newest backup runs the
//! trial restore.

mod attempt;
mod file;
mod kept_key;
mod last;
mod results;
mod state;
mod trial;

pub use results::{CheckResult, CheckedBackup, Checks};
pub use trial::{Trial, VerifyBackup};

use crate::Services;
use crate::doctor::check::Check;
use gatehouse_backup::folder::Entry;
use gatehouse_store::StoreError;
use kept_key::KeptKey;
use metrics::{counter, describe_counter, describe_gauge};
use serde_json::json;
use state::{Access, State};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How often the state is compared with the clock.
const POLL: Duration = Duration::from_mins(10);
/// The key of the state in the table of settings.
pub const KEY: &str = "backup_drill";

/// The reason why a backup could not be confirmed as intact.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DrillError {
    /// The backup is not usable.
    #[error("{0}")]
    Unusable(String),
    /// The backup could not be checked, for example for lack of disk space. It may be intact.
    #[error("{0}")]
    NotMade(String),
}

/// The trial restores of this process.
#[derive(Debug, Default)]
pub(crate) struct Drills {
    /// Locked while the server checks a backup.
    turn: Arc<Mutex<()>>,
    kept_key: KeptKey,
}

const DRILLS: &str = "backup_drills_total";
const SUCCEEDED: &str = "backup_drill_last_success_timestamp_seconds";

/// Describes and initializes the metrics.
pub(super) fn describe_metrics() {
    describe_counter!(
        DRILLS,
        "Trial restores and file checks of backups by this node, by outcome."
    );
    // Initialized at startup, because Prometheus sees no increase in the first value of a series.
    for outcome in ["ok", "file_only", "error", "not_made"] {
        counter!(DRILLS, "outcome" => outcome).increment(0);
    }
    describe_gauge!(
        SUCCEEDED,
        "The time of the last successful trial restore on any node, in seconds since 1970; absent if there was none."
    );
}

impl Services {
    /// Runs the trial restores until `shutdown`.
    pub fn drill_backups(
        self: &Arc<Self>,
        verify: VerifyBackup,
        shutdown: CancellationToken,
        tasks: &TaskTracker,
    ) {
        let services = Arc::clone(self);
        tasks.spawn(shutdown.run_until_cancelled_owned(async move {
            let mut timer = tokio::time::interval(POLL);
            loop {
                tokio::select! {
                    _ = timer.tick() => {}
                    () = services.drills.kept_key.wait() => {}
                }
                let _turn = services.hold_drills().await;
                if let Err(error) = services.make_due_drill(&verify).await {
                    tracing::warn!(%error, "the trial restore of backups cannot run");
                }
            }
        }));
    }

    /// Waits until the server checks no backup. Prevents it from checking one until the returned value is dropped.
    /// Used by tests, which have no program that verifies backups.
    #[doc(hidden)]
    pub async fn hold_drills(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.drills.turn).lock_owned().await
    }

    /// Runs the trial restore if it is due and there is a backup. Returns whether it ran. On a shared database, a
    /// node with a newer backup may run it instead. The kept key is removed by this call, even if it is not used.
    pub async fn make_due_drill(&self, verify: &VerifyBackup) -> Result<bool, StoreError> {
        let kept = self.drills.kept_key.take();
        let state = self.drill_state().await?;
        super::show_time(SUCCEEDED, state.succeeded);
        let Some(days) = self.drill_days() else {
            return Ok(false);
        };
        let best = match kept {
            Some(_) => Access::KeptKey,
            None => Access::Plain,
        };
        // Writes nothing while no trial restore is due, and reads no directory while no restore is due.
        if !state.is_due(days, best, self.clock.now()) {
            return Ok(false);
        }
        let Some((backup, key)) = self.backup_to_check(kept).await? else {
            return Ok(false);
        };
        let access = match key {
            Some(_) => Access::KeptKey,
            None if backup.is_encrypted => Access::File,
            None => Access::Plain,
        };
        let now = self.clock.now();
        if !state.is_due(days, access, now) {
            return Ok(false);
        }
        let created_at = backup.created_at;
        // No other node has the key.
        let compares = self.store.engine().is_shared() && access != Access::KeptKey;
        let claim = self.store.write(move |conn| {
            Box::pin(async move {
                let stored = State::read(conn.find_setting(KEY).await?);
                let mut state = stored.clone();
                let begins = state.is_due(days, access, now)
                    && (!compares || state.begin_with_newest(created_at, now));
                if begins {
                    state.begin(now);
                }
                if state != stored {
                    conn.update_setting(KEY, &json!(state), now).await?;
                }
                Ok::<_, StoreError>(begins)
            })
        });
        if !claim.await? {
            return Ok(false);
        }
        let last = self.check_backup(&backup, key, verify, now).await;
        self.end_drill(last).await?;
        Ok(true)
    }

    /// Returns the interval of trial restores; `None` if they are turned off.
    fn drill_days(&self) -> Option<u16> {
        let days = self.config.resolved().settings.backup.drill_days;
        (days > 0).then_some(days)
    }

    async fn drill_state(&self) -> Result<State, StoreError> {
        let read = self
            .store
            .read(|conn| Box::pin(async move { conn.find_setting(KEY).await }));
        let stored: Result<_, StoreError> = read.await;
        Ok(State::read(stored?))
    }

    /// Returns the stored results of checks.
    pub(super) async fn backup_checks(&self) -> Result<Checks, StoreError> {
        self.drill_state().await.map(Checks)
    }
}

/// Reports on the trial restore. Returns `None` if trial restores are turned off, or if there are neither backups
/// nor a schedule. `listed` contains the backups in the directory, newest first; `None` if the directory cannot be
/// read.
pub(crate) async fn check(services: &Services, listed: Option<&[Entry]>) -> Option<Check> {
    let days = services.drill_days()?;
    let resolved = services.config.resolved();
    let settings = &resolved.settings.backup;
    // The check of the database reports an error.
    let state = services.drill_state().await.ok()?;
    // Scheduled backups are encrypted to the recipient. Other backups may use another key, or none.
    let is_locked = match (&settings.schedule, &settings.recipient, listed) {
        (Some(_), Some(recipient), _) => {
            // The check of the schedule reports an invalid recipient, with which no backup is created.
            super::check_recipient(recipient).ok()?;
            true
        }
        (Some(_), None, _) => false,
        (None, _, Some(listed)) => listed.first()?.is_encrypted,
        // A reported failure must not end because the directory does not answer.
        (None, _, None) => state.was_locked()?,
    };
    Some(state.finding(days, is_locked, services.clock.now()))
}
