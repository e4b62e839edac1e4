//! The weekly drill: the newest backup of the schedule is restored in a temporary place and checked, as
//! `gatehouse backup verify` does. Its state is in the database, so that only one of several nodes runs it.

use crate::Services;
use crate::doctor::check::Check;
use futures_util::future::BoxFuture;
use gatehouse_backup::folder::{self, Entry};
use gatehouse_domain::Timestamp;
use gatehouse_store::StoreError;
use serde::{Deserialize, Serialize};
use serde_json::json;
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
const WEEK_MS: i64 = 7 * 24 * 3_600_000;
/// When a drill that failed is repeated.
const RETRY_MS: i64 = 24 * 3_600_000;
/// How late a drill may be before `doctor` reports it.
const LATE_MS: i64 = 2 * 24 * 3_600_000;
/// A drill that takes longer was ended with its process.
const LONGEST_MS: i64 = 6 * 3_600_000;
/// A restored database is larger than its compressed backup, at most about this many times.
const EXPANSION: u64 = 12;
/// What must remain free beside the restored database.
const SPARE_BYTES: u64 = 512 * 1024 * 1024;

/// Restores a backup in a temporary place below the data directory and checks it. The error says what is wrong.
pub type VerifyBackup =
    Arc<dyn Fn(PathBuf) -> BoxFuture<'static, Result<(), String>> + Send + Sync>;

/// The stored state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    last: Option<Last>,
    /// When the drill began that is being made.
    started: Option<Timestamp>,
}

/// The last drill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Last {
    at: Timestamp,
    /// The name of the backup.
    name: String,
    took_ms: u64,
    /// `None` if it succeeded.
    error: Option<String>,
}

impl State {
    /// A state that cannot be read is like none.
    fn read(stored: Option<serde_json::Value>) -> Self {
        let stored = stored.and_then(|value| serde_json::from_value(value).ok());
        stored.unwrap_or_default()
    }

    fn is_due(&self, now: Timestamp) -> bool {
        let passed = |at: Timestamp, ms: i64| at.as_millis().saturating_add(ms) <= now.as_millis();
        let is_running = self.started.is_some_and(|at| !passed(at, LONGEST_MS));
        // One that failed is repeated sooner: a newer backup may be good.
        let was_made = self.last.as_ref().is_some_and(|last| {
            let pause = if last.error.is_some() {
                RETRY_MS
            } else {
                WEEK_MS
            };
            !passed(last.at, pause)
        });
        !is_running && !was_made
    }
}

impl Services {
    /// Makes the weekly drill until `shutdown`.
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

    /// Makes the drill if it is due and there is a backup that can be read without a key. Returns whether it did.
    pub async fn make_due_drill(&self, verify: &VerifyBackup) -> Result<bool, StoreError> {
        if self.config.resolved().settings.backup.schedule.is_none() {
            return Ok(false);
        }
        let Some(backup) = self.newest_backup().await else {
            return Ok(false);
        };
        let now = self.clock.now();
        let stored = self
            .store
            .read(|conn| Box::pin(async move { conn.find_setting(KEY).await }));
        let stored: Result<_, StoreError> = stored.await;
        // Nothing is written while no drill is due.
        if !State::read(stored?).is_due(now) {
            return Ok(false);
        }
        let claim = self.store.write(move |conn| {
            Box::pin(async move {
                let mut state = State::read(conn.find_setting(KEY).await?);
                let is_due = state.is_due(now);
                if is_due {
                    state.started = Some(now);
                    conn.update_setting(KEY, &json!(state), now).await?;
                }
                Ok::<_, StoreError>(is_due)
            })
        });
        if !claim.await? {
            return Ok(false);
        }
        let begun_ms = self.clock.monotonic_ms();
        let verified = match self.room_for(&backup).await {
            Ok(()) => verify(backup.path.clone()).await,
            Err(why) => Err(why),
        };
        let name = super::name_of(&backup);
        match &verified {
            Ok(()) => tracing::info!(name, "a backup was restored on trial and is intact"),
            Err(reason) => tracing::error!(name, reason, "a backup could not be restored on trial"),
        }
        let last = Last {
            at: now,
            name,
            took_ms: self.clock.monotonic_ms().saturating_sub(begun_ms),
            error: verified.err(),
        };
        let state = State {
            last: Some(last),
            started: None,
        };
        let store = self.store.write(move |conn| {
            Box::pin(async move { conn.update_setting(KEY, &json!(state), now).await })
        });
        let stored: Result<(), StoreError> = store.await;
        stored?;
        Ok(true)
    }

