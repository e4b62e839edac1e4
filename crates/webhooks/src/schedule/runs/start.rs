//! The start of a run.

use super::{Due, EVENT};
use crate::handle::Inner;
use crate::ingest::preview;
use crate::schedule::{CaughtUp, NoRuns, RunError, Schedule};
use crate::webhook::{Snapshot, StoredConfig};
use crate::{metrics, trace};
use gatehouse_domain::{DeliveryStatus, Timestamp};
use gatehouse_sources::payload::Payload;
use gatehouse_sources::summary;
use gatehouse_store::{NewDelivery, ScheduleRow, StoreError};
use serde_json::json;
use std::sync::Arc;

impl Inner {
    /// Starts a run, and moves its schedule to the next run. Returns `false` if the schedule is paused. The run of
    /// a paused schedule stays due, and is combined with the runs that become due until the schedule is resumed.
    pub(super) async fn start_run(self: &Arc<Self>, run: ScheduleRow) -> Result<bool, RunError> {
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

/// Returns the payload of a run. docs/API-webhooks.md documents the payload.
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
