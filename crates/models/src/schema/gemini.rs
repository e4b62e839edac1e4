//! The subset of JSON Schema that Gemini accepts.

use serde_json::{Map, Value, json};

/// The fields of Gemini's `Schema`. `$ref`, `oneOf` and others are refused.
pub(super) const GEMINI_FIELDS: &[&str] = &[
    "anyOf",
    "default",
    "description",
    "enum",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "nullable",
    "pattern",
    "properties",
    "required",
    "title",
    "type",
];

/// Converts a schema part for Gemini, which has one type per schema, only texts in `enum`, and no
/// alternatives except `anyOf`.
pub(super) fn for_gemini(mut part: Map<String, Value>) -> Map<String, Value> {
    if let Some(Value::Array(names)) = part.get("type").cloned() {
        let is_null = |name: &Value| name.as_str() == Some("null");
        if names.iter().any(is_null) {
            part.insert("nullable".to_owned(), true.into());
        }
        let first = names.into_iter().find(|name| !is_null(name));
        part.insert("type".to_owned(), first.unwrap_or_else(|| "string".into()));
    }
    if let Some(constant) = part.remove("const") {
        part.insert("enum".to_owned(), json!([constant]));
    }
    if let Some(one_of) = part.remove("oneOf") {
        part.entry("anyOf").or_insert(one_of);
    }
    if let Some(Value::Array(all)) = part.remove("allOf") {
        for other in all {
            if let Value::Object(other) = other {
                merge_into(&mut part, other, true);
            }
        }
    }
    let texts = |values: &Value| {
        let values = values.as_array();
        values.is_some_and(|all| !all.is_empty() && all.iter().all(Value::is_string))
    };
    if part.get("enum").is_some_and(|values| !texts(values)) {
        part.remove("enum");
    }
    // Gemini supports few formats and refuses the others.
    let format = part.get("format").and_then(Value::as_str);
    if !matches!(
        format,
        None | Some("enum" | "date-time" | "int32" | "int64" | "float" | "double")
    ) {
        part.remove("format");
    }
    if !part.contains_key("type") && !part.contains_key("anyOf") {
        let has_properties = part.contains_key("properties");
        let name = if has_properties { "object" } else { "string" };
        part.insert("type".to_owned(), name.into());
    }
    part.retain(|name, _| GEMINI_FIELDS.contains(&name.as_str()));
    part
}

/// Replaces alternatives at the root by one object with the properties of all alternatives. A property is required if
/// every alternative requires it.
pub(super) fn merge_alternatives(root: &mut Map<String, Value>) {
    for name in ["allOf", "oneOf", "anyOf"] {
        let Some(Value::Array(alternatives)) = root.remove(name) else {
            continue;
        };
        let is_all = name == "allOf";
        let mut required: Option<Vec<Value>> = None;
        for alternative in alternatives {
            let Value::Object(alternative) = alternative else {
                continue;
            };
            let own = alternative.get("required").and_then(Value::as_array);
            let own = own.cloned().unwrap_or_default();
            required = Some(match required {
                None => own,
                Some(mut all) if !is_all => {
                    all.retain(|name| own.contains(name));
                    all
                }
                Some(mut all) => {
                    all.extend(own);
                    all
                }
            });
            merge_into(root, alternative, false);
        }
        if let Some(more) = required.filter(|more| !more.is_empty()) {
            let all = root.entry("required").or_insert_with(|| json!([]));
            if let Value::Array(all) = all {
                for name in more {
                    if !all.contains(&name) {
                        all.push(name);
                    }
                }
            }
        }
    }
    // These keywords are conditions on the whole object. Some model families refuse them.
    for name in ["if", "then", "else", "not", "enum", "const"] {
        root.remove(name);
    }
}

/// Adds the properties of `other`, and its description if there is none.
fn merge_into(part: &mut Map<String, Value>, mut other: Map<String, Value>, with_rest: bool) {
    if let Some(Value::Object(more)) = other.remove("properties") {
        let properties = part.entry("properties").or_insert_with(|| json!({}));
        if let Value::Object(properties) = properties {
            for (name, value) in more {
                properties.entry(name).or_insert(value);
            }
        }
    }
    for (name, value) in other {
        if name == "description" || (with_rest && name != "required") {
            part.entry(name).or_insert(value);
        }
    }
}

/// Removes names from `required` that are not properties.
pub(super) fn keep_known_required(part: &mut Map<String, Value>) {
    let Some(Value::Array(mut required)) = part.remove("required") else {
        return;
    };
    let properties = part.get("properties").and_then(Value::as_object);
    required.retain(|name| {
        let name = name.as_str();
        name.is_some_and(|name| properties.is_some_and(|known| known.contains_key(name)))
    });
    if !required.is_empty() {
        part.insert("required".to_owned(), Value::Array(required));
    }
}
