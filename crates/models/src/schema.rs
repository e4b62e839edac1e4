//! Rewrites the JSON schemas of tools into the subset that a provider family accepts. A schema that a family refuses
//! would make every turn fail. The result may admit more than the original, because tools check their input against the
//! original.
//!
//! Sources: `OpenAI` <https://platform.openai.com/docs/guides/function-calling> (the root is an object, arrays have
//! `items`), Anthropic <https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use> (no `oneOf`,
//! `allOf` or `anyOf` at the root, property names of `[a-zA-Z0-9_.-]{1,64}`), Gemini
//! <https://ai.google.dev/api/caching#Schema> (a closed list of fields).

mod gemini;

use gemini::{for_gemini, keep_known_required, merge_alternatives};
use serde_json::{Map, Value, json};

/// The schema features that a family accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Openai,
    Anthropic,
    Gemini,
}

/// The depth to which references and alternatives are followed. Deeper parts, as in a recursive schema, accept any
/// value.
const MAX_DEPTH: usize = 12;
/// The maximum number of parts of a schema, because each `$ref` copies its target. Further parts
/// are cut.
const MAX_NODES: usize = 5_000;

/// Returns the schema of a tool's input object in a form that `dialect` accepts. Normalizing twice has the same result
/// as normalizing once.
pub(crate) fn normalized(schema: &Value, dialect: Dialect) -> Value {
    let mut rewrite = Rewrite {
        root: schema,
        dialect,
        nodes: 0,
    };
    let mut root = match rewrite.part(schema, 0) {
        Value::Object(root) => root,
        _ => Map::new(),
    };
    merge_alternatives(&mut root);
    root.insert("type".to_owned(), "object".into());
    if !root.get("properties").is_some_and(Value::is_object) {
        root.insert("properties".to_owned(), json!({}));
    }
    keep_known_required(&mut root);
    Value::Object(root)
}

struct Rewrite<'a> {
    root: &'a Value,
    dialect: Dialect,
    nodes: usize,
}

impl Rewrite<'_> {
    fn part(&mut self, part: &Value, depth: usize) -> Value {
        self.nodes += 1;
        // `true` admits anything. `false` admits nothing and has no equivalent.
        let Some(given) = part.as_object() else {
            return self.anything();
        };
        if depth >= MAX_DEPTH || self.nodes > MAX_NODES {
            return self.anything();
        }
        if let Some(reference) = given.get("$ref").and_then(Value::as_str) {
            let target = reference
                .strip_prefix('#')
                .and_then(|path| self.root.pointer(path))
                .cloned();
            // Fields next to `$ref`, such as a description, take precedence.
            let mut merged = match target {
                Some(Value::Object(target)) => target,
                _ => Map::new(),
            };
            let beside = given.iter().filter(|(name, _)| *name != "$ref");
            merged.extend(beside.map(|(name, value)| (name.clone(), value.clone())));
            // The depth grows by two, so a schema that contains itself stays small.
            return self.part(&Value::Object(merged), depth + 2);
        }
        let mut made = Map::new();
        for (name, value) in given {
            self.field(&mut made, name, value, depth);
        }
        self.finish(made)
    }

    fn field(&mut self, made: &mut Map<String, Value>, name: &str, value: &Value, depth: usize) {
        let value = match (name, value) {
            // Targets replace the references, so these fields are not needed.
            ("$schema" | "$id" | "$defs" | "definitions" | "$comment" | "$anchor", _) => return,
            ("properties" | "patternProperties", Value::Object(parts)) => {
                let parts = parts
                    .iter()
                    .filter(|(name, _)| self.accepts_property(name))
                    .map(|(name, part)| (name.clone(), part.clone()))
                    .collect::<Vec<_>>();
                let made = parts.into_iter().map(|(name, part)| {
                    let part = self.part(&part, depth + 1);
                    (name, part)
                });
                Value::Object(made.collect())
            }
            ("oneOf" | "anyOf" | "allOf" | "prefixItems", Value::Array(parts)) => parts
                .iter()
                .map(|part| self.part(part, depth + 1))
                .collect(),
            // An older form: one schema per position.
            ("items", Value::Array(parts)) => match parts.first() {
                Some(first) => self.part(first, depth + 1),
                None => self.anything(),
            },
            ("items" | "additionalProperties" | "contains" | "propertyNames", Value::Object(_)) => {
                self.part(value, depth + 1)
            }
            ("items", _) => self.anything(),
            _ => value.clone(),
        };
        made.insert(name.to_owned(), value);
    }

    fn finish(&self, mut made: Map<String, Value>) -> Value {
        let is_array = is_type(&made, "array");
        if is_array && !made.contains_key("items") {
            made.insert("items".to_owned(), self.anything());
        }
        if self.dialect == Dialect::Gemini {
            made = for_gemini(made);
        }
        keep_known_required(&mut made);
        Value::Object(made)
    }

    /// Returns a schema that admits anything. Gemini requires a type.
    fn anything(&self) -> Value {
        match self.dialect {
            Dialect::Gemini => json!({ "type": "string" }),
            Dialect::Openai | Dialect::Anthropic => json!({}),
        }
    }

    fn accepts_property(&self, name: &str) -> bool {
        let allowed = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
        self.dialect != Dialect::Anthropic
            || ((1..=64).contains(&name.len()) && name.chars().all(allowed))
    }
}

fn is_type(part: &Map<String, Value>, wanted: &str) -> bool {
    match part.get("type") {
        Some(Value::String(name)) => name == wanted,
        Some(Value::Array(names)) => names.iter().any(|name| name.as_str() == Some(wanted)),
        _ => false,
    }
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
