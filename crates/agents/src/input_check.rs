//! Checks a tool's input against its JSON schema before the tool is called.
//!
//! Supports the part of JSON Schema (draft 2020-12) that tool schemas use: type, properties, required,
//! additionalProperties, items, enum, const, bounds and lengths, anyOf, oneOf, allOf, and `$ref` within the document.
//! Tools check other keywords themselves, such as `pattern` and `format`. A full validator would add forty
//! dependencies, although each tool must parse its input strictly anyway.

mod values;

use serde_json::{Map, Value};
use values::{check_length, check_number, check_type, check_values};

/// Nesting limit for schemas. It also ends circular references.
const MAX_DEPTH: usize = 32;

/// Validates an input and returns an error message for the model. The message does not repeat values of the input.
pub(crate) fn check(schema: &Value, input: &Value) -> Result<(), String> {
    Checker { root: schema }.check(schema, input, &Location { name: "", up: None }, 0)
}

struct Checker<'a> {
    root: &'a Value,
}

/// A position in the input.
struct Location<'a> {
    name: &'a str,
    up: Option<&'a Self>,
}

impl Location<'_> {
    fn path(&self) -> String {
        match self.up {
            None => "input".to_owned(),
            Some(up) => format!("{}.{}", up.path(), self.name),
        }
    }

    fn refuse(&self, reason: impl AsRef<str>) -> Result<(), String> {
        Err(format!("{} {}", self.path(), reason.as_ref()))
    }
}

impl<'a> Checker<'a> {
    fn check(
        &self,
        schema: &Value,
        input: &Value,
        at: &Location<'_>,
        depth: usize,
    ) -> Result<(), String> {
        let schema = match schema {
            Value::Bool(false) => return at.refuse("is not expected"),
            Value::Object(schema) => schema,
            _ => return Ok(()),
        };
        if depth > MAX_DEPTH {
            return at.refuse("is nested too deeply");
        }
        if let Some(target) = schema.get("$ref").and_then(Value::as_str)
            && let Some(target) = self.find(target)
        {
            self.check(target, input, at, depth + 1)?;
        }
        check_type(schema, input, at)?;
        check_values(schema, input, at)?;
        self.check_combined(schema, input, at, depth)?;
        match input {
            Value::Object(object) => self.check_object(schema, object, at, depth),
            Value::Array(items) => self.check_array(schema, items, at, depth),
            Value::String(text) => check_length(schema, text.chars().count(), "Length", at),
            Value::Number(number) => check_number(schema, number.as_f64(), at),
            Value::Null | Value::Bool(_) => Ok(()),
        }
    }

    /// Resolves a reference such as `#/$defs/Name`.
    fn find(&self, target: &str) -> Option<&'a Value> {
        let pointer = target.strip_prefix('#')?;
        self.root.pointer(pointer)
    }

    fn check_combined(
        &self,
        schema: &Map<String, Value>,
        input: &Value,
        at: &Location<'_>,
        depth: usize,
    ) -> Result<(), String> {
        let list = |name: &str| schema.get(name).and_then(Value::as_array);
        for part in list("allOf").into_iter().flatten() {
            self.check(part, input, at, depth + 1)?;
        }
        let fits = |part: &&Value| self.check(part, input, at, depth + 1).is_ok();
        if let Some(parts) = list("anyOf")
            && !parts.iter().any(|part| fits(&part))
        {
            return at.refuse("matches none of the allowed forms");
        }
        if let Some(parts) = list("oneOf")
            && parts.iter().filter(fits).count() != 1
        {
            return at.refuse("does not match exactly one of the allowed forms");
        }
        Ok(())
    }

    fn check_object(
        &self,
        schema: &Map<String, Value>,
        object: &Map<String, Value>,
        at: &Location<'_>,
        depth: usize,
    ) -> Result<(), String> {
        let required = schema.get("required").and_then(Value::as_array);
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if !object.contains_key(name) {
                return at.refuse(format!("lacks the required field `{name}`"));
            }
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        let others = schema.get("additionalProperties");
        for (name, value) in object {
            let inner = Location { name, up: Some(at) };
            match properties.and_then(|all| all.get(name)).or(others) {
                // An error that names the unexpected field is clearer than an error about the
                // schema.
                Some(Value::Bool(false)) => {
                    return at.refuse(format!("has no field `{}`", shown(name)));
                }
                Some(schema) => self.check(schema, value, &inner, depth + 1)?,
                None => {}
            }
        }
        Ok(())
    }

    fn check_array(
        &self,
        schema: &Map<String, Value>,
        items: &[Value],
        at: &Location<'_>,
        depth: usize,
    ) -> Result<(), String> {
        check_length(schema, items.len(), "Items", at)?;
        let Some(each) = schema.get("items") else {
            return Ok(());
        };
        for (number, item) in items.iter().enumerate() {
            let inner = Location {
                name: &number.to_string(),
                up: Some(at),
            };
            self.check(each, item, &inner, depth + 1)?;
        }
        Ok(())
    }
}

/// Returns a field name from the model, cut to a readable length.
fn shown(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(60).collect()
}

#[cfg(test)]
#[path = "input_check_tests.rs"]
mod tests;
