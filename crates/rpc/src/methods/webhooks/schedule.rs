//! `webhooks.schedule.preview`: the next runs of a schedule, for a form.

use crate::method_entry::{Call, Method, method};
use gatehouse_domain::{Problem, Scope};
use gatehouse_services::to_problem;
use gatehouse_webhooks::{ScheduleInput, SchedulePreview};
use schemars::JsonSchema;
use serde::Deserialize;

pub const PREVIEW: Method = method!(
    "webhooks.schedule.preview",
    "Returns the next five runs of a schedule without storing it.",
    Some(Scope::Read),
    preview(PreviewParams) -> SchedulePreview
);

/// Params of `webhooks.schedule.preview`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PreviewParams {
    /// The schedule, as in `webhooks.create`.
    schedule: ScheduleInput,
}

async fn preview(call: Call, params: PreviewParams) -> Result<SchedulePreview, Problem> {
    let webhooks = &call.services.webhooks;
    webhooks
        .preview_schedule(&params.schedule)
        .await
        .map_err(to_problem)
}
