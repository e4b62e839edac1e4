//! The arguments of a call.

use super::{DEFAULT_LIST, MAX_LIST, tool_error};
use gatehouse_agents::ToolError;
use gatehouse_domain::{DeliveryStatus, input};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Returns the action and its object, such as `delete:ID`. Reads the same field as the action. Otherwise a field
/// that the action ignores could name an object that the owner trusts.
pub(super) fn target(input: &Value) -> Option<String> {
    let text = |name: &str| input.get(name).and_then(Value::as_str);
    let action = text("action")?;
    let object = match action {
        "replay" => text("delivery_id").or_else(|| text("id")),
        _ => text("id"),
    };
    Some(match object {
        Some(id) => format!("{action}:{id}"),
        None => action.to_owned(),
    })
}

/// Parses the input, without the member `action`, as the input type of the action.
pub(super) fn read<T: DeserializeOwned>(fields: Map<String, Value>) -> Result<T, ToolError> {
    input::from_value(Value::Object(fields)).map_err(tool_error)
}

pub(super) fn taken(fields: &mut Map<String, Value>, name: &str) -> Result<String, ToolError> {
    match fields.remove(name) {
        Some(Value::String(text)) => Ok(text),
        _ => Err(ToolError::new(format!(
            "This action needs `{name}`, a text."
        ))),
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Page {
    pub(super) limit: Option<usize>,
    pub(super) cursor: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rotation {
    pub(super) overlap_seconds: Option<i64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Search {
    pub(super) id: Option<String>,
    pub(super) status: Option<DeliveryStatus>,
    pub(super) event: Option<String>,
    pub(super) q: Option<String>,
    pub(super) limit: Option<usize>,
    pub(super) cursor: Option<String>,
}

/// Rejects a secret in a conversation, because the secret is already in the stored history.
pub(super) fn refuse_secret(fields: &Map<String, Value>) -> Result<(), ToolError> {
    let inner = fields.get("auth").and_then(|auth| auth.get("secret"));
    if fields.contains_key("secret") || inner.is_some() {
        return Err(ToolError::new(
            "`secret` is not accepted here, because conversations are stored and sent to a model. Omit it; a person \
             can set it with `gatehouse webhooks update ID`. A secret that was already written in this conversation \
             should be replaced at the sender.",
        ));
    }
    Ok(())
}

pub(super) fn limit(wanted: Option<usize>) -> usize {
    wanted.unwrap_or(DEFAULT_LIST).clamp(1, MAX_LIST)
}
