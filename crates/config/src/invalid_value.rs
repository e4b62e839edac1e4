//! Why a value is invalid, and the checks that several sections share.

/// The maximum number of entries in a list or table.
pub(crate) const MAX_ENTRIES: usize = 1000;

/// Why a value is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidValue(String);

impl InvalidValue {
    /// Creates an error from its reason, which has no full stop.
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }

    pub(crate) fn expected_one_of(words: &[&str]) -> Self {
        Self(format!("expected {}", words.join(" or ")))
    }
}

/// Accepts one line of 1 to 256 characters.
pub(crate) fn check_line(text: &str) -> Result<String, InvalidValue> {
    let length = text.chars().count();
    if (1..=256).contains(&length) && !text.chars().any(char::is_control) {
        Ok(text.to_owned())
    } else {
        Err(InvalidValue::new(
            "expected one line of 1 to 256 characters",
        ))
    }
}

/// Accepts one line of text. Secrets are sent in headers, where a line break, such as the one at the end of a file,
/// would break the request.
pub(crate) fn check_secret(text: &str) -> Result<String, InvalidValue> {
    let text = text.trim();
    if text.is_empty() || text.chars().any(char::is_control) {
        Err(InvalidValue::new("expected one non-empty line"))
    } else {
        Ok(text.to_owned())
    }
}
