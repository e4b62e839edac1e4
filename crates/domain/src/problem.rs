//! The error that callers see, in the HTTP body and in the RPC error. Each crate has its own error enum, and
//! decides in the conversion which part of an error a caller may see.

use crate::ErrorCode;
use serde_json::{Map, Value};
use std::fmt;

/// A refusal or failure as the caller sees it. The message is a sentence for people and never contains a
/// secret, a path, SQL or a vendor's raw response.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    pub code: ErrorCode,
    pub message: String,
    /// The extra fields defined for the code.
    pub details: Map<String, Value>,
}

impl Problem {
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

    /// Creates the problem for a field of the input that is missing, unknown or invalid.
    pub fn invalid_params(field: &str, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self::new(
            ErrorCode::InvalidParams,
            format!("Invalid `{field}`: {reason}."),
        )
        .with("field", field)
        .with("reason", reason)
    }

    /// Creates the problem for a missing resource. `what` is a noun such as "session".
    pub fn not_found(what: &str) -> Self {
        Self::new(ErrorCode::NotFound, format!("The {what} does not exist."))
    }

    /// Too many requests. Rounds the wait up to whole seconds, at least one.
    pub fn rate_limited(retry_after_ms: u64) -> Self {
        let seconds = retry_after_ms.div_ceil(1000).max(1);
        Self::new(
            ErrorCode::RateLimited,
            format!("Too many requests; try again in {seconds} s."),
        )
        .with("retry_after_seconds", seconds)
    }

    /// Creates the problem for a body, a message, a file or a field that exceeds its limit. `what` is a noun such
    /// as "body".
    pub fn too_large(what: &str, max_bytes: impl TryInto<u64>) -> Self {
        let max_bytes = max_bytes.try_into().unwrap_or(u64::MAX);
        let limit = limit_text(max_bytes);
        Self::new(
            ErrorCode::PayloadTooLarge,
            format!("The {what} is larger than {limit}."),
        )
        .with("max_bytes", max_bytes)
    }

    /// Creates the problem for a sealed vault whose contents the request needs.
    pub fn vault_sealed() -> Self {
        Self::new(
            ErrorCode::VaultSealed,
            "The vault is sealed; unlock it first.",
        )
        .with("status", "sealed")
    }

    /// Creates the problem for an internal error. The log has the cause, under the request ID that the HTTP layer
    /// adds.
    pub fn internal() -> Self {
        Self::new(
            ErrorCode::Internal,
            "An internal error occurred. The server's log has the details.",
        )
    }
}

/// Formats a limit in the largest unit in which it is a whole number.
fn limit_text(bytes: u64) -> String {
    const KIB: u64 = 1024;
    const MIB: u64 = 1024 * KIB;
    if bytes < KIB || !bytes.is_multiple_of(KIB) {
        format!("{bytes} bytes")
    } else if !bytes.is_multiple_of(MIB) {
        format!("{} KiB", bytes / KIB)
    } else {
        format!("{} MiB", bytes / MIB)
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

    #[test]
    fn a_limit_is_stated_in_the_largest_whole_unit() {
        for (bytes, text) in [
            (0_u64, "0 bytes"),
            (1023, "1023 bytes"),
            (1024, "1 KiB"),
            (1025, "1025 bytes"),
            ((1 << 20) - 1024, "1023 KiB"),
            (1 << 20, "1 MiB"),
            (26_214_400, "25 MiB"),
        ] {
            let problem = Problem::too_large("file", bytes);
            assert_eq!(problem.code, ErrorCode::PayloadTooLarge);
            assert_eq!(problem.message, format!("The file is larger than {text}."));
            assert_eq!(problem.details["max_bytes"], bytes);
        }
    }
}
