//! JSON in the response of a vendor.

use serde_json::Value;
use std::time::Duration;

/// The JSON of a response, accessed with JSON pointers such as `/parameters/retry_after`.
pub(crate) struct ResponseJson(pub(super) Value);

impl ResponseJson {
    /// Returns a string, which is empty if absent.
    pub(crate) fn text(&self, at: &str) -> &str {
        self.0
            .pointer(at)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// Returns whether the value is `true`.
    pub(crate) fn is_true(&self, at: &str) -> bool {
        self.0.pointer(at).and_then(Value::as_bool) == Some(true)
    }

    pub(crate) fn number(&self, at: &str) -> Option<i64> {
        self.0.pointer(at).and_then(Value::as_i64)
    }

    /// Returns a duration in milliseconds.
    pub(crate) fn milliseconds(&self, at: &str) -> Option<Duration> {
        let ms = u64::try_from(self.number(at)?).ok()?;
        Some(Duration::from_millis(ms))
    }

    /// Returns a duration in seconds.
    pub(crate) fn seconds(&self, at: &str) -> Option<Duration> {
        let seconds = self.0.pointer(at).and_then(Value::as_f64)?;
        Duration::try_from_secs_f64(seconds).ok()
    }
}
