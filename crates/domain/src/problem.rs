//! What a caller is told when something did not work: the one shape behind the HTTP body and the
//! RPC error. Rooms have their own error enums; each says here what of it a caller may see.

use crate::ErrorCode;
use serde_json::{Map, Value};
use std::fmt;

/// A refusal or failure as a caller sees it. The message is a sentence for a person and never
/// contains a secret, a path, SQL or a vendor's raw answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// For programs.
    pub code: ErrorCode,
    /// For people.
    pub message: String,
    /// The extra fields that belong to the code.
    pub details: Map<String, Value>,
}

impl Problem {
    /// A problem without extra fields.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            details: Map::new(),
        }
    }

    /// Adds one extra field.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// A field of the input is missing, unknown or wrong.
    pub fn invalid_params(field: &str, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self::new(
            ErrorCode::InvalidParams,
            format!("Invalid `{field}`: {reason}."),
        )
        .with("field", field)
        .with("reason", reason)
    }

    /// There is no such thing. `what` is a noun such as "session".
    pub fn not_found(what: &str) -> Self {
        Self::new(ErrorCode::NotFound, format!("There is no such {what}."))
    }

    /// Too many requests. The wait is rounded up to whole seconds, at least one.
    pub fn rate_limited(retry_after_ms: u64) -> Self {
        let seconds = retry_after_ms.div_ceil(1000).max(1);
        Self::new(
            ErrorCode::RateLimited,
            format!("Too many requests; try again in {seconds} s."),
        )
        .with("retry_after_seconds", seconds)
    }

    /// The vault is sealed and this needs what is in it.
    pub fn vault_sealed() -> Self {
        Self::new(
            ErrorCode::VaultSealed,
            "The vault is sealed; unlock it first.",
        )
        .with("status", "sealed")
    }

    /// A fault of ours. What it was is in the log, under the request id that the edge adds.
    pub fn internal() -> Self {
        Self::new(
            ErrorCode::Internal,
            "Something went wrong on our side; the log has more.",
        )
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.name(), self.message)
    }
}

impl std::error::Error for Problem {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_is_at_least_one_second_and_rounded_up() {
        for (ms, s) in [(0, 1), (1, 1), (1000, 1), (1001, 2)] {
            assert_eq!(Problem::rate_limited(ms).details["retry_after_seconds"], s);
        }
    }
}
