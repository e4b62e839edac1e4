//! The JSON Schema of the file, for editors.

use crate::alias;
use crate::key::{ID, KeySpec, Kind, Rule};
use crate::key_table::{describe, find_key};
use crate::section::model_table;
use serde_json::{Map, Value, json};

/// Returns the schema of `gatehouse.toml` (JSON Schema, draft 2020-12).
pub fn json_schema() -> Value {
    let mut properties = Map::new();
    for spec in describe() {
        let parts: Vec<&str> = spec.key.split('.').collect();
        insert(&mut properties, &parts, spec);
    }
    // A table with two names is described under both.
    for (section, id, name) in alias::tables() {
        let above = format!("/{}/properties", section.replace('.', "/properties/"));
        let mut all = Value::Object(std::mem::take(&mut properties));
        if let Some(Value::Object(tables)) = all.pointer_mut(&above)
            && let Some(table) = tables.get(id).cloned()
        {
            tables.insert(name.to_owned(), table);
        }
        if let Value::Object(all) = all {
            properties = all;
        }
    }
    for (old, new) in alias::RENAMED {
        let parts: Vec<&str> = old.split('.').collect();
        if let Some(spec) = find_key(new) {
            insert(&mut properties, &parts, spec);
        }
    }
    let mut schema = object(properties);
    schema.insert(
        "$schema".into(),
        json!("https://json-schema.org/draft/2020-12/schema"),
    );
    schema.insert("title".into(), json!("Gatehouse settings"));
    Value::Object(schema)
}

fn object(properties: Map<String, Value>) -> Map<String, Value> {
    let mut schema = Map::new();
    schema.insert("type".into(), json!("object"));
    schema.insert("additionalProperties".into(), json!(false));
    schema.insert("properties".into(), Value::Object(properties));
    schema
}

/// Inserts a setting at its path. Creates missing tables.
fn insert(into: &mut Map<String, Value>, path: &[&str], spec: &KeySpec) {
    match path {
        [] => {}
        [name] => {
            into.insert((*name).to_owned(), leaf(spec));
        }
        [name, ID, rest @ ..] => {
            let names = "^[A-Za-z0-9_.-]{1,64}$";
            let table = into.entry(*name).or_insert_with(|| {
                json!({
                    "type": "object",
                    "additionalProperties": false,
                    "patternProperties": { (names): object(Map::new()) },
                })
            });
            let below = format!("/patternProperties/{names}/properties");
            if let Some(Value::Object(below)) = table.pointer_mut(&below) {
                insert(below, rest, spec);
            }
        }
        [name, rest @ ..] => {
            let table = into
                .entry(*name)
                .or_insert_with(|| Value::Object(object(Map::new())));
            if let Some(Value::Object(below)) = table.get_mut("properties") {
                insert(below, rest, spec);
            }
        }
    }
}

fn leaf(spec: &KeySpec) -> Value {
    let mut schema = match spec.kind {
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Whole { min, max: i64::MAX } => json!({ "type": "integer", "minimum": min }),
        Kind::Whole { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Kind::Number {
            min_thousandths,
            max_thousandths,
        } => json!({
            "type": "number",
            "minimum": f64::from(min_thousandths) / 1000.0,
            "maximum": f64::from(max_thousandths) / 1000.0,
        }),
        Kind::Text(rule) => text(rule),
        Kind::List(rule) => json!({ "type": "array", "items": text(rule) }),
        Kind::Variables => {
            let in_vault = json!({
                "type": "object",
                "properties": { "vault": { "type": "string" } },
                "required": ["vault"],
                "additionalProperties": false,
            });
            let value = json!({ "anyOf": [text(Rule::Secret), in_vault] });
            json!({ "type": "object", "additionalProperties": value })
        }
        Kind::Headers => json!({ "type": "object", "additionalProperties": text(Rule::Secret) }),
        Kind::Models => model_table::schema(),
    };
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("description".into(), json!(spec.doc));
        if !spec.default_json().is_null() {
            schema.insert("default".into(), spec.default_json());
        }
    }
    schema
}

fn text(rule: Rule) -> Value {
    match rule {
        Rule::OneOf(words) => json!({ "type": "string", "enum": words }),
        Rule::Provider(names) => {
            let all: Vec<&str> = names.iter().flat_map(|(id, alias)| [*id, *alias]).collect();
            json!({ "type": "string", "enum": all })
        }
        Rule::WebUrl | Rule::BaseUrl | Rule::WebOrTcpUrl | Rule::BaseOrTcpUrl => {
            json!({ "type": "string", "format": "uri" })
        }
        Rule::Secret | Rule::SecretArgument => json!({ "type": "string", "writeOnly": true }),
        Rule::Network => json!({ "type": "string", "examples": ["10.0.0.0/8", "2001:db8::/32"] }),
        _ => json!({ "type": "string" }),
    }
}
