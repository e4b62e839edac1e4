//! Starts the runs of schedules. One transaction stores a run's delivery and moves the schedule to its next run, so a
//! run is neither lost nor started twice when a process dies or several nodes share the database.

use super::set_back::ClockWatch;
use super::{CaughtUp, NoRuns, RunError, Schedule};
use crate::handle::{Inner, Webhooks};
use crate::ingest::preview;
use crate::metrics;
use crate::trace;
use crate::webhook::{Snapshot, StoredConfig};
use gatehouse_domain::{DeliveryStatus, Timestamp, WebhookId};
use gatehouse_sources::payload::Payload;
use gatehouse_sources::summary;
use gatehouse_store::{NewDelivery, ScheduleRow, StoreError, WebhookRow};
use serde_json::json;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The event type of every run.
pub(crate) const EVENT: &str = "schedule.run";
/// The longest time between two reads of the schedules, in case the clock was set.
const POLL: Duration = Duration::from_secs(15);
/// The longest time between two reads while there are no schedules. A new schedule on any node ends the wait.
const POLL_WITHOUT: Duration = Duration::from_mins(1);
/// Pause after an error.
const AFTER_ERROR: Duration = Duration::from_secs(1);
/// How many schedules are read at once.
const PAGE: i64 = 64;

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
            inner.schedule_turns.send_modify(|turns| *turns += 1);
            drop(tokio::time::timeout(rest, inner.schedules_changed.notified()).await);
        }
    };
    stop.run_until_cancelled(starts).await;
}

impl Webhooks {
    /// Waits until the due runs have been started. Tests use it to check that nothing happens.
    #[doc(hidden)]
    pub async fn schedules_turn(&self) {
        let mut turns = self.0.schedule_turns.subscribe();
        let seen = *turns.borrow_and_update();
        // The iteration that ends first may have begun before the call.
        for ended in [seen, seen.wrapping_add(1)] {
            self.0.schedules_changed.notify_one();
            drop(turns.wait_for(|now| *now > ended).await);
        }
    }
}

impl Inner {
    /// Starts every due run. Returns the time until the next run is due. `stuck` are the schedules whose runs could not
    /// be calculated. Their run stays due until the zone is installed, so that it is not lost.
    async fn start_due_runs(
        self: &Arc<Self>,
        stuck: &mut HashSet<WebhookId>,
    ) -> Result<Duration, StoreError> {
        loop {
            let paused = self.live.paused_schedules();
            // Their runs stay due, and must not fill the page.
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
                    // The check `schedules` reports it, so one warning is enough.
                    Err(RunError::NoRuns(error)) => {
                        if stuck.insert(webhook.clone()) {
                            // It may have filled the page. The next one is larger.
                            started = true;
                            tracing::warn!(%error, %webhook, "a schedule cannot run");
                        }
                    }
                    Err(error) => {
                        failed = true;
                        let error: &dyn std::error::Error = &error;
                        tracing::warn!(error, %webhook, "a scheduled run could not be started");
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

    /// Starts a run, and moves its schedule to the next one. Returns `false` if the schedule is paused. Its run stays
    /// due, and the runs that become due until it is resumed are combined into one.
    async fn start_run(self: &Arc<Self>, run: ScheduleRow) -> Result<bool, RunError> {
        let id = run.webhook_id.clone();
        let read = self
            .store
            .read(move |conn| Box::pin(async move { conn.find_webhook(id.as_str()).await }));
        let Some(webhook) = read.await? else {
            return Ok(true);
        };
        let config = StoredConfig::of(&webhook)?;
        let Some(schedule) = config.webhook.schedule.clone() else {
            self.advance(&run, None).await?;
            return Ok(true);
        };
        if config.paused {
            return Ok(false);
        }
        let (first, now) = (run.due_at, self.now());
        let calculate = tokio::task::spawn_blocking(move || {
            let runs = schedule.catch_up(first, now)?;
            Ok::<_, NoRuns>((schedule, runs))
        });
        let (schedule, runs) = calculate.await.map_err(|_| RunError::BrokenOff)??;
        let due = Due {
            run,
            webhook,
            config,
        };
        let delivery = self.delivery_of(&due, &schedule, runs)?;
        self.store_run(due, delivery, runs.next).await?;
        Ok(true)
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

    /// Stores the delivery, unless another node has stored it or the webhook was changed in the meantime.
    async fn store_run(
        &self,
        due: Due,
        delivery: NewDelivery,
        next: Option<Timestamp>,
    ) -> Result<(), StoreError> {
        let row = delivery.to_row();
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                let webhook = conn.find_webhook(due.webhook.id.as_str()).await?;
                let is_same = webhook
                    .is_some_and(|webhook| webhook.enabled && webhook.config == due.webhook.config);
                if !is_same || !conn.advance_schedule(&due.run, next).await? {
                    return Ok::<_, StoreError>(false);
                }
                let is_new = conn
                    .insert_deliveries(std::slice::from_ref(&delivery))
                    .await?;
                if !is_new.contains(&true) {
                    return Ok(false);
                }
                let (id, at) = (&delivery.webhook_id, delivery.received_at);
                conn.update_webhook_counts(id, 1, at)?;
                Ok(true)
            })
        });
        if write.await? {
            metrics::delivery(&row.webhook_id, row.status, row.event_type.as_deref());
            trace::made(self, &row);
            self.publish(&row);
            self.wake.notify_one();
        }
        Ok(())
    }

    fn delivery_of(
        &self,
        due: &Due,
        schedule: &Schedule,
        runs: CaughtUp,
    ) -> Result<NewDelivery, StoreError> {
        let (webhook, config) = (&due.webhook, &due.config.webhook);
        let text = payload(schedule, runs);
        let id = self.new_delivery_id();
        let now = self.now();
        let payload = Payload::from_json(&text).ok();
        let key = runs.run.to_string();
        Ok(NewDelivery {
            status: DeliveryStatus::Queued,
            event_type: Some(EVENT.to_owned()),
            entity_key: None,
            delivery_key: Some(key.clone()),
            unique_key: Some(key),
            bytes_key: None,
            duplicate_of: None,
            replay_of: None,
            redelivery: None,
            session_key: config.session_of(&webhook.public_id, &id, None),
            received_at: now,
            next_attempt_at: Some(now),
            headers: "{}".to_owned(),
            body_size: i64::try_from(text.len()).unwrap_or(i64::MAX),
            body_preview: preview(text.as_bytes()),
            summary: payload
                .and_then(|payload| summary::sentence(config.profile(), Some(EVENT), &payload)),
            payload: Some(text),
            config: Some(Snapshot::text(webhook, config)?.into()),
            target: Some(config.queue_target().into()),
            error: None,
            webhook_id: webhook.id.clone(),
            id,
        })
    }
}

/// The payload of a run. docs/API-webhooks.md documents it.
fn payload(schedule: &Schedule, runs: CaughtUp) -> String {
    json!({
        "type": EVENT,
        "id": runs.run,
        "scheduled_for": runs.run,
        "local_time": schedule.local_time(runs.run),
        "timezone": schedule.timezone(),
        "missed": runs.missed,
        "next_run": runs.next,
    })
    .to_string()
}
