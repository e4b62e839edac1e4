//! Outputs derived from the table of settings: the sample and the schema.

use super::Start;
use crate::{describe, json_schema, sample};
use serde_json::Value;

/// Returns the sample with one `#` removed from every line.
fn uncommented() -> String {
    let sample = sample();
    let lines = sample
        .lines()
        .map(|line| line.strip_prefix('#').unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_sample_as_it_is_sets_nothing() {
    assert!(
        sample()
            .lines()
            .all(|line| line.is_empty() || line.starts_with('#'))
    );
    let resolved = Start::with_toml(&sample()).resolve(&[]);
    assert!(
        resolved
            .origins()
            .all(|(_, origin)| origin == crate::Origin::Default)
    );
}

#[test]
fn the_sample_uncommented_sets_every_key_to_its_default() {
    let resolved = Start::with_toml(&uncommented()).resolve(&[]);
    for spec in describe() {
        let key = spec.sample_key();
        let (value, origin) = super::shown(&resolved, &key);
        assert_eq!(origin, "toml", "{key}");
        if !spec.default_json().is_null() {
            assert_eq!(value, spec.default_json(), "{key}");
        }
    }
}

#[test]
fn the_variables_in_the_file_of_the_packages_exist_and_none_is_set() {
    const FOREIGN: [&str; 2] = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY"];
    let file = include_str!("../../../../deploy/gatehouse.env");
    let mut start = Start::empty();
    let mut names = Vec::new();
    for line in file.lines().filter(|line| !line.is_empty()) {
        let line = line.strip_prefix('#').unwrap();
        // Lines of comments have a space after the first `#`.
        if line.is_empty() || line.starts_with(' ') {
            continue;
        }
        let (name, value) = line.split_once('=').unwrap();
        assert!(
            name.starts_with("SERVICE_") || FOREIGN.contains(&name),
            "{name}"
        );
        // An empty value counts as unset.
        start = start.var(name, if value.is_empty() { "value" } else { value });
        names.push(name);
    }
    assert!(names.len() > 10, "{names:?}");
    let layers = start.load().unwrap();
    assert!(layers.warnings().is_empty(), "{:?}", layers.warnings());
}

#[test]
fn the_schema_knows_every_key_of_the_sample() {
    let schema = json_schema();
    let file: toml::Table = uncommented().parse().unwrap();
    let mut leaves = 0;
    compare(&serde_json::to_value(file).unwrap(), &schema, &mut leaves);
    assert_eq!(leaves, describe().len());
}

fn compare(value: &Value, schema: &Value, leaves: &mut usize) {
    let kind = match value {
        Value::Object(_) => "object",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Null => "null",
    };
    assert_eq!(schema["type"], kind, "{value} {schema}");
    let variables = schema["additionalProperties"].is_object();
    let Some(table) = value.as_object().filter(|_| !variables) else {
        *leaves += 1;
        assert!(
            schema["description"]
                .as_str()
                .is_some_and(|text| !text.is_empty())
        );
        return;
    };
    assert_eq!(schema["additionalProperties"], false);
    for (name, value) in table {
        let below = match schema["properties"].get(name) {
            Some(below) => below,
            None => schema["patternProperties"]
                .as_object()
                .unwrap()
                .values()
                .next()
                .unwrap(),
        };
        compare(value, below, leaves);
    }
}
