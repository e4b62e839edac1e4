//! Scheduled backups. The time of the next backup is in the database, so that only one of several nodes creates it.
//! If a backup became due while the server was stopped, it is created at startup.

mod lease;
mod state;

use super::{check_recipient, place};
use crate::Services;
use crate::doctor::check::Check;
use gatehouse_auth::audit::kinds;
use gatehouse_backup::folder::Entry;
use gatehouse_domain::{Actor, Timestamp, Zone};
use gatehouse_store::StoreError;
use lease::while_renewing;
use metrics::{counter, describe_counter, describe_gauge, gauge};
use serde_json::json;
use state::{finding, read};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::OwnedMutexGuard;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How often the schedule is compared with the clock.
const POLL: Duration = Duration::from_secs(10);
/// The key of the state in the table of settings.
pub const KEY: &str = "backup_state";
/// How often the lease of a running backup is renewed.
const RENEW: Duration = Duration::from_mins(1);
const BACKUPS: &str = "backups_total";
const SUCCEEDED: &str = "backup_last_success_timestamp_seconds";

/// Describes the metrics, and initializes the counter.
pub(super) fn describe_metrics() {
    describe_counter!(
        BACKUPS,
        "Scheduled backups that this node made, by outcome."
    );
    // Initialized at startup, because Prometheus sees no increase in the first value of a series.
    for outcome in ["ok", "error"] {
        counter!(BACKUPS, "outcome" => outcome).increment(0);
    }
    describe_gauge!(
        SUCCEEDED,
        "When the last scheduled backup that succeeded on any node began, in seconds since 1970; absent if there was \
         none, and NaN after backup.schedule was removed."
    );
}

impl Services {
    /// Creates the backups of `backup.schedule` until `shutdown`.
    pub fn make_backups(self: &Arc<Self>, shutdown: CancellationToken, tasks: &TaskTracker) {
        let services = Arc::clone(self);
        tasks.spawn(shutdown.run_until_cancelled_owned(async move {
            let mut timer = tokio::time::interval(POLL);
            loop {
                timer.tick().await;
                if let Err(error) = services.make_due_backup().await {
                    tracing::warn!(%error, "the schedule of backups cannot be read");
                }
            }
        }));
    }

    /// Creates a backup if one is due. Returns whether it did. Waits until another backup of this node has ended.
    pub async fn make_due_backup(&self) -> Result<bool, StoreError> {
        // A transaction that writes costs more than a read, and every node polls.
        if !self.must_advance_schedule().await? {
            return Ok(false);
        }
        let turn = self.turn_for_schedule().await;
        // Read again, because the wait may have been long.
        let resolved = self.config.resolved();
        let settings = &resolved.settings.backup;
        let Some(pattern) = settings.schedule.clone() else {
            return Ok(false);
        };
        let now = self.store.shared_now(&self.clock).await;
        let claim = self.store.write(move |conn| {
            Box::pin(async move {
                let stored = read(conn.find_setting(KEY).await?);
                let mut state = stored.clone();
                let is_due = state.advance(&pattern, &Zone::system(), now);
                if state != stored {
                    conn.update_setting(KEY, &json!(state), now).await?;
                }
                Ok::<_, StoreError>(is_due)
            })
        });
        if !claim.await? {
            return Ok(false);
        }
        let backup = self.create_backup_in(turn, None, Some(settings.keep));
        let made = while_renewing(RENEW, backup, || self.renew_lease(now)).await;
        let (error, kind, detail) = match made {
            Ok(made) => (
                None,
                kinds::BACKUP_CREATED,
                json!({ "name": made.backup.name, "bytes": made.backup.bytes, "rows": made.rows }),
            ),
            Err(problem) => {
                tracing::error!(reason = %problem.message, "the scheduled backup failed");
                let detail = json!({ "error": problem.message });
                (Some(problem.message), kinds::BACKUP_FAILED, detail)
            }
        };
        let outcome = if error.is_some() { "error" } else { "ok" };
        counter!(BACKUPS, "outcome" => outcome).increment(1);
        self.auth.note_change(kind, Actor::system(), detail).await;
        let ended = self.store.shared_now(&self.clock).await;
        let store = self.store.write(move |conn| {
            Box::pin(async move {
                let mut state = read(conn.find_setting(KEY).await?);
                state.end(now, ended, error);
                conn.update_setting(KEY, &json!(state), ended).await
            })
        });
        store.await?;
        Ok(true)
    }

