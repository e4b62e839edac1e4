//! The agent tools `webhook`, `webhook_get_full_payload` and `channel_send`. They are for trusted turns.
//! `channel_send` is also available in the turn of a delivery if its webhook names the tool and the target. Each
//! action of `webhook` calls the same function as the RPC method with its name.
//!
//! Conversations are stored, shown, and sent to a model's vendor. Therefore no secret enters a conversation in
//! either direction, and lists contain no text from senders.

mod arguments;
mod channel_send;
mod deliveries;
mod description;
mod payload;
mod setup;

use crate::handle::Webhooks;
use crate::input::WebhookInput;
use crate::listing::DeliveryQuery;
use crate::records::WebhookChanged;
use crate::webhook::Webhook;
use channel_send::ChannelSendTool;
use deliveries::{DeliveryPageView, DeliveryView};
use futures_util::future::BoxFuture;
use gatehouse_agents::{Audience, Effect, Tool, ToolContext, ToolError, ToolRegistry};
use gatehouse_domain::{Actor, Problem};
use serde_json::{Map, Value, json};
use std::sync::Arc;

use arguments::{Page, Rotation, Search, limit, read, refuse_secret, taken, target};
pub(crate) use channel_send::CHANNEL_SEND;
use description::{DESCRIPTION, parameters};
pub(crate) use payload::PayloadTool;

/// Maximum number of records in a list, to fit a model's context.
const MAX_LIST: usize = 50;
const DEFAULT_LIST: usize = 20;

impl Webhooks {
    /// Registers the webhook tools.
    pub fn register_tools(&self, tools: &ToolRegistry) {
        tools.register(Arc::new(WebhookTool(self.clone())));
        tools.register(Arc::new(PayloadTool(self.clone())));
        tools.register(Arc::new(ChannelSendTool(self.clone())));
    }
}

#[derive(Debug)]
struct WebhookTool(Webhooks);

impl Tool for WebhookTool {
    fn name(&self) -> &'static str {
        "webhook"
    }

    fn description(&self) -> &'static str {
        DESCRIPTION
    }

    fn parameters(&self) -> Value {
        parameters()
    }

    fn audience(&self) -> Audience {
        Audience::Trusted
    }

    fn reads_strangers(&self) -> bool {
        false
    }

    fn effect(&self, input: &Value, _has_private: bool) -> Effect {
        match input.get("action").and_then(Value::as_str) {
            Some("list" | "get" | "deliveries") => Effect::None,
            _ => Effect::Change,
        }
    }

    fn target(&self, input: &Value) -> Option<String> {
        target(input)
    }

    fn call<'a>(
        &'a self,
        context: &'a ToolContext,
        input: Value,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        Box::pin(async move {
            let answer = self.act(&tool_actor(&context.actor), input).await?;
            Ok(answer.to_string())
        })
    }
}

/// Returns the actor for the audit log, which distinguishes actions of the tool from actions of the person.
fn tool_actor(person: &Actor) -> Actor {
    Actor {
        name: format!("tool webhook for {}", person.name),
        ..person.clone()
    }
}

fn tool_error(problem: impl Into<Problem>) -> ToolError {
    ToolError::new(problem.into().message)
}

fn shown<T: serde::Serialize>(answer: &T) -> Result<Value, ToolError> {
    serde_json::to_value(answer).map_err(|_| ToolError::new("The answer cannot be shown."))
}

/// Explains how a person can copy the secret.
fn where_to_get_one(webhook: &Webhook) -> String {
    let id = &webhook.id;
    format!(
        "The secret is not shown in a conversation. To see a secret, a person must rotate it: with `gatehouse \
         webhooks rotate-secret {id}`, or in the web UI under Settings, Webhooks. The new secret is shown once and \
         replaces the old one. A secret that the sender generated is stored with `gatehouse webhooks update {id}`."
    )
}

/// Returns a changed webhook without its secret. If the secret is new, adds a note on how to get it.
fn answer(changed: WebhookChanged) -> Result<Value, ToolError> {
    let has_new = changed.secret.is_some();
    let changed = WebhookChanged {
        secret: None,
        ..changed
    };
    let record = shown(&changed)?;
    if has_new {
        Ok(with(record, "note", where_to_get_one(&changed.webhook)))
    } else {
        Ok(record)
    }
}

fn with(mut answer: Value, name: &str, text: String) -> Value {
    if let Value::Object(members) = &mut answer {
        members.insert(name.to_owned(), text.into());
    }
    answer
}

impl WebhookTool {
    async fn act(&self, actor: &Actor, wanted: Value) -> Result<Value, ToolError> {
        let Value::Object(mut fields) = wanted else {
            return Err(ToolError::new("The input is an object."));
        };
        let action = taken(&mut fields, "action")?;
        refuse_secret(&fields)?;
        match action.as_str() {
            "create" => self.create(actor, fields).await,
            "list" => {
                let page: Page = read(fields)?;
                let listed = self.0.list(limit(page.limit), page.cursor.as_deref()).await;
                shown(&listed.map_err(tool_error)?)
            }
            "get" => {
                let id = taken(&mut fields, "id")?;
                shown(&self.0.get(&id).await.map_err(tool_error)?)
            }
            "update" => {
                let id = taken(&mut fields, "id")?;
                let change: WebhookInput = read(fields)?;
                answer(
                    self.0
                        .update(actor, &id, change)
                        .await
                        .map_err(tool_error)?,
                )
            }
            "delete" => {
                let id = taken(&mut fields, "id")?;
                self.0.delete(actor, &id).await.map_err(tool_error)?;
                Ok(json!({ "ok": true }))
            }
            "rotate_secret" => {
                let id = taken(&mut fields, "id")?;
                let Rotation { overlap_seconds } = read(fields)?;
                let rotated = self.0.rotate_secret(actor, &id, None, overlap_seconds);
                drop(rotated.await.map_err(tool_error)?);
                let webhook = self.0.get(&id).await.map_err(tool_error)?;
                Ok(with(shown(&webhook)?, "note", where_to_get_one(&webhook)))
            }
            "deliveries" => self.deliveries(fields).await,
            "replay" => {
                let id = taken(&mut fields, "delivery_id")
                    .or_else(|error| taken(&mut fields, "id").map_err(|_| error))?;
                shown(&DeliveryView::from(
                    self.0.replay(&id).await.map_err(tool_error)?,
                ))
            }
            other => Err(ToolError::new(format!("There is no action `{other}`."))),
        }
    }

    async fn create(&self, actor: &Actor, fields: Map<String, Value>) -> Result<Value, ToolError> {
        let made = self
            .0
            .create(actor, read(fields)?)
            .await
            .map_err(tool_error)?;
        let steps = setup::steps(&made.webhook);
        Ok(with(answer(made)?, "setup", steps))
    }

    async fn deliveries(&self, fields: Map<String, Value>) -> Result<Value, ToolError> {
        let search: Search = read(fields)?;
        let query = DeliveryQuery {
            webhook: search.id,
            statuses: search.status.into_iter().collect(),
            event: search.event,
            text: search.q,
            limit: limit(search.limit),
            cursor: search.cursor,
            ..DeliveryQuery::default()
        };
        let page = self.0.deliveries(query).await.map_err(tool_error)?;
        shown(&DeliveryPageView::from(page))
    }
}

#[cfg(test)]
mod tests;
