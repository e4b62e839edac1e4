//! Scheduled backups. The time of the next backup is in the database, so that only one of several nodes makes it, and
//! so that a backup that became due while the server was stopped is made at the start.

use super::place;
use crate::Services;
use crate::doctor::check::Check;
use croner::Cron;
use gatehouse_auth::audit::kinds;
use gatehouse_backup::age::Recipient;
use gatehouse_domain::{Actor, Timestamp, Zone};
use gatehouse_store::StoreError;
use metrics::{counter, describe_counter};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How often the schedule is compared with the clock.
const POLL: Duration = Duration::from_secs(10);
/// The key of the state in the table of settings.
pub const KEY: &str = "backup_state";
/// How late a backup may be before `doctor` reports it: an hour. A backup whose process ended is repeated after the
/// same time.
const LATE_MS: i64 = 3_600_000;
/// How long a backup counts as running after its last sign of life.
const LEASE: Duration = Duration::from_mins(5);
/// How often a running backup gives a sign of life.
const RENEW: Duration = Duration::from_mins(1);
/// Wait after a backup that failed.
const RETRY: Duration = Duration::from_hours(1);

const BACKUPS: &str = "backups_total";

/// Describes and initializes the metric.
pub(super) fn describe_metrics() {
    describe_counter!(
        BACKUPS,
        "Scheduled backups that this node made, by outcome."
    );
    // From the start, because Prometheus sees no increase in the first value of a series.
    for outcome in ["ok", "error"] {
        counter!(BACKUPS, "outcome" => outcome).increment(0);
    }
}

/// The stored state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    /// The pattern that `next` was calculated from.
    pattern: String,
    next: Option<Timestamp>,
    last: Option<Last>,
    /// When the running backup began.
    started: Option<Timestamp>,
    /// Until when the running backup counts as running. Its node extends it. Earlier versions have none, and count
    /// [`LATE_MS`] from the start.
    #[serde(default)]
    leased_until: Option<Timestamp>,
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
    pub async fn make_due_backup(&self) -> Result<bool, StoreError> {
        let resolved = self.config.resolved();
        let settings = &resolved.settings.backup;
        let Some(pattern) = settings.schedule.clone() else {
            return Ok(false);
        };
        let now = self.clock.now();
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
        let backup = self.create_backup(None, Some(settings.keep));
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
        let ended = self.clock.now();
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

    /// Extends the lease of the backup that began at `began`. A failure is only logged: the next renewal may succeed.
    async fn renew_lease(&self, began: Timestamp) {
        let now = self.clock.now();
        let store = self.store.write(move |conn| {
            Box::pin(async move {
                let mut state = read(conn.find_setting(KEY).await?);
                let is_own = state.renew(began, now);
                if is_own {
                    conn.update_setting(KEY, &json!(state), now).await?;
                }
                Ok::<_, StoreError>(is_own)
            })
        });
        match store.await {
            Ok(true) => {}
            Ok(false) => tracing::warn!("another node has begun the scheduled backup as well"),
            Err(error) => tracing::warn!(%error, "the lease of the backup cannot be renewed"),
        }
    }
}

/// Waits for `work` and calls `renew` each `period` until it is done.
async fn while_renewing<T, R: Future<Output = ()>>(
    period: Duration,
    work: impl Future<Output = T>,
    renew: impl Fn() -> R,
) -> T {
    let mut work = pin!(work);
    loop {
        match tokio::time::timeout(period, &mut work).await {
            Ok(done) => return done,
            Err(_) => renew().await,
        }
    }
}

/// An unreadable state counts as none.
fn read(stored: Option<serde_json::Value>) -> State {
    let stored = stored.and_then(|value| serde_json::from_value(value).ok());
    stored.unwrap_or_default()
}

impl State {
    /// Returns whether a backup is due, and calculates the time of the next one. Several missed times result in
    /// one backup. A backup whose process ended before it did is due again, an hour after it began.
    fn advance(&mut self, pattern: &str, zone: &Zone, now: Timestamp) -> bool {
        let is_same = self.pattern == pattern;
        self.forget_times_ahead(zone, now);
        let passed = |moment: Option<Timestamp>, ms: i64| {
            moment.is_some_and(|at| at.as_millis().saturating_add(ms) <= now.as_millis())
        };
        let ended = passed(self.started, LATE_MS) && !self.is_running(now);
        let is_due = is_same && (ended || (passed(self.next, 0) && self.started.is_none()));
        if is_due || !is_same || self.next.is_none() {
            pattern.clone_into(&mut self.pattern);
            self.next = next_after(pattern, zone, now);
        }
        if is_due {
            self.started = Some(now);
            self.leased_until = Some(now.after(LEASE));
        }
        is_due
    }

