//! The text of a JSON string.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer as _, Visitor};

/// Decodes a quoted JSON string.
pub(super) fn decode(raw: &str) -> Cow<'_, str> {
    let plain = raw
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .filter(|inner| !inner.contains('\\'));
    if let Some(plain) = plain {
        return Cow::Borrowed(plain);
    }
    // `serde_json` accepts unpaired surrogates in bytes, but not in text.
    let mut reader = serde_json::Deserializer::from_str(raw);
    let bytes = (&mut reader).deserialize_bytes(Bytes).unwrap_or_default();
    Cow::Owned(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

struct Bytes;

impl Visitor<'_> for Bytes {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        Ok(bytes.to_vec())
    }
}
