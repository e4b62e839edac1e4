//! Request bodies: parsed or rejected, and a rejection never repeats a value, which may be a secret.
#![no_main]

use gatehouse_domain::{ErrorCode, Scope, Timestamp, input};
use libfuzzer_sys::fuzz_target;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only read")]
struct Body {
    password: String,
    #[serde(default, alias = "code")]
    setup_code: Option<String>,
    #[serde(default)]
    scopes: Vec<Scope>,
    #[serde(default)]
    expires_at: Option<Timestamp>,
}

fuzz_target!(|bytes: &[u8]| {
    let Err(problem) = input::from_slice::<Body>(bytes) else {
        return;
    };
    let parsed = serde_json::from_slice::<Value>(bytes);
    match problem.code {
        ErrorCode::ParseError => assert!(parsed.is_err() || has_odd_text(bytes)),
        ErrorCode::InvalidParams => assert!(problem.details.contains_key("field")),
        other => panic!("{other:?}"),
    }
    // The response never contains the password, unless it is a word of the response anyway.
    if let Ok(Value::Object(body)) = parsed
        && let Some(Value::String(password)) = body.get("password")
        && password.len() >= 24
        && !body.keys().any(|key| key.contains(password.as_str()))
    {
        assert!(!problem.message.contains(password.as_str()));
    }
});

/// Whether the bytes contain a number or text that `Value` accepts and a stricter type rejects.
fn has_odd_text(bytes: &[u8]) -> bool {
    bytes
        .iter()
        .any(|byte| matches!(byte, b'\\' | b'e' | b'E' | b'.'))
}
