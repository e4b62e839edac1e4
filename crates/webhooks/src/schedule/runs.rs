//! Starts the runs of schedules. One transaction stores a run's delivery and moves the schedule to its next run. A
//! run is therefore neither lost nor started twice if a process ends or if several nodes share the database.

mod start;

use super::RunError;
use super::set_back::ClockWatch;
use crate::handle::{Inner, Webhooks};
use crate::webhook::StoredConfig;
use gatehouse_domain::{Timestamp, WebhookId};
use gatehouse_store::{ScheduleRow, StoreError, WebhookRow};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The event type of every run.
pub(crate) const EVENT: &str = "schedule.run";
/// The longest time between two reads of the schedules. It limits the delay if the clock was set.
const POLL: Duration = Duration::from_secs(15);
/// The longest time between two reads while there are no schedules. A new schedule on any node ends the wait.
const POLL_WITHOUT: Duration = Duration::from_mins(1);
/// Pause after an error.
const AFTER_ERROR: Duration = Duration::from_secs(1);
/// How many schedules are read at once.
const PAGE: i64 = 64;

/// The checks for due runs that have ended.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ScheduleTurns {
    count: u64,
    /// How long the loop waits after the last one, unless a schedule changes.
    rest: Duration,
}

/// A schedule with a due run.
struct Due {
    run: ScheduleRow,
    webhook: WebhookRow,
    config: StoredConfig,
}

/// Starts due runs until `stop`.
pub(crate) async fn serve(inner: Arc<Inner>, stop: CancellationToken) {
    let mut watch = ClockWatch::new(&*inner.clock);
    let mut stuck = HashSet::new();
    let starts = async {
        loop {
            if watch.was_set_back(&*inner.clock) {
                match inner.correct_next_runs().await {
                    Ok(()) => watch.has_corrected(),
                    Err(error) => {
                        let error: &dyn std::error::Error = &error;
                        tracing::warn!(error, "the next runs of schedules were not checked");
                    }
                }
            }
            let rest = match inner.start_due_runs(&mut stuck).await {
                Ok(rest) => rest,
                Err(error) => {
                    let error: &dyn std::error::Error = &error;
                    tracing::warn!(error, "due schedules could not be read");
                    AFTER_ERROR
                }
            };
            inner.schedule_turns.send_modify(|turns| {
                turns.count += 1;
                turns.rest = rest;
            });
            drop(tokio::time::timeout(rest, inner.schedules_changed.notified()).await);
        }
    };
    stop.run_until_cancelled(starts).await;
}

impl Webhooks {
    /// Waits until the due runs have been started. Returns the time until the next check. Tests call it before they
    /// check that nothing has happened.
    #[doc(hidden)]
    pub async fn schedules_turn(&self) -> Duration {
        let mut turns = self.0.schedule_turns.subscribe();
        let seen = turns.borrow_and_update().count;
        // The iteration that ends first may have begun before the call.
        for ended in [seen, seen.wrapping_add(1)] {
            self.0.schedules_changed.notify_one();
            drop(turns.wait_for(|now| now.count > ended).await);
        }
        turns.borrow().rest
    }
}

impl Inner {
    /// Starts every due run. Returns the time until the next run is due. `stuck` contains the schedules that cannot be
    /// read, or whose runs cannot be calculated. Their runs stay due until the row is repaired or the zone is
    /// installed, so that they are not lost.
    async fn start_due_runs(
        self: &Arc<Self>,
        stuck: &mut HashSet<WebhookId>,
    ) -> Result<Duration, StoreError> {
        loop {
            let paused = self.live.paused_schedules();
            // The runs of paused and stuck schedules stay due, so they must not fill the page.
            let waiting = paused.len().saturating_add(stuck.len());
            let limit = PAGE.saturating_add(i64::try_from(waiting).unwrap_or(i64::MAX));
            let mut schedules = self
                .store
                .read(move |conn| Box::pin(async move { conn.list_next_schedules(limit).await }))
                .await?;
            schedules.retain(|schedule| !paused.contains(&schedule.webhook_id));
            let now = self.now();
            let upcoming = schedules.iter().find(|schedule| now < schedule.due_at);
            let longest = if schedules.is_empty() {
                POLL_WITHOUT
            } else {
                POLL
            };
            let rest = upcoming.map_or(longest, |schedule| now.until(schedule.due_at).min(POLL));
            let due = schedules.iter().filter(|schedule| schedule.due_at <= now);
            let (mut started, mut failed) = (false, false);
            for run in due.cloned() {
                let webhook = run.webhook_id.clone();
                match self.start_run(run).await {
                    Ok(is_started) => {
                        started |= is_started;
                        stuck.remove(&webhook);
                    }
                    Err(RunError::Store(error)) if error.is_unavailable() => {
                        failed = true;
                        let error: &dyn std::error::Error = &error;
                        tracing::warn!(error, %webhook, "a scheduled run could not be started");
                    }
                    // Another attempt soon would fail in the same way. The check `schedules` or `damaged_webhooks` reports the
                    // problem, so one warning is enough.
                    Err(error) => {
                        if stuck.insert(webhook.clone()) {
                            // Stuck schedules may have filled this page. The next page is larger.
                            started = true;
                            let error: &dyn std::error::Error = &error;
                            tracing::warn!(error, %webhook, "a schedule cannot run");
                        }
                    }
                }
            }
            if failed {
                return Ok(rest.min(AFTER_ERROR));
            }
            if !started {
                return Ok(rest);
            }
        }
    }

    pub(super) async fn advance(
        &self,
        run: &ScheduleRow,
        next: Option<Timestamp>,
    ) -> Result<(), StoreError> {
        let run = run.clone();
        self.store
            .write(move |conn| {
                Box::pin(async move { conn.advance_schedule(&run, next).await.map(drop) })
            })
            .await
    }
}
