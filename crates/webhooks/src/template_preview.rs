//! Renders a template for a form. Uses the same rendering as a delivery.

use crate::error::WebhooksError;
use crate::handle::Webhooks;
use crate::input::{Patch, WebhookInput};
use crate::sending;
use crate::webhook::TemplateFormat;
use gatehouse_channels::Channels;
use gatehouse_sources::payload::Payload;
use gatehouse_sources::template;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A template and the payload to render it with: one of `delivery_id` and `payload`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TemplateInput {
    /// As in `webhooks.create`, with `deliver_only`.
    #[serde(default)]
    pub prompt_template: Patch<String>,
    /// As in `webhooks.create`.
    #[serde(default)]
    pub template_format: Patch<TemplateFormat>,
    /// As in `webhooks.create`. The channel decides how inserted values are escaped.
    #[serde(default)]
    pub deliver_to: Patch<String>,
    /// The delivery whose stored payload is used.
    pub delivery_id: Option<String>,
    /// JSON, as text.
    pub payload: Option<String>,
}

/// A rendered template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TemplatePreview {
    /// The text of the message, or the JSON body.
    pub text: String,
    /// The names in the template that the payload does not have. In a text they stay as written; in JSON they
    /// become `null`.
    pub missing: Vec<String>,
}

impl Webhooks {
    /// Renders a template, or returns why it would be refused.
    pub async fn preview_template(
        &self,
        input: TemplateInput,
    ) -> Result<TemplatePreview, WebhooksError> {
        let webhook = WebhookInput {
            deliver_only: Patch::Set(true),
            prompt_template: input.prompt_template,
            template_format: input.template_format,
            deliver_to: input.deliver_to,
            ..WebhookInput::default()
        };
        let config = webhook.first_config()?.webhook;
        let payload = self
            .previewed_payload(input.delivery_id, input.payload)
            .await?;
        if config.template_format == TemplateFormat::Json {
            let rendered = sending::json(config.template(), &payload, None)
                .map_err(|error| WebhooksError::invalid("prompt_template", error.to_string()))?;
            return Ok(TemplatePreview {
                text: rendered.text,
                missing: rendered.missing,
            });
        }
        let markup = Channels::markup(config.target());
        Ok(TemplatePreview {
            text: sending::text(config.template(), &payload, None, markup),
            missing: template::missing(config.template(), &payload),
        })
    }

    /// Returns the payload of a delivery, or a payload that is given as text. Expects one of them.
    pub(crate) async fn previewed_payload(
        &self,
        delivery_id: Option<String>,
        payload: Option<String>,
    ) -> Result<Payload, WebhooksError> {
        let stored = match (delivery_id, payload) {
            (Some(id), None) => self.payload_text(&id).await?,
            (None, Some(payload)) => payload,
            _ => {
                let reason = "expected either payload or delivery_id";
                return Err(WebhooksError::invalid("payload", reason));
            }
        };
        Payload::from_json(&stored)
            .map_err(|error| WebhooksError::invalid("payload", error.to_string()))
    }
}
