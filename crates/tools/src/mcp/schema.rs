//! Checks whether a tool's input schema can be passed to a model.

use serde_json::{Map, Value, json};

/// The largest schema.
const MAX_BYTES: usize = 64 * 1024;
/// The deepest schema.
const MAX_DEPTH: usize = 32;

/// Returns the schema with its type filled in, or an error.
pub(super) fn checked(schema: &Value) -> Result<Value, &'static str> {
    let Some(object) = schema.as_object() else {
        return Err("its schema is not an object");
    };
    match object.get("type") {
        None => {}
        Some(Value::String(kind)) if kind == "object" => {}
        Some(_) => return Err("the type of its schema is not object"),
    }
    if !object.get("properties").is_none_or(are_schemas) {
        return Err("the properties of its schema are not schemas");
    }
    let names = |list: &Value| {
        list.as_array()
            .is_some_and(|l| l.iter().all(Value::is_string))
    };
    if !object.get("required").is_none_or(names) {
        return Err("`required` in its schema is not a list of names");
    }
    if !depth_is_fine(schema, MAX_DEPTH) {
        return Err("its schema is nested too deeply");
    }
    if schema.to_string().len() > MAX_BYTES {
        return Err("its schema is too large");
    }
    if refers_outside(schema) {
        return Err("its schema refers to another document");
    }
    let mut object: Map<String, Value> = object.clone();
    object.entry("type").or_insert_with(|| json!("object"));
    object.entry("properties").or_insert_with(|| json!({}));
    Ok(Value::Object(object))
}

fn are_schemas(properties: &Value) -> bool {
    let schema = |value: &Value| value.is_object() || value.is_boolean();
    properties
        .as_object()
        .is_some_and(|all| all.values().all(schema))
}

/// Returns whether the value is at most `left` levels deep.
fn depth_is_fine(value: &Value, left: usize) -> bool {
    match value {
        Value::Array(items) => left > 0 && items.iter().all(|v| depth_is_fine(v, left - 1)),
        Value::Object(map) => left > 0 && map.values().all(|v| depth_is_fine(v, left - 1)),
        _ => true,
    }
}

fn refers_outside(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(refers_outside),
        Value::Object(map) => {
            let outside = |target: &Value| target.as_str().is_some_and(|to| !to.starts_with('#'));
            map.get("$ref").is_some_and(outside) || map.values().any(refers_outside)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_model_can_be_given() {
        let filled = json!({"type": "object", "properties": {}});
        assert_eq!(checked(&json!({})), Ok(filled));
        let fine = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/x"}, "b": true},
            "required": ["a"], "$defs": {"x": {"type": "string"}}});
        assert_eq!(checked(&fine), Ok(fine.clone()));
        for bad in [
            json!("object"),
            json!(null),
            json!({"type": "string"}),
            json!({"type": ["object"]}),
            json!({"properties": []}),
            json!({"properties": {"a": 1}}),
            json!({"required": "a"}),
            json!({"required": [1]}),
            json!({"properties": {"a": {"$ref": "https://h/x.json"}}}),
        ] {
            assert!(checked(&bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn depth_and_size_have_limits() {
        let deep = |levels: usize| {
            let value = (1..levels).fold(json!({}), |inner, _| json!({"not": inner}));
            checked(&value).is_ok()
        };
        assert!(deep(MAX_DEPTH) && !deep(MAX_DEPTH + 1));
        let shell = json!({"description": ""}).to_string().len();
        let large =
            |bytes: usize| checked(&json!({"description": "x".repeat(bytes - shell)})).is_ok();
        assert!(large(MAX_BYTES) && !large(MAX_BYTES + 1));
    }
}
