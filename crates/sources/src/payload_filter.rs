//! Filters deliveries by the content of their payload.

use crate::payload::{Kind, Node, Payload};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Number, Value};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

/// The maximum number of characters of a value that [`Condition`] displays.
const SHOWN_CHARS: usize = 80;

/// A condition on one field of the payload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// The field, as in a template but without braces: `pull_request.draft`, `items.0.name`. A part `*` stands for any
    /// item of a list: `items.*.name`.
    pub path: String,
    pub is: Comparison,
    /// What to compare with. Absent for `exists` and `missing`.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<ConditionValue>")]
    pub value: Option<Value>,
    /// Whether this condition is an alternative to the previous condition, so that one of them must be met. Not for the
    /// first condition.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub or: bool,
}

/// How a field is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// The field has this value. Letter case matters. If the value is a number, a text that contains the same number
    /// is equal to it.
    Equals,
    /// The field has another value, or the payload does not have it.
    NotEquals,
    /// The field is a text that contains this text, or a list with this value.
    Contains,
    /// The payload has the field, also with the value `null`.
    Exists,
    /// The payload does not have the field.
    Missing,
    /// The field is a number, or a text that contains one, and greater than this number.
    Greater,
    /// The field is a number, or a text that contains one, and less than this number.
    Less,
}

/// A text, a number or a boolean.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum ConditionValue {
    Text(String),
    Number(f64),
    Flag(bool),
}

/// Deserializes a member that is present. A `null` is a value.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Returns the first condition that the payload does not meet, unless it meets one of the alternatives of the
/// condition.
pub fn unmet<'c>(conditions: &'c [Condition], payload: &Payload) -> Option<&'c Condition> {
    let mut alternatives = conditions.chunk_by(|_, next| next.or);
    let unmet = alternatives.find(|group| !group.iter().any(|one| one.is_met(payload)))?;
    unmet.first()
}

impl Comparison {
    /// Returns whether a condition with this comparison has a value.
    pub const fn takes_value(self) -> bool {
        !matches!(self, Self::Exists | Self::Missing)
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Equals => "equals",
            Self::NotEquals => "does not equal",
            Self::Contains => "contains",
            Self::Exists => "exists",
            Self::Missing => "is missing",
            Self::Greater => "is greater than",
            Self::Less => "is less than",
        }
    }
}

impl Condition {
    /// Returns whether the payload meets this condition, without considering its alternatives. With `*` in the
    /// path, one of the fields must meet it. For `not_equals` and `missing`, all of them must.
    pub fn is_met(&self, payload: &Payload) -> bool {
        let any = |test: Test<'_>| any_at(payload.root(), &self.path, test);
        let Some(value) = &self.value else {
            return match self.is {
                Comparison::Exists => any(&|_| true),
                Comparison::Missing => !any(&|_| true),
                _ => false,
            };
        };
        match self.is {
            Comparison::Equals => any(&|node| equals(node, value)),
            Comparison::NotEquals => !any(&|node| equals(node, value)),
            Comparison::Contains => any(&|node| contains(node, value)),
            Comparison::Greater => any(&|node| order(node, value) == Some(Ordering::Greater)),
            Comparison::Less => any(&|node| order(node, value) == Some(Ordering::Less)),
            Comparison::Exists | Comparison::Missing => false,
        }
    }
}

/// A test of one field.
type Test<'t> = &'t dyn Fn(Node<'_>) -> bool;

/// Returns whether a field at the path passes the test. A part `*` stands for any item of a list. Reads each value
/// of the payload at most once.
fn any_at(node: Node<'_>, path: &str, test: Test<'_>) -> bool {
    let (key, rest) = match path.split_once('.') {
        Some((key, rest)) => (key, Some(rest)),
        None => (path, None),
    };
    let passes = |found: Node<'_>| match rest {
        Some(rest) => any_at(found, rest, test),
        None => test(found),
    };
    if key == "*" && node.kind() == Kind::Array {
        return node.items().any(passes);
    }
    node.get(key).is_some_and(passes)
}

/// Formats the condition in words, such as `pull_request.draft equals true`. Truncates a long value.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.path, self.is.words())?;
        let Some(value) = &self.value else {
            return Ok(());
        };
        let text = value.to_string();
        match text.char_indices().nth(SHOWN_CHARS) {
            Some((end, _)) => write!(f, " {}…", text.get(..end).unwrap_or_default()),
            None => write!(f, " {text}"),
        }
    }
}

fn equals(node: Node<'_>, value: &Value) -> bool {
    match value {
        Value::Null => node.is_null(),
        Value::Bool(flag) => node.as_bool() == Some(*flag),
        Value::Number(_) => order(node, value) == Some(Ordering::Equal),
        Value::String(text) => node.as_str().is_some_and(|found| found == text.as_str()),
        Value::Array(_) | Value::Object(_) => false,
    }
}

fn contains(node: Node<'_>, value: &Value) -> bool {
    if node.kind() == Kind::Array {
        return node.items().any(|item| equals(item, value));
    }
    match (node.as_str(), value) {
        (Some(found), Value::String(text)) => found.contains(text.as_str()),
        _ => false,
    }
}

/// Compares a field with a number. In forms, and in amounts of some senders, numbers are text.
fn order(node: Node<'_>, value: &Value) -> Option<Ordering> {
    let Value::Number(wanted) = value else {
        return None;
    };
    let found = match node.kind() {
        Kind::Number => Cow::Borrowed(node.raw()),
        Kind::String => node.as_str().filter(|text| is_number(text))?,
        _ => return None,
    };
    order_of(&found, wanted)
}

/// Returns whether a text has only the characters of a JSON number. Rust would also parse `inf` and `NaN`.
fn is_number(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte))
}

/// Compares two numbers. Whole numbers are compared exactly, because IDs can exceed the precision of a
/// floating-point number.
fn order_of(found: &str, wanted: &Number) -> Option<Ordering> {
    if let (Ok(found), Some(wanted)) = (found.parse::<i128>(), wanted.as_i128()) {
        return Some(found.cmp(&wanted));
    }
    let found: f64 = found.parse().ok()?;
    found.partial_cmp(&wanted.as_f64()?)
}

#[cfg(test)]
mod tests;
