//! The ID of a request.

use serde_json::value::RawValue;

/// The ID of a request, spelled as the caller sent it: a string, a number or null.
#[derive(Clone, Debug)]
pub struct Id(pub(super) Box<RawValue>);

impl Id {
    /// Returns the ID for responses to messages without a readable ID.
    pub fn null() -> Self {
        Self(RawValue::NULL.to_owned())
    }

    pub(crate) fn is_null(&self) -> bool {
        self.0.get() == "null"
    }

    /// Returns the JSON, as the caller spelled it.
    pub(crate) fn text(&self) -> &str {
        self.0.get()
    }

    pub(crate) fn read(raw: &RawValue) -> Option<Self> {
        let text = raw.get();
        let valid = match text.as_bytes().first() {
            Some(b'"') => serde_json::from_str::<String>(text).is_ok(),
            Some(b'-' | b'0'..=b'9') => true,
            _ => text == "null",
        };
        valid.then(|| Self(raw.to_owned()))
    }
}
