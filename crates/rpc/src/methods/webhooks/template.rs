//! `webhooks.template.preview`: renders a template for a form.

use crate::method_entry::{Call, Method, method};
use gatehouse_domain::{Problem, Scope};
use gatehouse_services::to_problem;
use gatehouse_webhooks::{TemplateInput, TemplatePreview};

pub const PREVIEW: Method = method!(
    "webhooks.template.preview",
    "Renders a template with a payload, as it would be sent, without storing it.",
    Some(Scope::Read),
    preview(TemplateInput) -> TemplatePreview,
    long_params: true,
    errors: [NotFound]
);

async fn preview(call: Call, params: TemplateInput) -> Result<TemplatePreview, Problem> {
    let webhooks = &call.services.webhooks;
    webhooks.preview_template(params).await.map_err(to_problem)
}
