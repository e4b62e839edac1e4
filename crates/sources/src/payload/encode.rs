//! Converts a stored payload to a body in the encoding that its sender used.

use super::BodyKind;
use serde_json::{Map, Value};

/// Returns the body for a payload that was read with [`super::Payload::into_text`]. JSON is returned unchanged.
pub fn encode(kind: BodyKind, content_type: &str, payload: String) -> Vec<u8> {
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    let is_form = essence.eq_ignore_ascii_case("application/x-www-form-urlencoded");
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    match kind {
        BodyKind::JsonOrFormPayload if is_form => {
            form.append_pair("payload", &payload);
        }
        BodyKind::Form if is_form => {
            let Ok(fields) = serde_json::from_str::<Map<String, Value>>(&payload) else {
                return payload.into_bytes();
            };
            for (name, value) in &fields {
                match value {
                    Value::String(text) => form.append_pair(name, text),
                    other => form.append_pair(name, &other.to_string()),
                };
            }
        }
        BodyKind::Json | BodyKind::JsonOrFormPayload | BodyKind::Form => {
            return payload.into_bytes();
        }
    }
    form.finish().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::Payload;

    const FORM: &str = "application/x-www-form-urlencoded; charset=utf-8";

    #[test]
    fn a_body_is_encoded_as_it_was() {
        for (kind, content_type, body) in [
            (
                BodyKind::Json,
                "application/json",
                r#"{"b": 1.0,  "a":"é"}"#,
            ),
            (BodyKind::Json, FORM, r#"{"a":1}"#),
            (
                BodyKind::JsonOrFormPayload,
                "application/json",
                r#"{"a": 1}"#,
            ),
            (
                BodyKind::JsonOrFormPayload,
                FORM,
                "payload=%7B%22a%22%3A+1%7D",
            ),
            (BodyKind::Form, FORM, "Body=a+b&From=%2B1415"),
            (BodyKind::Form, "application/json", r#"{"Body": "a b"}"#),
        ] {
            let payload = Payload::read(kind, body.as_bytes()).unwrap().into_text();
            let again = encode(kind, content_type, payload);
            assert_eq!(String::from_utf8(again).unwrap(), body);
        }
    }
}
