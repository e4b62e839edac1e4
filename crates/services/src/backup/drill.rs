//! The drill, every `backup.drill_days` days: the newest backup is restored to a temporary directory and checked, as
//! `gatehouse backup verify` does. A schedule is not needed: another program may write the backups to the directory. If
//! the backup is encrypted, only its file is checked, because the server has no key. The state is in the database. If
//! there are several nodes, the one with the newest backup makes the drill.

mod file;
mod state;

use crate::Services;
use crate::binary_size::binary_size;
use crate::doctor::check::Check;
use futures_util::future::BoxFuture;
use gatehouse_auth::audit::kinds;
use gatehouse_backup::folder::Entry;
use gatehouse_domain::{Actor, Timestamp};
use gatehouse_store::StoreError;
use metrics::{counter, describe_counter, describe_gauge, gauge};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use state::{Extent, Last, State};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How often the state is compared with the clock.
const POLL: Duration = Duration::from_mins(10);
/// The key of the state in the table of settings.
pub const KEY: &str = "backup_drill";
/// A restored database is larger than its compressed backup, at most about this many times.
const EXPANSION: u64 = 12;
/// Disk space in bytes that must remain free beside the restored database.
const SPARE_BYTES: u64 = 512 * 1024 * 1024;

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

/// Restores a backup in a temporary directory below the data directory and checks it.
pub type VerifyBackup =
    Arc<dyn Fn(PathBuf) -> BoxFuture<'static, Result<(), DrillError>> + Send + Sync>;

/// The last check of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CheckedBackup {
    pub at: Timestamp,
    pub result: CheckResult,
}

/// The result of the last check of a backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckResult {
    /// The backup was restored to a temporary directory and is intact.
    Restored,
    /// The backup is encrypted to a key that the server does not have. Its file is unchanged.
    FileUnchanged,
    /// The backup is encrypted to a key that the server does not have. Only its header was read.
    HeaderOnly,
    /// The backup is damaged.
    Unusable,
    /// The backup could not be checked, for example for lack of disk space.
    NotChecked,
}

/// The stored results of checks.
#[derive(Debug, Default)]
pub struct Checks(State);

impl Checks {
    /// Reads the stored value of [`KEY`].
    pub(super) fn read(stored: Option<Value>) -> Self {
        Self(State::read(stored))
    }

    /// The last check of a backup by the name of its file, if it is known.
    pub fn of(&self, name: &str) -> Option<CheckedBackup> {
        self.0.result_of(name)
    }
}

const DRILLS: &str = "backup_drills_total";
const SUCCEEDED: &str = "backup_drill_last_success_timestamp_seconds";

/// Describes and initializes the metrics.
pub(super) fn describe_metrics() {
    describe_counter!(
        DRILLS,
        "Trial restores and file checks of backups by this node, by outcome."
    );
    // From the start, because Prometheus sees no increase in the first value of a series.
    for outcome in ["ok", "file_only", "error", "not_made"] {
        counter!(DRILLS, "outcome" => outcome).increment(0);
    }
    describe_gauge!(
        SUCCEEDED,
        "The time of the last successful trial restore on any node, in seconds since 1970; absent if there was none."
    );
}

fn show_success(at: Option<Timestamp>) {
    if let Some(at) = at {
        #[expect(
            clippy::cast_precision_loss,
            reason = "a time in milliseconds fits in 53 bits"
        )]
        gauge!(SUCCEEDED).set(at.as_millis() as f64 / 1000.0);
    }
}

