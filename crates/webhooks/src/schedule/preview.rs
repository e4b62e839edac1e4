//! The next runs of a schedule that is not stored, for a form.

use super::{Schedule, ScheduleInput, row};
use crate::error::WebhooksError;
use crate::handle::Webhooks;
use gatehouse_domain::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

/// A schedule and its next runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SchedulePreview {
    pub schedule: Schedule,
    /// The next five runs, if the schedule began now.
    pub next_runs: Vec<Timestamp>,
}

impl Webhooks {
    /// Returns the next runs of a schedule, or why it would be refused.
    pub async fn preview_schedule(
        &self,
        input: &ScheduleInput,
    ) -> Result<SchedulePreview, WebhooksError> {
        let (schedule, now) = (input.check()?, self.0.now());
        // The search for a pattern that rarely occurs takes many milliseconds.
        let search = tokio::task::spawn_blocking(move || {
            let first = schedule.first_run(now).unwrap_or_default();
            let next_runs = schedule.runs_from(first);
            SchedulePreview {
                schedule,
                next_runs,
            }
        });
        let preview = search.await.map_err(|_| WebhooksError::BrokenOff)?;
        if preview.next_runs.is_empty() {
            let reason = row::no_run(&preview.schedule);
            return Err(WebhooksError::invalid("schedule", reason));
        }
        Ok(preview)
    }
}