    /// Corrects times that were stored while a clock was more than [`LATE_MS`] ahead. Otherwise no backup would be made
    /// until then. A smaller difference is one between the clocks of nodes, and would repeat the last backup.
    fn forget_times_ahead(&mut self, zone: &Zone, now: Timestamp) {
        let latest = Timestamp::from_millis(now.as_millis().saturating_add(LATE_MS));
        self.started = self.started.filter(|at| *at <= latest);
        self.leased_until = self.leased_until.filter(|at| *at <= latest);
        let next = next_after(&self.pattern, zone, latest);
        if let (Some(stored), Some(next)) = (self.next, next)
            && next < stored
        {
            self.next = next_after(&self.pattern, zone, now);
        }
    }

    /// Whether the backup that began last is still running, as far as its lease shows.
    fn is_running(&self, now: Timestamp) -> bool {
        let Some(started) = self.started else {
            return false;
        };
        let legacy_end = started.as_millis().saturating_add(LATE_MS);
        let end = self.leased_until.map_or(legacy_end, Timestamp::as_millis);
        end > now.as_millis()
    }

    /// Extends the lease of the backup that began at `began`. Returns `false` if another one has begun since.
    fn renew(&mut self, began: Timestamp, now: Timestamp) -> bool {
        let is_own = self.started == Some(began);
        if is_own {
            self.leased_until = Some(now.after(LEASE));
        }
        is_own
    }

    /// Stores that the backup that began at `began` ended at `now`. One that failed is retried in an hour. Another one
    /// that has begun since stays running.
    fn end(&mut self, began: Timestamp, now: Timestamp, error: Option<String>) {
        if error.is_some() {
            let again = now.after(RETRY);
            self.next = Some(self.next.map_or(again, |next| next.min(again)));
        }
        self.last = Some(Last { at: began, error });
        if self.started == Some(began) {
            self.started = None;
            self.leased_until = None;
        }
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
    let resolved = services.config.resolved();
    let settings = &resolved.settings.backup;
    settings.schedule.as_ref()?;
    if let Some(Err(error)) = settings.recipient.as_deref().map(Recipient::parse) {
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
    let found = finding(&read(stored.ok()?), services.clock.now());
    Some(place::add_to(found, services).await)
}

fn finding(state: &State, now: Timestamp) -> Check {
    const HINT: &str =
        "Check the directory and the recipient in [backup], and run `gatehouse backup create`.";
    let is_late = |next: Timestamp| next.as_millis().saturating_add(LATE_MS) < now.as_millis();
    let late = state.started.filter(|started| is_late(*started));
    if let Some(started) = late {
        if state.is_running(now) {
            let message = format!("The backup of {started} is still running.");
            return Check::fine("backup", message);
        }
        let message = format!("The backup of {started} did not end.");
        return Check::bad("backup", message, HINT);
    }
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
        state.end(at("2026-01-05T12:00:00Z"), at("2026-01-05T12:00:20Z"), None);
        assert!(!state.advance("0 * * * *", &zone, at("2026-01-07T00:10:00Z")));
        assert_eq!(state.next, Some(at("2026-01-07T01:00:00Z")));
    }

    #[test]
    fn backups_continue_after_the_clock_was_ahead() {
        let (zone, daily) = (Zone::utc(), "30 3 * * *");
        let mut state = State::default();
        state.advance(daily, &zone, at("2026-01-01T00:00:00Z"));
        let ahead = at("2027-01-01T03:30:00Z");
        assert!(state.advance(daily, &zone, ahead));
        // The node ended during the backup.
        assert!(!state.advance(daily, &zone, at("2026-01-01T01:00:00Z")));
        assert_eq!(state.next, Some(at("2026-01-01T03:30:00Z")));
        assert!(state.advance(daily, &zone, at("2026-01-01T03:30:00Z")));
        // The clock was ahead at a renewal of the lease only.
        let began = at("2026-01-01T03:30:00Z");
        assert!(state.renew(began, ahead));
        assert!(!state.advance(daily, &zone, at("2026-01-01T04:29:59Z")));
        assert!(state.advance(daily, &zone, at("2026-01-01T04:30:00Z")));
    }

    #[test]
    fn a_small_difference_between_clocks_does_not_repeat_a_backup() {
        let (zone, daily) = (Zone::utc(), "30 3 * * *");
        let mut state = State::default();
        state.advance(daily, &zone, at("2026-01-01T00:00:00Z"));
        let began = at("2026-01-01T03:30:00Z");
        assert!(state.advance(daily, &zone, began));
        // Another node, whose clock is behind.
        assert!(!state.advance(daily, &zone, at("2026-01-01T03:29:59Z")));
        state.end(began, at("2026-01-01T03:30:10Z"), None);
        for behind in ["2026-01-01T03:29:59Z", "2026-01-01T02:30:00Z"] {
            assert!(!state.advance(daily, &zone, at(behind)));
            assert!(!state.advance(daily, &zone, at("2026-01-01T03:30:20Z")));
            assert_eq!(state.next, Some(at("2026-01-02T03:30:00Z")), "{behind}");
        }
        assert!(!state.advance(daily, &zone, at("2026-01-01T02:29:59Z")));
        assert_eq!(state.next, Some(at("2026-01-01T03:30:00Z")), "past an hour");
    }

    #[test]
    fn a_backup_that_failed_or_did_not_end_is_repeated() {
        let (zone, weekly) = (Zone::utc(), "0 0 * * 1");
        let mut state = State::default();
        state.advance(weekly, &zone, at("2026-01-04T00:00:00Z"));
        assert!(state.advance(weekly, &zone, at("2026-01-05T00:00:00Z")));
        state.end(
            at("2026-01-05T00:00:00Z"),
            at("2026-01-05T00:00:00Z"),
            Some("the disk is full".to_owned()),
        );
        assert!(!state.advance(weekly, &zone, at("2026-01-05T00:59:59Z")));
        assert!(state.advance(weekly, &zone, at("2026-01-05T01:00:00Z")));
        assert!(!state.advance(weekly, &zone, at("2026-01-05T01:59:59Z")));
        assert!(state.advance(weekly, &zone, at("2026-01-05T02:00:00Z")));
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
            started: None,
            leased_until: None,
        };
        assert!(finding(&state, now).ok);
        state.started = Some(at("2026-01-05T10:00:00Z"));
        assert!(!finding(&state, now).ok);
        state.leased_until = Some(at("2026-01-05T12:00:00.001Z"));
        let running = finding(&state, now);
        assert!(
            running.ok && running.message.contains("still running"),
            "{running:?}"
        );
        state.leased_until = Some(now);
        assert!(!finding(&state, now).ok);
        state.started = None;
        state.next = Some(at("2026-01-05T10:59:59Z"));
        assert!(!finding(&state, now).ok);
        state.next = Some(at("2026-01-05T11:00:00Z"));
        assert!(finding(&state, now).ok);
        if let Some(last) = &mut state.last {
            last.error = Some("the disk is full".to_owned());
        }
        assert!(!finding(&state, now).ok);
    }

