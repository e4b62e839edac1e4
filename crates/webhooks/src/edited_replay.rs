//! A replay with a different payload, agent or channel. The original is not changed.
//!
//! An edited payload did not come from the sender, and no signature covers it. The replay is therefore marked as
//! edited, its event is parsed again, and it has no delivery key. An agent still treats the payload as untrusted
//! text, because most of it is. The replay has its own session, so it adds nothing to the conversation about the
//! real event.

use crate::delivery::{Delivery, EditedPart};
use crate::error::WebhooksError;
use crate::handle::{Inner, Webhooks};
use crate::ingest::preview;
use crate::live::LiveWebhook;
use crate::metrics;
use crate::replay::{Original, has_edited_payload, repeat};
use crate::trace;
use crate::webhook::{Snapshot, TemplateFormat, WebhookConfig, own_session};
use gatehouse_channels::takes_json;
use gatehouse_domain::{DeliveryStatus, ErrorCode, Problem};
use gatehouse_sources::event::{self, Event};
use gatehouse_sources::payload::Payload;
use gatehouse_sources::summary;
use gatehouse_store::{DeliveryRow, NewDelivery};
use http::{HeaderMap, HeaderName, HeaderValue};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Changes for a replay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edit {
    /// JSON that replaces the payload.
    pub payload: Option<String>,
    /// The agent that processes the payload instead of the webhook's target.
    pub agent: Option<String>,
    /// The channel for the agent's answer, as `type` or `type:account`. Without an agent, the payload itself is
    /// sent to the channel.
    pub deliver_to: Option<String>,
}

impl Edit {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the parts that differ from the sender's request and from the webhook's settings. A payload that was
    /// edited for an earlier replay still counts as edited.
    fn parts(&self, original: &DeliveryRow) -> Vec<EditedPart> {
        let has_payload = self.payload.is_some() || has_edited_payload(original);
        let has_target = self.agent.is_some() || self.deliver_to.is_some();
        let parts = [
            (EditedPart::Payload, has_payload),
            (EditedPart::Target, has_target),
        ];
        let edited = parts.into_iter().filter(|(_, is_edited)| *is_edited);
        edited.map(|(part, _)| part).collect()
    }

    /// Changes the configuration of the replay.
    fn apply(&self, config: &mut WebhookConfig) {
        let is_target_before = (config.deliver_only, config.deliver_to.clone());
        if let Some(agent) = &self.agent {
            config.agent = Some(agent.clone());
            // The webhook's model was chosen for its own agent.
            config.model = None;
            config.deliver_only = false;
            config.deliver_to.clone_from(&self.deliver_to);
        } else if let Some(target) = &self.deliver_to {
            config.deliver_only = true;
            config.deliver_to = Some(target.clone());
        }
        if config.deliver_only != is_target_before.0 {
            // With `deliver_only`, a template refers to fields of the payload. Without it, a template refers to the
            // agent's answer.
            config.prompt_template = None;
            config.template_format = TemplateFormat::default();
        }
        if config.template_format == TemplateFormat::Json && !takes_json(config.target()) {
            // A JSON template does not fit a message that people read.
            config.prompt_template = None;
            config.template_format = TemplateFormat::default();
        }
        if config.deliver_to != is_target_before.1 {
            // These values refer to a destination within the webhook's own channel.
            config.deliver_extra = None;
        }
    }
}

impl Webhooks {
    /// Replays a delivery and returns the new one. If the webhook is disabled, the replay waits until it is
    /// enabled.
    pub async fn replay(&self, id: &str) -> Result<Delivery, WebhooksError> {
        self.replay_edited(id, &Edit::default()).await
    }