    /// Returns whether a backup is due, or the time of the next one must be calculated.
    async fn must_advance_schedule(&self) -> Result<bool, StoreError> {
        let resolved = self.config.resolved();
        let Some(pattern) = &resolved.settings.backup.schedule else {
            self.show_last_success(None);
            return Ok(false);
        };
        let now = self.store.shared_now(&self.clock).await;
        let find = self
            .store
            .read(|conn| Box::pin(async move { conn.find_setting(KEY).await }));
        let stored: Result<_, StoreError> = find.await;
        let stored = read(stored?);
        let mut state = stored.clone();
        let is_due = state.advance(pattern, &Zone::system(), now);
        self.show_last_success(state.succeeded);
        Ok(is_due || state != stored)
    }

    /// Sets the metric. A time that is no longer valid becomes NaN: a metric cannot be removed, and an old time
    /// would fire an alert.
    fn show_last_success(&self, at: Option<Timestamp>) {
        super::show_time(SUCCEEDED, at);
        let was_shown = self.backup_shown.swap(at.is_some(), Ordering::Relaxed);
        if was_shown && at.is_none() {
            gauge!(SUCCEEDED).set(f64::NAN);
        }
    }

    /// Waits until no other backup is being created on this node. Another node may create the scheduled backup in
    /// the meantime.
    async fn turn_for_schedule(&self) -> OwnedMutexGuard<()> {
        if let Ok(turn) = Arc::clone(&self.backup_turn).try_lock_owned() {
            return turn;
        }
        tracing::info!("a scheduled backup waits until another backup is complete");
        self.hold_backups().await
    }
}

/// Reports on scheduled backups. Without a schedule, passes with a hint. Returns `None` before setup. `listed`
/// contains the backups in the directory, newest first; `None` if it cannot be read.
pub(crate) async fn check(services: &Services, listed: Option<&[Entry]>) -> Option<Check> {
    let resolved = services.config.resolved();
    let settings = &resolved.settings.backup;
    if settings.schedule.is_none() {
        if !services.auth.facts().setup_complete {
            return None;
        }
        return Some(unscheduled(listed));
    }
    if let Some(Err(error)) = settings.recipient.as_deref().map(check_recipient) {
        let message = format!("The setting backup.recipient is wrong: {error}.");
        return Some(Check::bad(
            "backup",
            message,
            "Set the public key of an age key pair.",
        ));
    }
    let read_state = services
        .store
        .read(|conn| Box::pin(async move { conn.find_setting(KEY).await }));
    // The check of the database reports an error.
    let stored: Result<_, StoreError> = read_state.await;
    let now = services.store.shared_now(&services.clock).await;
    let found = finding(&read(stored.ok()?), now);
    Some(place::add_to(found, services).await)
}

/// Returns the check without a schedule.
fn unscheduled(listed: Option<&[Entry]>) -> Check {
    const HINT: &str = "Set backup.schedule, for example to `30 3 * * *` for a backup each night.";
    let message = match listed {
        Some([newest, ..]) => format!(
            "No backups are scheduled. The newest one in the directory is of {}.",
            newest.created_at
        ),
        Some([]) => "No backups are scheduled, and the directory contains none.".to_owned(),
        None => "No backups are scheduled.".to_owned(),
    };
    Check {
        hint: Some(HINT.to_owned()),
        ..Check::fine("backup", message)
    }
}

#[cfg(test)]
mod tests;
