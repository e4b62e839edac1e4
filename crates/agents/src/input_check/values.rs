//! Checks single values: their type, length, size and the list of allowed values.

use super::Location;
use serde_json::{Map, Value};

fn is_of(kind: &str, input: &Value) -> bool {
    match kind {
        "object" => input.is_object(),
        "array" => input.is_array(),
        "string" => input.is_string(),
        "boolean" => input.is_boolean(),
        "null" => input.is_null(),
        "number" => input.is_number(),
        // 2.0 is an integer in JSON Schema.
        "integer" => input.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => true,
    }
}

pub(super) fn check_type(
    schema: &Map<String, Value>,
    input: &Value,
    at: &Location<'_>,
) -> Result<(), String> {
    let kinds: Vec<&str> = match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => return Ok(()),
    };
    if kinds.iter().any(|kind| is_of(kind, input)) {
        return Ok(());
    }
    at.refuse(format!("must be of type {}", kinds.join(" or ")))
}

pub(super) fn check_values(
    schema: &Map<String, Value>,
    input: &Value,
    at: &Location<'_>,
) -> Result<(), String> {
    if let Some(values) = schema.get("enum").and_then(Value::as_array)
        && !values.contains(input)
    {
        let values: Vec<String> = values.iter().take(50).map(Value::to_string).collect();
        return at.refuse(format!("must be one of {}", values.join(", ")));
    }
    match schema.get("const") {
        Some(value) if value != input => at.refuse(format!("must be {value}")),
        _ => Ok(()),
    }
}

pub(super) fn check_length(
    schema: &Map<String, Value>,
    length: usize,
    of: &str,
    at: &Location<'_>,
) -> Result<(), String> {
    let bound = |name: &str| {
        let bound = schema.get(&format!("{name}{of}")).and_then(Value::as_u64);
        bound.and_then(|bound| usize::try_from(bound).ok())
    };
    let what = if of == "Items" { "items" } else { "characters" };
    match (bound("min"), bound("max")) {
        (Some(least), _) if length < least => {
            at.refuse(format!("must have at least {least} {what}"))
        }
        (_, Some(most)) if length > most => at.refuse(format!("must have at most {most} {what}")),
        _ => Ok(()),
    }
}

pub(super) fn check_number(
    schema: &Map<String, Value>,
    number: Option<f64>,
    at: &Location<'_>,
) -> Result<(), String> {
    let Some(number) = number else {
        return Ok(());
    };
    let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
    if let Some(least) = bound("minimum").filter(|&least| number < least) {
        return at.refuse(format!("must be at least {least}"));
    }
    if let Some(most) = bound("maximum").filter(|&most| number > most) {
        return at.refuse(format!("must be at most {most}"));
    }
    if let Some(least) = bound("exclusiveMinimum").filter(|&least| number <= least) {
        return at.refuse(format!("must be more than {least}"));
    }
    if let Some(most) = bound("exclusiveMaximum").filter(|&most| number >= most) {
        return at.refuse(format!("must be less than {most}"));
    }
    Ok(())
}
