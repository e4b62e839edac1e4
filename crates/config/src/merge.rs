//! The origin of each value, and typed access to the merged values.

use crate::invalid_value::InvalidValue;
use secrecy::SecretString;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The source of a value, highest precedence first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A command-line flag.
    CommandLine,
    /// An environment variable.
    Environment,
    /// A run-time change, from the database.
    Settings,
    /// The settings file.
    Toml,
    /// The built-in default.
    Default,
}

impl Origin {
    /// Returns the name in API responses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CommandLine => "command_line",
            Self::Environment => "environment",
            Self::Settings => "settings",
            Self::Toml => "toml",
            Self::Default => "default",
        }
    }
}

/// A value and its origin; the value is `null` if there is none.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) value: Value,
    pub(crate) origin: Origin,
}

/// Every key with its effective value.
pub(crate) type Merged = BTreeMap<String, Entry>;

/// A setting that is invalid, alone or in combination with others.
#[derive(Debug)]
pub(crate) struct InvalidSetting {
    pub(crate) key: String,
    pub(crate) reason: InvalidValue,
}

impl InvalidSetting {
    pub(crate) fn new(key: &str, reason: impl Into<String>) -> Self {
        Self {
            key: key.to_owned(),
            reason: InvalidValue::new(reason),
        }
    }
}

/// Reads merged values as their types.
pub(crate) struct Reader<'a> {
    merged: &'a Merged,
    data_dir: &'a Path,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(merged: &'a Merged, data_dir: &'a Path) -> Self {
        Self { merged, data_dir }
    }

    pub(crate) fn merged(&self) -> &'a Merged {
        self.merged
    }

    pub(crate) fn data_dir(&self) -> &'a Path {
        self.data_dir
    }

    pub(crate) fn origin(&self, key: &str) -> Origin {
        self.merged
            .get(key)
            .map_or(Origin::Default, |entry| entry.origin)
    }

    fn value(&self, key: &str) -> &'a Value {
        self.merged
            .get(key)
            .map_or(&Value::Null, |entry| &entry.value)
    }

    pub(crate) fn flag(&self, key: &str) -> Result<bool, InvalidSetting> {
        self.value(key)
            .as_bool()
            .ok_or_else(|| InvalidSetting::new(key, "expected true or false"))
    }

    pub(crate) fn whole<T: TryFrom<i64>>(&self, key: &str) -> Result<T, InvalidSetting> {
        let number = self
            .value(key)
            .as_i64()
            .and_then(|number| T::try_from(number).ok());
        number.ok_or_else(|| InvalidSetting::new(key, "expected a whole number"))
    }

    /// Returns a number; `None` if it is unset.
    pub(crate) fn number(&self, key: &str) -> Option<f64> {
        self.value(key).as_f64()
    }

    pub(crate) fn is_set(&self, key: &str) -> bool {
        !self.value(key).is_null()
    }

    pub(crate) fn text(&self, key: &str) -> Option<&'a str> {
        self.value(key).as_str()
    }

    pub(crate) fn optional<T: FromStr<Err: Display>>(
        &self,
        key: &str,
    ) -> Result<Option<T>, InvalidSetting> {
        self.text(key).map(|text| parsed(key, text)).transpose()
    }

    pub(crate) fn required<T: FromStr<Err: Display>>(
        &self,
        key: &str,
    ) -> Result<T, InvalidSetting> {
        self.optional(key)?
            .ok_or_else(|| InvalidSetting::new(key, "is missing"))
    }

    pub(crate) fn list<T: FromStr<Err: Display>>(
        &self,
        key: &str,
    ) -> Result<Vec<T>, InvalidSetting> {
        let items = self
            .value(key)
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        items
            .iter()
            .filter_map(Value::as_str)
            .map(|text| parsed(key, text))
            .collect()
    }

    /// Returns environment variables by name, as JSON; empty if unset.
    pub(crate) fn variables(&self, key: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
        self.value(key).as_object().into_iter().flatten()
    }

    /// Returns a list of secrets; empty if unset.
    pub(crate) fn secrets(&self, key: &str) -> Vec<SecretString> {
        let items = self.value(key).as_array().into_iter().flatten();
        items
            .filter_map(Value::as_str)
            .map(SecretString::from)
            .collect()
    }

    /// Returns a path. A relative path is resolved against the data directory.
    pub(crate) fn file(&self, key: &str) -> Option<PathBuf> {
        self.text(key).map(|text| self.data_dir.join(text))
    }
}

fn parsed<T: FromStr<Err: Display>>(key: &str, text: &str) -> Result<T, InvalidSetting> {
    text.parse()
        .map_err(|error: T::Err| InvalidSetting::new(key, error.to_string()))
}
