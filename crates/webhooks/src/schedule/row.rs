//! Keeps the stored time of the next run consistent with the webhook's settings.

use super::Schedule;
use crate::error::WebhooksError;
use crate::webhook::StoredConfig;
use gatehouse_domain::{Timestamp, WebhookId};
use gatehouse_store::{Conn, StoreError};

/// The change of a schedule's row that accompanies a change of its webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DueChange {
    Keep,
    Set(Option<Timestamp>),
}

impl DueChange {
    /// Calculates the first run of a schedule that was created, changed or enabled.
    ///
    /// # Errors
    /// If a new schedule has no run.
    pub(crate) fn between(
        before: Option<(&StoredConfig, bool)>,
        after: (&StoredConfig, bool),
        now: Timestamp,
    ) -> Result<Self, WebhooksError> {
        let (config, is_enabled) = after;
        let schedule_before = before.and_then(|(config, _)| config.webhook.schedule.as_ref());
        let was_enabled = before.is_some_and(|(_, was_enabled)| was_enabled);
        let Some(schedule) = &config.webhook.schedule else {
            return Ok(schedule_before.map_or(Self::Keep, |_| Self::Set(None)));
        };
        let is_new = schedule_before != Some(schedule);
        if !is_new && (was_enabled || !is_enabled) {
            return Ok(Self::Keep);
        }
        let first = schedule
            .first_run(now)
            .map_err(|error| WebhooksError::invalid("schedule", error.to_string()))?;
        if is_new && first.is_none() {
            return Err(WebhooksError::invalid("schedule", no_run(schedule)));
        }
        Ok(Self::Set(first))
    }
}

pub(crate) fn no_run(schedule: &Schedule) -> &'static str {
    if schedule.at.is_some() {
        "at: this time is in the past"
    } else {
        "cron: this pattern has no run in the future"
    }
}

/// Applies the change. Call it in the transaction that writes the webhook.
pub(crate) async fn set_due(
    conn: &mut Conn,
    id: &WebhookId,
    change: DueChange,
) -> Result<(), StoreError> {
    match change {
        DueChange::Keep => Ok(()),
        DueChange::Set(due) => conn.update_schedule(id, due).await,
    }
}