    #[test]
    fn a_backup_that_takes_longer_than_an_hour_is_not_begun_a_second_time() {
        let (zone, hourly) = (Zone::utc(), "0 * * * *");
        let mut state = State::default();
        state.advance(hourly, &zone, at("2026-01-05T00:30:00Z"));
        let began = at("2026-01-05T01:00:00Z");
        assert!(state.advance(hourly, &zone, began));
        for minute in 1..180 {
            let now = began.after(Duration::from_mins(minute));
            assert!(state.renew(began, now));
            assert!(!state.advance(hourly, &zone, now), "minute {minute}");
        }
        // The last renewal was at 03:59, and the node is gone.
        let mut other = state.clone();
        assert!(!other.advance(hourly, &zone, at("2026-01-05T04:03:59.999Z")));
        assert!(other.advance(hourly, &zone, at("2026-01-05T04:04:00Z")));
        // If it is not gone, it neither extends nor ends the lease of the other one.
        assert!(!other.renew(began, at("2026-01-05T04:05:00Z")));
        other.end(began, at("2026-01-05T04:05:00Z"), None);
        assert_eq!(other.started, Some(at("2026-01-05T04:04:00Z")));
        assert!(!other.advance(hourly, &zone, at("2026-01-05T05:00:00Z")));
        // The next one begins when the long one has ended.
        let mut failed = state.clone();
        state.end(began, at("2026-01-05T03:59:30Z"), None);
        assert!(state.advance(hourly, &zone, at("2026-01-05T04:00:00Z")));
        // A failed one is repeated an hour after its end, unless the schedule has an earlier time.
        failed.next = Some(at("2026-01-06T01:00:00Z"));
        let why = Some("the disk is full".to_owned());
        failed.end(began, at("2026-01-05T03:59:30Z"), why);
        assert_eq!(failed.next, Some(at("2026-01-05T04:59:30Z")));
    }

    #[test]
    fn a_backup_that_an_earlier_version_began_counts_as_running_for_an_hour() {
        let started = json!({ "pattern": "0 * * * *", "next": null, "last": null,
            "started": at("2026-01-05T01:00:00Z") });
        let state = read(Some(started));
        assert!(state.is_running(at("2026-01-05T01:59:59.999Z")));
        assert!(!state.is_running(at("2026-01-05T02:00:00Z")));
    }

    #[tokio::test]
    async fn the_lease_is_renewed_until_the_work_is_done() {
        let renewals = std::cell::Cell::new(0);
        let work = std::future::poll_fn(|_| match renewals.get() {
            3 => std::task::Poll::Ready("done"),
            _ => std::task::Poll::Pending,
        });
        let renew = || async { renewals.set(renewals.get() + 1) };
        let done = while_renewing(Duration::from_millis(1), work, renew).await;
        assert_eq!((done, renewals.get()), ("done", 3));
    }
}
