//! `webhooks.payload_filter.preview`: compares a payload with conditions for a form.

use crate::method_entry::{Call, Method, method};
use gatehouse_domain::{Problem, Scope};
use gatehouse_services::to_problem;
use gatehouse_webhooks::{PayloadFilterInput, PayloadFilterPreview};

pub const PREVIEW: Method = method!(
    "webhooks.payload_filter.preview",
    "Compares a payload with the conditions of a payload filter, without storing anything.",
    Some(Scope::Read),
    preview(PayloadFilterInput) -> PayloadFilterPreview,
    long_params: true,
    errors: [NotFound]
);

async fn preview(call: Call, params: PayloadFilterInput) -> Result<PayloadFilterPreview, Problem> {
    let webhooks = &call.services.webhooks;
    let compared = webhooks.preview_payload_filter(params).await;
    compared.map_err(to_problem)
}
