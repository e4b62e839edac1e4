//! Scheduled backups. The time of the next one is in the database, so that of several nodes one makes it, and
//! so that one that was due while the server was stopped is made at the start.

use crate::Services;
use crate::doctor::Check;
use croner::Cron;
use gatehouse_auth::audit::kinds;
use gatehouse_domain::{Actor, Timestamp, Zone};
use gatehouse_store::StoreError;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How often the schedule is compared with the clock.
const POLL: Duration = Duration::from_secs(10);
/// The state in the table of settings.
const KEY: &str = "backup_state";
/// How late a backup may be before `doctor` reports it: an hour.
const LATE_MS: i64 = 3_600_000;

/// The stored state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    /// The pattern that `next` was calculated from.
    pattern: String,
    next: Option<Timestamp>,
    last: Option<Last>,
}

/// The last scheduled backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Last {
    at: Timestamp,
    /// `None` if it succeeded.
    error: Option<String>,
}

impl Services {
    /// Makes the backups of `backup.schedule` until `shutdown`.
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

    /// Makes a backup if one is due. Returns whether it did.
    async fn make_due_backup(&self) -> Result<bool, StoreError> {
        let resolved = self.config.resolved();
        let settings = &resolved.settings.backup;
        let Some(pattern) = settings.schedule.clone() else {
            return Ok(false);
        };
        let now = self.clock.now();
        let claim = self.store.write(move |conn| {
            Box::pin(async move {
                let mut state = read(conn.find_setting(KEY).await?);
                let is_due = state.advance(&pattern, &Zone::system(), now);
                conn.update_setting(KEY, &json!(state), now).await?;
                Ok::<_, StoreError>(is_due)
            })
        });
        if !claim.await? {
            return Ok(false);
        }
        let made = self.create_backup(None, Some(settings.keep)).await;
        let (error, detail) = match made {
            Ok(made) => (
                None,
                json!({ "name": made.backup.name, "bytes": made.backup.bytes, "rows": made.rows }),
            ),
            Err(problem) => {
                tracing::error!(reason = %problem.message, "the scheduled backup failed");
                let detail = json!({ "error": problem.message });
                (Some(problem.message), detail)
            }
        };
        self.auth
            .note_change(kinds::BACKUP_CREATED, Actor::system(), detail)
            .await;
        let store = self.store.write(move |conn| {
            Box::pin(async move {
                let mut state = read(conn.find_setting(KEY).await?);
                state.last = Some(Last { at: now, error });
                conn.update_setting(KEY, &json!(state), now).await
            })
        });
        store.await?;
        Ok(true)
    }
}

/// A state that cannot be read is like none.
fn read(stored: Option<serde_json::Value>) -> State {
    let stored = stored.and_then(|value| serde_json::from_value(value).ok());
    stored.unwrap_or_default()
}

impl State {
    /// Returns whether a backup is due, and calculates the time of the next one. Missed times are one backup.
    fn advance(&mut self, pattern: &str, zone: &Zone, now: Timestamp) -> bool {
        let is_same = self.pattern == pattern;
        let is_due = is_same && self.next.is_some_and(|next| next <= now);
        if is_due || !is_same || self.next.is_none() {
            pattern.clone_into(&mut self.pattern);
            self.next = next_after(pattern, zone, now);
        }
        is_due
    }
}

fn next_after(pattern: &str, zone: &Zone, now: Timestamp) -> Option<Timestamp> {
    let pattern: Cron = pattern.parse().ok()?;
    let now = jiff::Timestamp::from_millisecond(now.as_millis()).ok()?;
    let now = now.to_zoned(zone.rules().clone());
    let next = pattern.find_next_occurrence(&now, false).ok()?;
    Some(Timestamp::from_millis(next.timestamp().as_millisecond()))
}

/// Reports on scheduled backups. Returns `None` without a schedule.
pub(crate) async fn check(services: &Services) -> Option<Check> {
    services
        .config
        .resolved()
        .settings
        .backup
        .schedule
        .as_ref()?;
    let read_state = services
        .store
        .read(|conn| Box::pin(async move { conn.find_setting(KEY).await }));
    // The check of the database reports an error.
    let stored: Result<_, StoreError> = read_state.await;
    Some(finding(&read(stored.ok()?), services.clock.now()))
}

fn finding(state: &State, now: Timestamp) -> Check {
    const HINT: &str =
        "Check the directory and the recipient in [backup], and run `gatehouse backup create`.";
    let is_late = |next: Timestamp| next.as_millis().saturating_add(LATE_MS) < now.as_millis();
    match (&state.last, state.next) {
        (
            Some(Last {
                at,
                error: Some(error),
            }),
            _,
        ) => Check::bad(
            "backup",
            format!("The backup of {at} failed: {error}"),
            HINT,
        ),
        (_, Some(next)) if is_late(next) => Check::bad(
            "backup",
            format!("The backup of {next} was not made."),
            HINT,
        ),
        (Some(Last { at, .. }), _) => {
            Check::fine("backup", format!("The last scheduled backup is of {at}."))
        }
        (None, Some(next)) => Check::fine(
            "backup",
            format!("The first scheduled backup is due at {next}."),
        ),
        (None, None) => Check::fine("backup", "Backups are scheduled."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn missed_times_are_one_backup_and_a_new_pattern_starts_anew() {
        let mut state = State::default();
        let zone = Zone::utc();
        let daily = "30 3 * * *";
        assert!(!state.advance(daily, &zone, at("2026-01-01T00:00:00Z")));
        assert_eq!(state.next, Some(at("2026-01-01T03:30:00Z")));
        assert!(!state.advance(daily, &zone, at("2026-01-01T03:29:59Z")));
        assert!(state.advance(daily, &zone, at("2026-01-05T12:00:00Z")));
        assert_eq!(state.next, Some(at("2026-01-06T03:30:00Z")));
        assert!(!state.advance(daily, &zone, at("2026-01-05T12:00:20Z")));
        assert!(!state.advance("0 * * * *", &zone, at("2026-01-07T00:10:00Z")));
        assert_eq!(state.next, Some(at("2026-01-07T01:00:00Z")));
    }

    #[test]
    fn failed_and_late_backups_are_reported() {
        let now = at("2026-01-05T12:00:00Z");
        let mut state = State {
            pattern: "30 3 * * *".to_owned(),
            next: Some(at("2026-01-06T03:30:00Z")),
            last: Some(Last {
                at: at("2026-01-05T03:30:00Z"),
                error: None,
            }),
        };
        assert!(finding(&state, now).ok);
        state.next = Some(at("2026-01-05T10:59:59Z"));
        assert!(!finding(&state, now).ok);
        state.next = Some(at("2026-01-05T11:00:00Z"));
        assert!(finding(&state, now).ok);
        if let Some(last) = &mut state.last {
            last.error = Some("the disk is full".to_owned());
        }
        assert!(!finding(&state, now).ok);
    }
}