    /// The newest backup in the directory that is not encrypted; `None` if there is none, or the directory cannot be read.
    async fn newest_backup(&self) -> Option<Entry> {
        let directory = self.backup_directory();
        let list = tokio::task::spawn_blocking(move || folder::list(&directory));
        let mut all = list.await.ok()?.ok()?.into_iter();
        all.find(|it| !it.is_encrypted)
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
                "restoring it on trial may need {} MiB, and only {} MiB are free in the data directory",
                needed >> 20,
                free >> 20
            )),
            Ok(Err(_)) | Err(_) => {
                Err("the free space of the data directory cannot be read".to_owned())
            }
        }
    }
}

/// Reports on the drill. Returns `None` without a schedule.
pub(crate) async fn check(services: &Services) -> Option<Check> {
    let resolved = services.config.resolved();
    let settings = &resolved.settings.backup;
    settings.schedule.as_ref()?;
    if settings.recipient.is_some() {
        let message = "Backups are encrypted to a key that this server does not have, so it cannot restore them on trial. \
                       Run `gatehouse backup verify` where the key is.";
        return Some(Check::fine("backup_drill", message));
    }
    let read = services
        .store
        .read(|conn| Box::pin(async move { conn.find_setting(KEY).await }));
    // The check of the database reports an error.
    let stored: Result<_, StoreError> = read.await;
    Some(finding(&State::read(stored.ok()?), services.clock.now()))
}

fn finding(state: &State, now: Timestamp) -> Check {
    const ID: &str = "backup_drill";
    const HINT: &str = "Run `gatehouse backup verify` with a backup. If it fails too, make a new backup and verify that one.";
    let did_not_end = |at: &Timestamp| at.as_millis().saturating_add(LONGEST_MS) < now.as_millis();
    if let Some(began) = state.started.filter(did_not_end) {
        let message = format!("Restoring a backup on trial, which began at {began}, did not end.");
        return Check::bad(ID, message, HINT);
    }
    let Some(last) = &state.last else {
        return Check::fine(ID, "The first backup will be restored on trial.");
    };
    let (name, at) = (&last.name, last.at);
    if let Some(error) = &last.error {
        let message = format!("Restoring the backup {name} on trial at {at} failed: {error}.");
        return Check::bad(ID, message, HINT);
    }
    let due = at.as_millis().saturating_add(WEEK_MS + LATE_MS);
    if due < now.as_millis() {
        let message = format!("No backup has been restored on trial since {at}.");
        return Check::bad(ID, message, HINT);
    }
    let seconds = last.took_ms.div_ceil(1000);
    let message =
        format!("The backup {name} was restored on trial at {at}, in {seconds} s, and is intact.");
    Check::fine(ID, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn state(error: Option<&str>) -> State {
        State {
            last: Some(Last {
                at: at("2026-01-01T00:00:00Z"),
                name: "a.backup".to_owned(),
                took_ms: 1001,
                error: error.map(str::to_owned),
            }),
            started: None,
        }
    }

    #[test]
    fn it_is_due_each_week_and_again_if_its_process_ended() {
        assert!(State::default().is_due(at("2026-01-01T00:00:00Z")));
        let mut state = state(None);
        assert!(!state.is_due(at("2026-01-07T23:59:59Z")));
        assert!(state.is_due(at("2026-01-08T00:00:00Z")));
        let failed = self::state(Some("it is cut off"));
        assert!(!failed.is_due(at("2026-01-01T23:59:59Z")));
        assert!(failed.is_due(at("2026-01-02T00:00:00Z")));
        state.started = Some(at("2026-01-08T00:00:00Z"));
        assert!(!state.is_due(at("2026-01-08T05:59:59Z")));
        assert!(state.is_due(at("2026-01-08T06:00:00Z")));
    }

    #[test]
    fn failed_and_late_drills_are_reported() {
        let now = at("2026-01-09T23:59:59Z");
        assert!(finding(&State::default(), now).ok);
        let good = finding(&state(None), now);
        assert!(good.ok && good.message.contains("in 2 s"), "{good:?}");
        assert!(!finding(&state(None), at("2026-01-10T00:00:01Z")).ok);
        let mut unfinished = state(None);
        unfinished.started = Some(at("2026-01-09T17:59:58Z"));
        assert!(!finding(&unfinished, now).ok);
        unfinished.started = Some(at("2026-01-09T17:59:59Z"));
        assert!(finding(&unfinished, now).ok);
        let failed = finding(&state(Some("it is cut off")), now);
        assert!(!failed.ok && failed.message.contains("it is cut off"));
    }
}
