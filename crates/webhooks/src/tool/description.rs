//! The description of the tool and its parameters.

use super::MAX_LIST;
use crate::input::WebhookInput;
use gatehouse_domain::DeliveryStatus;
use serde_json::{Value, json};

pub(super) const DESCRIPTION: &str = "Manages inbound webhooks: URLs to which other services post events, \
    which then run an agent or are sent to a channel. Actions: `create` (name, and any of the settings; \
    returns the URL and what to do at the sender), `list`, `get` (id), `update` (id and what changes; null restores the default), `delete` (id), \
    `rotate_secret` (id), `deliveries` (id of the webhook, status, event, q), `replay` (delivery_id). \
    Secrets are neither accepted nor shown here: the answer says where a person can get one.";

/// Returns the parameter schema: a webhook's settings without the secret, plus the parameters of the actions.
pub(super) fn parameters() -> Value {
    let mut schema = schemars::SchemaGenerator::default()
        .into_root_schema_for::<WebhookInput>()
        .to_value();
    let more = json!({
        "action": {
            "type": "string",
            "enum": ["create", "list", "get", "update", "delete", "rotate_secret", "deliveries",
                "replay"]
        },
        "id": { "type": "string", "description": "The webhook." },
        "delivery_id": { "type": "string", "description": "The delivery to replay." },
        "overlap_seconds": {
            "type": "integer",
            "description": "How long the previous secret stays valid; a day when absent."
        },
        "status": {
            "type": "string",
            "enum": DeliveryStatus::ALL,
            "description": "Only deliveries with this status."
        },
        "event": { "type": "string", "description": "Only deliveries of this event type." },
        "q": { "type": "string", "description": "Only deliveries that contain this text." },
        "limit": { "type": "integer", "minimum": 1, "maximum": MAX_LIST },
        "cursor": {
            "type": "string",
            "description": "`next_cursor` of the previous page. A page can be empty and have a next page."
        }
    });
    if let (Some(Value::Object(properties)), Value::Object(more)) =
        (schema.get_mut("properties"), more)
    {
        properties.remove("secret");
        properties.extend(more);
    }
    let nested = schema.pointer_mut("/$defs/AuthInput/properties");
    if let Some(Value::Object(properties)) = nested {
        properties.remove("secret");
    }
    if let Value::Object(members) = &mut schema {
        members.insert("required".to_owned(), json!(["action"]));
        members.remove("$schema");
        members.remove("title");
    }
    schema
}
