//! Changes webhooks.

use crate::method_entry::{Audit, Call, Method, method};
use gatehouse_domain::{Problem, Scope, input};
use gatehouse_services::to_problem;
use gatehouse_webhooks::{WebhookChanged, WebhookInput};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::borrow::Cow;

pub const UPDATE: Method = method!(
    "webhooks.update",
    "Changes a webhook. New deliveries use the change at once.",
    Some(Scope::Write),
    update(UpdateParams) -> WebhookChanged,
    errors: [NotFound, Conflict, VaultSealed],
    audit: Audit::Transaction("webhook.updated")
);

/// Params of `webhooks.update`: `id`, and the members to change.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub struct UpdateParams(Map<String, Value>);

impl JsonSchema for UpdateParams {
    fn schema_name() -> Cow<'static, str> {
        "UpdateParams".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = WebhookInput::json_schema(generator);
        let id = serde_json::json!({ "type": "string", "description": "The webhook's id." });
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            properties.insert("id".to_owned(), id);
        }
        schema.insert("required".to_owned(), serde_json::json!(["id"]));
        schema
    }
}

impl UpdateParams {
    fn read(self) -> Result<(String, WebhookInput), Problem> {
        let mut members = self.0;
        let id = members.remove("id");
        // The members are checked before `id`, as in every method. An unknown member is therefore
        // reported even if others are missing.
        let change = input::from_value(Value::Object(members))?;
        match id {
            Some(Value::String(id)) => Ok((id, change)),
            Some(_) => Err(Problem::invalid_params("id", "expected a string")),
            None => Err(Problem::invalid_params("id", "required")),
        }
    }
}

async fn update(call: Call, params: UpdateParams) -> Result<WebhookChanged, Problem> {
    let (id, input) = params.read()?;
    let webhooks = &call.services.webhooks;
    let changed = webhooks.update(&call.actor(), &id, input).await;
    changed.map_err(to_problem)
}
