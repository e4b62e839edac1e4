//! Conditions on payloads, and names that look like secrets.

use crate::cli::import::node::Node;
use serde_json::{Value, json};

/// Maximum length of a condition's path in the API, in characters.
const MAX_PATH: usize = 200;

/// Maximum length of a condition's value in the API, in characters.
const MAX_VALUE: usize = 500;

/// Returns the field of the payload that a rule compares.
pub(super) fn payload_path(rule: &Node) -> Option<&str> {
    let parameter = rule.get("parameter")?;
    let is_payload = parameter.text_of("source") == Some("payload");
    parameter.text_of("name").filter(|_| is_payload)
}

/// Returns the condition of a payload filter for a rule that compares a field of the payload with a value. The rule
/// compares texts, including those of numbers and booleans. Returns `None` for a secret, because it would be shown with
/// the webhook. Returns `None` for a field that the API refuses, because the API would refuse the whole webhook.
pub(super) fn payload_condition(rule: &Node) -> Option<Value> {
    let path = payload_path(rule)?;
    let value = rule.text_of("value")?;
    if !is_field(path) || names_secret(path) || value.chars().count() > MAX_VALUE {
        return None;
    }
    let typed = serde_json::from_str::<Value>(value)
        .ok()
        .filter(|typed| typed.is_number() || typed.is_boolean());
    let value = typed.unwrap_or_else(|| json!(value));
    Some(json!({ "path": path, "is": "equals", "value": value }))
}

/// Returns whether the API accepts the path of a condition.
fn is_field(path: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && part.trim() == part;
    path.chars().count() <= MAX_PATH
        && path.split('.').all(is_part)
        && path != "__raw__"
        && !path
            .chars()
            .any(|it| it.is_control() || matches!(it, '{' | '}' | '"'))
}

/// Returns whether the name of a payload field suggests a credential. The name can be in camelCase.
pub(super) fn names_secret(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let is_in_path = |word: &&str| lower.contains(*word);
    ["token", "secret", "password", "apikey"]
        .iter()
        .any(is_in_path)
        || path.split('.').any(looks_secret)
}

/// Returns whether the name of a header or a field with a fixed value suggests a credential, not
/// the name of an event.
pub(super) fn looks_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    // This header contains Bitbucket's event type.
    name != "x-event-key"
        && name.split(['-', '_']).any(|word| {
            [
                "token",
                "secret",
                "key",
                "auth",
                "authorization",
                "password",
                "apikey",
            ]
            .contains(&word)
        })
}
