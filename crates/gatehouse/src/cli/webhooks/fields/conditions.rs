//! Parses filters and comparisons from the command line.

use crate::cli::usage;
use anyhow::Result;
use serde_json::{Map, Value, json};

const COMPARISONS: [&str; 7] = [
    "equals",
    "not_equals",
    "contains",
    "exists",
    "missing",
    "greater",
    "less",
];

/// Parses a condition of a payload filter. A condition that begins with `or ` is an alternative. A value that is not
/// JSON is read as text. A list or an object is read as text too. The gateway checks the condition.
pub(super) fn condition_of(text: &str) -> Value {
    // Directly before a comparison, `or` is the name of a field.
    let is_path = |rest: &&str| {
        let next = rest.split_whitespace().next();
        next.is_some_and(|word| !COMPARISONS.contains(&word))
    };
    if let Some(alternative) = text.trim().strip_prefix("or ").filter(is_path) {
        let mut condition = one_condition_of(alternative);
        if let Value::Object(members) = &mut condition {
            members.insert("or".to_owned(), json!(true));
        }
        return condition;
    }
    one_condition_of(text)
}

/// Returns a condition without `or`.
fn one_condition_of(text: &str) -> Value {
    let (path, rest) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
    let (is, value) = rest.trim().split_once(' ').unwrap_or((rest.trim(), ""));
    let value = value.trim();
    if value.is_empty() {
        return json!({ "path": path, "is": is });
    }
    let scalar = serde_json::from_str::<Value>(value)
        .ok()
        .filter(|value| !value.is_array() && !value.is_object());
    json!({ "path": path, "is": is, "value": scalar.unwrap_or_else(|| json!(value)) })
}

pub(super) fn extra_of(pairs: &[String]) -> Result<Value> {
    let mut extra = Map::new();
    for pair in pairs {
        let (key, value) = pair
            .split_once('=')
            .ok_or_else(|| usage::wrong(format!("--deliver-extra {pair}: expected KEY=VALUE")))?;
        extra.insert(key.to_owned(), json!(value));
    }
    Ok(Value::Object(extra))
}
