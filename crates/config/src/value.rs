//! Validates one value against its kind and normalizes its spelling. The reason of an error names the expected
//! format and never quotes the value, which may be a secret.

mod text;

pub(crate) use text::web_url;

use crate::invalid_value::{InvalidValue, MAX_ENTRIES};
use crate::key::{Kind, Rule};
use crate::section::{mcp::IN_VAULT, model_table};
use gatehouse_domain::env_names::steers_a_program;
use serde_json::{Value, json};
use text::text;

/// Validates a value from TOML, JSON or the database.
pub(crate) fn from_json(kind: Kind, value: &Value) -> Result<Value, InvalidValue> {
    match kind {
        Kind::Flag => match value {
            Value::Bool(_) => Ok(value.clone()),
            _ => Err(InvalidValue::new("expected true or false")),
        },
        Kind::Whole { min, max } => whole(value.as_i64(), min, max),
        Kind::Number {
            min_thousandths,
            max_thousandths,
        } => number(value.as_f64(), min_thousandths, max_thousandths),
        Kind::Text(rule) => text(rule, value).map(Value::String),
        Kind::List(rule) => match value {
            Value::Array(items) if items.len() > MAX_ENTRIES => Err(InvalidValue::new(format!(
                "more than {MAX_ENTRIES} entries"
            ))),
            Value::Array(items) => {
                let texts = items.iter().map(|item| text(rule, item));
                Ok(texts.collect::<Result<Vec<_>, _>>()?.into())
            }
            _ => Err(InvalidValue::new("expected a list of strings")),
        },
        Kind::Variables => variables(value),
        Kind::Headers => model_table::headers(value),
        Kind::Models => model_table::models(value),
    }
}

/// Validates a value from the environment or the command line.
pub(crate) fn from_text(kind: Kind, text: &str) -> Result<Value, InvalidValue> {
    let text = text.trim();
    match kind {
        Kind::Flag => flag(text).map(Value::Bool),
        Kind::Whole { min, max } => whole(text.parse().ok(), min, max),
        Kind::Number {
            min_thousandths,
            max_thousandths,
        } => number(text.parse().ok(), min_thousandths, max_thousandths),
        Kind::Text(_) => from_json(kind, &Value::from(text)),
        Kind::List(_) => from_json(kind, &list(text)?),
        Kind::Variables | Kind::Headers => from_json(kind, &assignments(text)?),
        Kind::Models => from_json(kind, &object(text)?),
    }
}

/// Parses a JSON array or comma-separated texts. `[::1]:80` is not an array.
fn list(text: &str) -> Result<Value, InvalidValue> {
    match serde_json::from_str(text) {
        Ok(items @ Value::Array(_)) => Ok(items),
        _ if text.starts_with('[') && text.contains('"') => {
            Err(InvalidValue::new("the JSON array cannot be parsed"))
        }
        _ => {
            let items = text.split(',').map(str::trim);
            Ok(items
                .filter(|item| !item.is_empty())
                .map(Value::from)
                .collect())
        }
    }
}

/// Validates environment variables by name. A value is a text without NUL, which no process accepts, or the name of
/// a variable in the vault.
fn variables(value: &Value) -> Result<Value, InvalidValue> {
    let Some(given) = value.as_object() else {
        return Err(InvalidValue::new("expected a table of variables"));
    };
    if given.len() > MAX_ENTRIES {
        return Err(InvalidValue::new(format!(
            "more than {MAX_ENTRIES} entries"
        )));
    }
    let mut checked = serde_json::Map::new();
    for (name, value) in given {
        if !is_variable(name) {
            return Err(InvalidValue::new(
                "a variable's name has 1 to 128 letters, digits and underscores and does not begin \
                 with a digit",
            ));
        }
        checked.insert(name.clone(), variable(name, value)?);
    }
    Ok(Value::Object(checked))
}

fn variable(name: &str, value: &Value) -> Result<Value, InvalidValue> {
    let Some(reference) = value.as_object() else {
        return text(Rule::SecretArgument, value).map(Value::String);
    };
    let key = reference.get(IN_VAULT).and_then(Value::as_str);
    match key {
        Some(key) if reference.len() == 1 && is_variable(key) => {
            if steers_a_program(name) {
                return Err(InvalidValue::new(format!(
                    "the variable {name} controls which code a program runs or where it \
                     connects; set its value here, not in the vault"
                )));
            }
            Ok(json!({ IN_VAULT: key }))
        }
        _ => Err(InvalidValue::new(
            "expected a string, or { vault = \"KEY\" } with the name of a variable in the vault",
        )),
    }
}

fn is_variable(name: &str) -> bool {
    (1..=128).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// Parses a JSON object, or `A=1,B=2`.
fn assignments(text: &str) -> Result<Value, InvalidValue> {
    if text.starts_with('{') {
        return object(text);
    }
    let pairs = text
        .split(',')
        .map(str::trim)
        .filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| match pair.split_once('=') {
        Some((name, value)) => Ok((name.trim().to_owned(), Value::from(value.trim()))),
        None => Err(InvalidValue::new(
            "expected NAME=value, separated by commas",
        )),
    });
    Ok(Value::Object(pairs.collect::<Result<_, _>>()?))
}

fn object(text: &str) -> Result<Value, InvalidValue> {
    serde_json::from_str(text).map_err(|_| InvalidValue::new("the JSON object cannot be parsed"))
}

/// Parses `true`/`1` or `false`/`0` in any case.
pub(crate) fn flag(text: &str) -> Result<bool, InvalidValue> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(InvalidValue::new("expected true, 1, false or 0")),
    }
}

fn whole(number: Option<i64>, min: i64, max: i64) -> Result<Value, InvalidValue> {
    match number {
        Some(number) if (min..=max).contains(&number) => Ok(Value::from(number)),
        _ if max == i64::MAX => Err(InvalidValue::new(format!(
            "expected a whole number from {min}"
        ))),
        _ => Err(InvalidValue::new(format!(
            "expected a whole number from {min} to {max}"
        ))),
    }
}

/// Validates a number within the bounds. Rejects infinities and NaN.
fn number(number: Option<f64>, min: i32, max: i32) -> Result<Value, InvalidValue> {
    let (min, max) = (f64::from(min) / 1000.0, f64::from(max) / 1000.0);
    match number {
        // Adding 0.0 turns minus zero into zero.
        Some(number) if (min..=max).contains(&number) => Ok(Value::from(number + 0.0)),
        _ => Err(InvalidValue::new(format!(
            "expected a number from {min} to {max}"
        ))),
    }
}

#[cfg(test)]
#[path = "value_tests.rs"]
mod tests;