impl Services {
    /// Makes the drills until `shutdown`.
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
                timer.tick().await;
                if let Err(error) = services.make_due_drill(&verify).await {
                    tracing::warn!(%error, "the drill of backups cannot be made");
                }
            }
        }));
    }

    /// Makes the drill if it is due and there is a backup. Returns whether it did. On a shared database, a node with a
    /// newer backup may make it instead.
    pub async fn make_due_drill(&self, verify: &VerifyBackup) -> Result<bool, StoreError> {
        let state = self.drill_state().await?;
        show_success(state.succeeded);
        let Some(days) = self.drill_days() else {
            return Ok(false);
        };
        // Nothing is written while no drill is due, and no directory is read while a restore is not due.
        if !state.is_due(days, true, self.clock.now()) {
            return Ok(false);
        }
        let Some(backup) = self.newest_backup().await? else {
            return Ok(false);
        };
        let (now, restores) = (self.clock.now(), !backup.is_encrypted);
        if !state.is_due(days, restores, now) {
            return Ok(false);
        }
        let (is_shared, created_at) = (self.store.engine().is_shared(), backup.created_at);
        let claim = self.store.write(move |conn| {
            Box::pin(async move {
                let stored = State::read(conn.find_setting(KEY).await?);
                let mut state = stored.clone();
                let begins = state.is_due(days, restores, now)
                    && (!is_shared || state.begin_with_newest(created_at, now));
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
        self.make_drill(&backup, verify, now).await?;
        Ok(true)
    }

    /// The interval of drills; `None` if none are made.
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

    /// The stored results of checks.
    pub(super) async fn backup_checks(&self) -> Result<Checks, StoreError> {
        self.drill_state().await.map(Checks)
    }

    /// Verifies a backup, and stores and reports the outcome.
    async fn make_drill(
        &self,
        backup: &Entry,
        verify: &VerifyBackup,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let begun_ms = self.clock.monotonic_ms();
        let verified = if backup.is_encrypted {
            self.check_file(backup).await
        } else {
            self.restore_on_trial(backup, verify).await
        };
        let name = super::name_of(&backup.path);
        let took_ms = self.clock.monotonic_ms().saturating_sub(begun_ms);
        let (outcome, kind, detail) = match &verified {
            Ok(Extent::Restored) => {
                tracing::info!(name, "the trial restore of a backup succeeded");
                let detail = json!({ "name": name, "took_ms": took_ms });
                ("ok", kinds::BACKUP_VERIFIED, detail)
            }
            Ok(extent) => {
                let reason = file::reason(*extent);
                tracing::info!(name, reason, "the trial restore of a backup did not run");
                let detail = json!({ "name": name, "error": reason });
                ("file_only", kinds::BACKUP_NOT_VERIFIED, detail)
            }
            Err(DrillError::Unusable(reason)) => {
                tracing::error!(name, reason, "the trial restore of a backup failed");
                let detail = json!({ "name": name, "error": reason });
                ("error", kinds::BACKUP_UNUSABLE, detail)
            }
            Err(DrillError::NotMade(reason)) => {
                tracing::error!(name, reason, "the trial restore of a backup did not run");
                let detail = json!({ "name": name, "error": reason });
                ("not_made", kinds::BACKUP_NOT_VERIFIED, detail)
            }
        };
        counter!(DRILLS, "outcome" => outcome).increment(1);
        self.auth.note_change(kind, Actor::system(), detail).await;
        let last = Last {
            at: now,
            name,
            took_ms,
            was_made: !matches!(verified, Err(DrillError::NotMade(_))),
            extent: match &verified {
                Ok(extent) => *extent,
                Err(_) if backup.is_encrypted => Extent::Header,
                Err(_) => Extent::Restored,
            },
            error: verified.err().map(|error| error.to_string()),
        };
        let store = self.store.write(move |conn| {
            Box::pin(async move {
                let mut state = State::read(conn.find_setting(KEY).await?);
                state.end(last);
                conn.update_setting(KEY, &json!(state), now).await?;
                Ok::<_, StoreError>(state.succeeded)
            })
        });
        show_success(store.await?);
        Ok(())
    }

    /// The newest backup in the directory; `None` if there is none, or if the directory cannot be read or does not
    /// answer. An older backup would say nothing about the current ones.
    async fn newest_backup(&self) -> Result<Option<Entry>, StoreError> {
        let listed = self.list_in_time(self.backup_place().await?).await;
        Ok(listed.ok().and_then(|listed| listed.into_iter().next()))
    }

    async fn restore_on_trial(
        &self,
        backup: &Entry,
        verify: &VerifyBackup,
    ) -> Result<Extent, DrillError> {
        let room = self.room_for(backup).await;
        room.map_err(DrillError::NotMade)?;
        verify(backup.path.clone()).await.map(|()| Extent::Restored)
    }

    /// Whether the disk has room for the restored database.
    async fn room_for(&self, backup: &Entry) -> Result<(), String> {
        let needed = backup
            .bytes
            .saturating_mul(EXPANSION)
            .saturating_add(SPARE_BYTES);
        let path = self.config.layers().data_dir().to_path_buf();
        let read = tokio::task::spawn_blocking(move || {
            let found = rustix::fs::statvfs(&path).map_err(io::Error::from)?;
            Ok::<_, io::Error>(found.f_bavail.saturating_mul(found.f_frsize))
        });
        match read.await {
            Ok(Ok(free)) if free >= needed => Ok(()),
            Ok(Ok(free)) => Err(format!(
                "its trial restore may need {}, and only {} are free in the data directory",
                binary_size(needed),
                binary_size(free)
            )),
            Ok(Err(_)) | Err(_) => {
                Err("the free space of the data directory cannot be read".to_owned())
            }
        }
    }
}

/// Reports on the drill. Returns `None` if none are made, and without a schedule if there are no backups. `listed` are
/// the backups in the directory, newest first; `None` if it cannot be read.
pub(crate) async fn check(services: &Services, listed: Option<&[Entry]>) -> Option<Check> {
    let days = services.drill_days()?;
    let resolved = services.config.resolved();
    let settings = &resolved.settings.backup;
    // The check of the database reports an error.
    let state = services.drill_state().await.ok()?;
    // Backups of a schedule are encrypted to the recipient. Other ones may use another key, or none.
    let is_locked = match (&settings.schedule, &settings.recipient, listed) {
        (Some(_), Some(recipient), _) => {
            // The check of the schedule reports a wrong recipient. No backup is made for it.
            super::check_recipient(recipient).ok()?;
            true
        }
        (Some(_), None, _) => false,
        (None, _, Some(listed)) => listed.first()?.is_encrypted,
        // A failure does not end because the directory does not answer.
        (None, _, None) => state.was_locked()?,
    };
    Some(state.finding(days, is_locked, services.clock.now()))
}
