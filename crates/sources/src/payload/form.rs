//! Parses `application/x-www-form-urlencoded` bodies as defined in the URL standard, except that invalid
//! UTF-8 is rejected instead of replaced.

use std::borrow::Cow;

use percent_encoding::percent_decode;

use super::PayloadError;

/// Returns whether a body that may be a form is JSON. A form percent-encodes `{` and `[`.
pub(super) fn looks_like_json(body: &[u8]) -> bool {
    matches!(body.trim_ascii_start().first(), Some(b'{' | b'['))
}

/// Returns the content of the field `payload`. If the field is repeated, the last one is used.
pub(super) fn payload_field(body: &[u8]) -> Result<String, PayloadError> {
    let mut found = None;
    for (name, value) in pairs(body) {
        if decode(name)? == "payload" {
            found = Some(value);
        }
    }
    decode(found.ok_or(PayloadError::NoPayloadField)?)
}

/// Converts all fields to a JSON object of strings, in form order.
pub(super) fn fields_as_json(body: &[u8]) -> Result<String, PayloadError> {
    let mut object = serde_json::Map::new();
    for (name, value) in pairs(body) {
        object.insert(decode(name)?, serde_json::Value::String(decode(value)?));
    }
    if object.is_empty() {
        return Err(PayloadError::Empty);
    }
    Ok(serde_json::Value::Object(object).to_string())
}

/// Splits a form into names and values, without decoding them.
pub(crate) fn pairs(body: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    body.split(|byte| *byte == b'&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let end = pair.iter().position(|byte| *byte == b'=');
            let (name, value) = pair.split_at(end.unwrap_or(pair.len()));
            (name, value.get(1..).unwrap_or_default())
        })
}

fn decode(encoded: &[u8]) -> Result<String, PayloadError> {
    String::from_utf8(decode_bytes(encoded).into_owned()).map_err(|_| PayloadError::NotUtf8)
}

pub(crate) fn decode_bytes(encoded: &[u8]) -> Cow<'_, [u8]> {
    if !encoded.contains(&b'+') {
        return percent_decode(encoded).into();
    }
    let spaced: Vec<u8> = encoded
        .iter()
        .map(|byte| if *byte == b'+' { b' ' } else { *byte })
        .collect();
    Cow::Owned(percent_decode(&spaced).collect())
}
