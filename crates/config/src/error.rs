//! Errors in the settings: one sentence with the key or line, the mistake and a suggestion.

use crate::invalid_value::InvalidValue;
use std::fmt::Write as _;

/// An unknown or invalid setting, or an unreadable file. Shown to the operator at start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.sentence())]
pub struct ConfigError {
    /// The source: a file's name, a variable's name or a flag.
    pub place: String,
    /// Line in the file, from 1.
    pub line: Option<usize>,
    /// The setting, as a dotted key or a variable's name.
    pub key: Option<String>,
    /// The mistake. Omits the value if it may be a secret.
    pub reason: String,
    /// The closest known name.
    pub suggestion: Option<String>,
}

impl ConfigError {
    pub(crate) fn new(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            line: None,
            key: None,
            reason: reason.into(),
            suggestion: None,
        }
    }

    pub(crate) fn unknown(place: &str, what: &str, key: &str, suggestion: Option<String>) -> Self {
        Self {
            key: Some(key.to_owned()),
            suggestion,
            ..Self::new(place, format!("unknown {what} `{key}`"))
        }
    }

    pub(crate) fn invalid(place: &str, key: &str, reason: &InvalidValue) -> Self {
        let text = if place == key {
            reason.to_string()
        } else {
            format!("invalid `{key}`: {reason}")
        };
        Self {
            key: Some(key.to_owned()),
            ..Self::new(place, text)
        }
    }

    /// Creates the error for a setting that is present in both of its spellings.
    pub(crate) fn twice(place: &str, key: &str, other: &str) -> Self {
        let (first, second) = (key.min(other), key.max(other));
        Self {
            key: Some(key.to_owned()),
            ..Self::new(
                place,
                format!("`{first}` and `{second}` are the same setting; keep one of them"),
            )
        }
    }

    pub(crate) fn at(mut self, line: Option<usize>) -> Self {
        self.line = line;
        self
    }

    fn sentence(&self) -> String {
        let mut text = self.place.clone();
        if let Some(line) = self.line {
            let _ = write!(text, " line {line}");
        }
        text.push_str(": ");
        text.push_str(&self.reason);
        if let Some(name) = &self.suggestion {
            let _ = write!(text, "; did you mean `{name}`?");
        }
        text
    }
}
