//! The reason why a turn failed, as it is stored with its message.

use gatehouse_domain::Problem;
use schemars::JsonSchema;
use serde::{
    Serialize,
    ser::{SerializeMap, Serializer},
};
use serde_json::Value;

/// A problem in an event: `{code, message}` plus the extra fields of the code.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
#[schemars(with = "FailureShape")]
pub struct Failure(pub Problem);

impl Failure {
    /// Parses the serialized form. Returns `None` if the text has a different form.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let mut details: serde_json::Map<String, Value> = serde_json::from_str(text).ok()?;
        let code = serde_json::from_value(details.remove("code")?).ok()?;
        let message = serde_json::from_value(details.remove("message")?).ok()?;
        Some(Self(Problem {
            code,
            message,
            details,
        }))
    }
}

#[derive(JsonSchema)]
#[schemars(rename = "Failure")]
#[expect(dead_code, reason = "only its schema is used")]
struct FailureShape {
    code: String,
    message: String,
    /// The extra fields of this code.
    #[schemars(flatten)]
    details: serde_json::Map<String, Value>,
}

impl Serialize for Failure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Problem {
            code,
            message,
            details,
        } = &self.0;
        let mut map = serializer.serialize_map(Some(2 + details.len()))?;
        map.serialize_entry("code", code.name())?;
        map.serialize_entry("message", message)?;
        for (name, value) in details {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}
