//! Validates the conditions of a payload filter. Does no I/O.

use super::checks::{Checked, invalid};
use gatehouse_sources::payload_filter::{Comparison, Condition};
use serde_json::Value;

const FIELD: &str = "payload_filter";
/// Maximum number of conditions of a webhook.
const MAX_CONDITIONS: usize = 20;
/// Maximum length of a path, in characters.
const MAX_PATH: usize = 200;
/// Maximum length of a text to compare with, in characters.
const MAX_VALUE: usize = 500;

/// Validates a list of conditions. The reason of a refusal names the number of the condition, from 1, and its
/// member.
pub(super) fn conditions(value: &Value) -> Checked<Vec<Condition>> {
    let Value::Array(list) = value else {
        return invalid(FIELD, "expected a list of conditions");
    };
    if list.len() > MAX_CONDITIONS {
        return invalid(FIELD, format!("at most {MAX_CONDITIONS} conditions"));
    }
    let mut checked = Vec::with_capacity(list.len());
    for (at, value) in list.iter().enumerate() {
        match condition(value) {
            Ok(condition) if at == 0 && condition.or => {
                return invalid(FIELD, "condition 1: or: not used with the first condition");
            }
            Ok(condition) => checked.push(condition),
            Err(reason) => return invalid(FIELD, format!("condition {}: {reason}", at + 1)),
        }
    }
    Ok(checked)
}

fn condition(value: &Value) -> Result<Condition, String> {
    const MEMBERS: [&str; 4] = ["path", "is", "value", "or"];
    let members = value.as_object().filter(|members| {
        let mut names = members.keys();
        names.all(|name| MEMBERS.contains(&name.as_str()))
    });
    let Some(members) = members else {
        return Err("expected an object with path, is, value and or".to_owned());
    };
    let path = members.get("path").and_then(Value::as_str);
    let path = path.ok_or("path: expected a text")?;
    check_path(path).map_err(|reason| format!("path: {reason}"))?;
    let is = members.get("is").cloned().unwrap_or_default();
    let is: Comparison = serde_json::from_value(is).map_err(
        |_| "is: expected equals, not_equals, contains, exists, missing, greater or less",
    )?;
    let value = members.get("value");
    check_value(is, value).map_err(|reason| format!("value: {reason}"))?;
    let or = match members.get("or") {
        None => false,
        Some(or) => or.as_bool().ok_or("or: expected true or false")?,
    };
    Ok(Condition {
        path: path.to_owned(),
        is,
        value: value.filter(|_| is.takes_value()).cloned(),
        or,
    })
}

fn check_path(path: &str) -> Result<(), String> {
    if path.chars().count() > MAX_PATH {
        return Err(format!("at most {MAX_PATH} characters"));
    }
    let is_field = |part: &str| !part.is_empty() && part.trim() == part;
    if !path.split('.').all(is_field) || path.chars().any(char::is_control) {
        return Err("expected names or list indexes, with dots between them".to_owned());
    }
    if path.contains(['{', '}', '"']) || path == "__raw__" {
        return Err("expected one field, without braces and quotes".to_owned());
    }
    Ok(())
}

fn check_value(is: Comparison, value: Option<&Value>) -> Result<(), String> {
    if !is.takes_value() {
        let unused = value.is_none_or(Value::is_null);
        return if unused {
            Ok(())
        } else {
            Err("not used with exists and missing".to_owned())
        };
    }
    let reason = match (is, value) {
        (_, None) => "required",
        (_, Some(Value::Array(_) | Value::Object(_))) => {
            "expected a text, a number, true, false or null"
        }
        (Comparison::Greater | Comparison::Less, Some(value)) if !value.is_number() => {
            "expected a number"
        }
        (Comparison::Contains, Some(Value::String(text))) if text.is_empty() => "must not be empty",
        (_, Some(Value::String(text))) if text.chars().count() > MAX_VALUE => {
            return Err(format!("at most {MAX_VALUE} characters"));
        }
        (_, Some(Value::String(text))) if text.contains('\0') => "no NUL character",
        _ => return Ok(()),
    };
    Err(reason.to_owned())
}

#[cfg(test)]
mod tests;