    /// Replays a delivery with these changes and returns the new one.
    pub async fn replay_edited(&self, id: &str, edit: &Edit) -> Result<Delivery, WebhooksError> {
        let inner = &self.0;
        let original = inner.original(id).await?;
        inner.check_edit(edit, &original.webhook).await?;
        let parts = edit.parts(&original.row);
        let new = edited(inner, original, edit)?;
        let names: Vec<&str> = parts.iter().map(|part| part.as_str()).collect();
        let marked = Some(names.join(",")).filter(|names| !names.is_empty());
        let mut stored = new.to_row();
        stored.edited.clone_from(&marked);
        inner
            .store
            .write(move |conn| {
                Box::pin(async move {
                    // The webhook may have been deleted in the meantime.
                    if conn.find_webhook(new.webhook_id.as_str()).await?.is_none() {
                        return Err(WebhooksError::NotFound("webhook"));
                    }
                    conn.insert_deliveries(std::slice::from_ref(&new)).await?;
                    if let Some(marked) = &marked {
                        conn.update_delivery_edited(&new.id, marked).await?;
                    }
                    Ok(())
                })
            })
            .await?;
        metrics::delivery(
            &stored.webhook_id,
            DeliveryStatus::Queued,
            stored.event_type.as_deref(),
        );
        trace::made(inner, &stored);
        inner.publish(&stored);
        inner.wake.notify_one();
        Ok(Delivery::from(stored))
    }
}

impl Inner {
    async fn check_edit(&self, edit: &Edit, webhook: &LiveWebhook) -> Result<(), WebhooksError> {
        if let Some(payload) = &edit.payload {
            if webhook.config.schedule.is_some() {
                let reason =
                    "the payload of a schedule is made by the gateway and cannot be edited";
                return Err(WebhooksError::invalid("payload", reason));
            }
            let most = webhook.config.max_body_bytes;
            if u64::try_from(payload.len()).unwrap_or(u64::MAX) > most {
                let reason = format!("at most {most} bytes, the limit of the webhook");
                return Err(WebhooksError::invalid("payload", reason));
            }
        }
        if let Some(target) = &edit.deliver_to {
            let checked = self.channels.check_target(target).await;
            checked.map_err(|error| WebhooksError::Refused(error.into()))?;
        }
        if let Some(agent) = &edit.agent {
            self.check_agent(agent).await?;
        }
        Ok(())
    }

    /// Checks that an agent exists.
    pub(crate) async fn check_agent(&self, agent: &str) -> Result<(), WebhooksError> {
        let found = self.agents.get_agent(agent).await;
        found.map(drop).map_err(|error| match Problem::from(error) {
            missing if missing.code == ErrorCode::NotFound => {
                WebhooksError::invalid("agent", "there is no such agent")
            }
            problem => WebhooksError::Refused(problem),
        })
    }
}

/// Returns the replay with the changes applied.
fn edited(inner: &Inner, original: Original, edit: &Edit) -> Result<NewDelivery, WebhooksError> {
    let webhook = Arc::clone(&original.webhook);
    let mut new = repeat(inner, &webhook, original.row, original.payload);
    if edit.is_empty() {
        return Ok(new);
    }
    if let Some(text) = &edit.payload {
        let payload = Payload::from_json(text)
            .map_err(|error| WebhooksError::invalid("payload", error.to_string()))?;
        let event = event_of(&webhook, &new.headers, &payload, text);
        new.summary = summary::sentence(webhook.profile, event.event_type.as_deref(), &payload);
        new.event_type = event.event_type;
        new.entity_key = event.entity_key;
        new.delivery_key = None;
        new.body_size = i64::try_from(text.len()).unwrap_or(i64::MAX);
        new.body_preview = preview(text.as_bytes());
        new.payload = Some(payload.into_text());
    }
    let mut snapshot: Snapshot =
        serde_json::from_str(webhook.snapshot.text()).map_err(|error| {
            tracing::error!(%error, "the configuration of a webhook cannot be read");
            WebhooksError::Refused(Problem::internal())
        })?;
    edit.apply(&mut snapshot.config);
    new.target = Some(snapshot.config.queue_target().into());
    new.session_key = own_session(&webhook.public_id, &new.id);
    new.config = Some(snapshot.to_text()?.into());
    Ok(new)
}

/// Parses the event of an edited payload, with the recorded headers of the original.
fn event_of(webhook: &LiveWebhook, headers: &str, payload: &Payload, text: &str) -> Event {
    let recorded: BTreeMap<String, String> = serde_json::from_str(headers).unwrap_or_default();
    let pairs = recorded.iter().filter_map(|(name, value)| {
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        Some((name, HeaderValue::from_str(value).ok()?))
    });
    let headers: HeaderMap = pairs.collect();
    let event_header = webhook.config.event_header.as_deref();
    event::read(
        webhook.profile,
        event_header,
        &headers,
        payload,
        text.as_bytes(),
    )
}

#[cfg(test)]
mod tests;
