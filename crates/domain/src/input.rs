//! Deserializes a JSON object into a typed request and reports the field and the reason on failure. HTTP
//! bodies and RPC params both use it, so their errors match.

use crate::{ErrorCode, Problem};
use serde::de::{Deserialize, DeserializeOwned, Deserializer};
use serde_json::Value;

/// Deserializes bytes. Invalid JSON is `PARSE_ERROR`; any value other than the expected object is `INVALID_PARAMS`.
/// Checks the syntax of the whole text first, so that a syntax error after a field is not reported as an error of
/// that field.
pub fn from_slice<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let text = std::str::from_utf8(bytes).map_err(|_| parse_error())?;
    serde_json::from_str::<serde::de::IgnoredAny>(text).map_err(|_| parse_error())?;
    if !text.trim_start().starts_with('{') {
        return Err(not_an_object());
    }
    let mut json = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut json)
        .map_err(|error| problem_of(&error.path().to_string(), error.inner()))
}

/// Distinguishes `null`, which clears a field, from an absent field, which is the `default`. For
/// `deserialize_with`.
pub fn nullable<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// Treats `null` as absent, as in every optional field. For `deserialize_with`.
pub fn or_default<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Deserializes a parsed value. `null` counts as the empty object.
pub fn from_value<T: DeserializeOwned>(value: Value) -> Result<T, Problem> {
    let value = match value {
        Value::Null => Value::Object(serde_json::Map::new()),
        object @ Value::Object(_) => object,
        _ => return Err(not_an_object()),
    };
    serde_path_to_error::deserialize(value)
        .map_err(|error| problem_of(&error.path().to_string(), error.inner()))
}

fn parse_error() -> Problem {
    Problem::new(ErrorCode::ParseError, "The body is not valid JSON.")
}

fn not_an_object() -> Problem {
    Problem::new(ErrorCode::InvalidParams, "Expected a JSON object.")
        .with("field", "")
        .with("reason", "expected a JSON object")
}

/// Converts an error of serde to a problem. Serde reports unknown, missing and duplicate fields only as text, with
/// the name in backticks.
fn problem_of(path: &str, error: &serde_json::Error) -> Problem {
    if !error.is_data() {
        return parse_error();
    }
    let text = error.to_string();
    let named = text.split('`').nth(1).unwrap_or_default();
    for (start, reason) in [
        ("unknown field", "unknown field"),
        ("missing field", "required"),
        ("duplicate field", "given twice"),
    ] {
        if text.starts_with(start) {
            return Problem::invalid_params(named, reason);
        }
    }
    Problem::invalid_params(bare_name(path), reason_of(&text))
}

/// Returns the last field name in a path such as `scopes[1]` or `auth.api_key`.
fn bare_name(path: &str) -> &str {
    let last = path.rsplit('.').next().unwrap_or(path);
    last.split('[')
        .next()
        .filter(|name| !name.is_empty())
        .unwrap_or(path)
}

/// Returns the message without its position and without the caller's value, which may be a secret.
fn reason_of(text: &str) -> String {
    let text = text
        .rsplit_once(" at line ")
        .map_or(text, |(message, _)| message);
    match text.rsplit_once(", expected ") {
        Some((_, expected)) => format!("expected {}", json_type(expected)),
        None => text.to_owned(),
    }
}

/// Returns the JSON type for the Rust type that serde names.
fn json_type(expected: &str) -> &str {
    match expected {
        "i8" | "i16" | "i32" | "i64" | "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number",
        "f32" | "f64" => "a number",
        "a sequence" => "a list",
        "a map" => "an object",
        _ if expected.starts_with("struct ") => "an object",
        _ => expected,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its shape matters")]
    struct Login {
        #[serde(alias = "pass")]
        password: String,
        scopes: Option<Vec<u8>>,
    }

    fn refusal(body: &str) -> (ErrorCode, String) {
        let problem = from_slice::<Login>(body.as_bytes()).unwrap_err();
        let field = problem
            .details
            .get("field")
            .and_then(Value::as_str)
            .unwrap_or_default();
        (problem.code, field.to_owned())
    }

    #[test]
    fn null_counts_as_absent() {
        #[derive(Debug, PartialEq, Deserialize)]
        struct Options {
            #[serde(default, deserialize_with = "or_default")]
            force: bool,
            #[serde(default, deserialize_with = "or_default")]
            names: Vec<String>,
        }
        let read = |body: &str| from_slice::<Options>(body.as_bytes());
        let absent = read("{}").unwrap();
        assert!(!absent.force && absent.names.is_empty());
        assert_eq!(read(r#"{"force":null,"names":null}"#).unwrap(), absent);
        assert!(read(r#"{"force":true}"#).unwrap().force);
        let refused = read(r#"{"force":1}"#).unwrap_err();
        assert_eq!(refused.details["field"], "force");
    }

    #[test]
    fn each_kind_of_mistake_names_its_field() {
        let bad = |field: &str| (ErrorCode::InvalidParams, field.to_owned());
        assert_eq!(refusal("{}"), bad("password"));
        assert_eq!(refusal(r#"{"password":1}"#), bad("password"));
        assert_eq!(refusal(r#"{"password":"x","colour":1}"#), bad("colour"));
        assert_eq!(
            refusal(r#"{"password":"x","password":"y"}"#),
            bad("password")
        );
        assert_eq!(
            refusal(r#"{"password":"x","scopes":[1,"a"]}"#),
            bad("scopes")
        );
        assert_eq!(refusal(r#"["x"]"#), bad(""));
        assert_eq!(refusal("null"), bad(""));
    }

    #[test]
    fn types_have_the_names_of_json() {
        let reason = |body: &str| from_slice::<Login>(body.as_bytes()).unwrap_err().message;
        for (body, expected) in [
            (
                r#"{"password":"x","scopes":["a"]}"#,
                "expected a whole number",
            ),
            (r#"{"password":"x","scopes":1}"#, "expected a list"),
            (r#"{"password":[]}"#, "expected a string"),
        ] {
            let reason = reason(body);
            assert!(reason.contains(expected), "{body}: {reason}");
        }
    }

    #[test]
    fn what_is_not_json_is_a_parse_error() {
        for body in [
            "",
            "{",
            "{\"password\":\"x\"} x",
            "\u{1}",
            "{\"password\":\"\\ud800\"}",
            "{} x",
            "{\"colour\":1",
        ] {
            assert_eq!(refusal(body).0, ErrorCode::ParseError, "{body:?}");
        }
        for bytes in [&b"{\"password\":\"\xff\"}"[..], b"{\"colour\":\"\xff\"}"] {
            let problem = from_slice::<Login>(bytes).unwrap_err();
            assert_eq!(problem.code, ErrorCode::ParseError);
        }
    }

    #[test]
    fn a_wrong_value_is_not_repeated() {
        let problem = from_slice::<Login>(br#"{"password":["hunter2"]}"#).unwrap_err();
        assert!(!problem.message.contains("hunter2"), "{}", problem.message);
        let problem = from_slice::<Login>(br#"{"password":"x","scopes":"hunter2"}"#).unwrap_err();
        assert!(!problem.message.contains("hunter2"), "{}", problem.message);
    }
}
