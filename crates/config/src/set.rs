//! Checks whether a run-time change may be stored. The caller stores it.

use crate::alias::canonical_key;
use crate::invalid_value::InvalidValue;
use crate::key::Change;
use crate::key_table::{describe, find_key};
use crate::layers::Layers;
use crate::merge::Origin;
use crate::resolved::accept;
use crate::suggest;
use crate::value::from_json;
use gatehouse_domain::{ErrorCode, Problem};
use serde_json::Value;
use std::collections::BTreeMap;

/// Why a change is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetError {
    #[error("unknown key `{key}`{}", did_you_mean(suggestion.as_deref()))]
    UnknownKey {
        /// The requested key.
        key: String,
        /// The closest known key.
        suggestion: Option<String>,
    },
    /// A flag or a variable fixes the value.
    #[error("`{key}` is fixed by {by} of the server")]
    FixedByEnvironment {
        key: String,
        /// "the environment" or "the command line".
        by: &'static str,
    },
    #[error("invalid value: {reason}")]
    Invalid { reason: InvalidValue },
    /// The setting cannot be changed with this operation.
    #[error("`{key}` cannot be changed here: {reason}")]
    NotSettable {
        key: String,
        /// The reason, or the operation to use instead.
        reason: &'static str,
    },
}

fn did_you_mean(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

impl From<SetError> for Problem {
    fn from(error: SetError) -> Self {
        let text = error.to_string();
        match error {
            SetError::FixedByEnvironment { .. } => {
                Self::new(ErrorCode::Conflict, format!("{text}."))
            }
            SetError::Invalid { reason } => Self::invalid_params("value", reason.to_string()),
            SetError::UnknownKey { .. } | SetError::NotSettable { .. } => {
                Self::invalid_params("key", text)
            }
        }
    }
}

/// Checks that the key or section is known.
pub fn check_key(key: &str) -> Result<(), SetError> {
    let section = format!("{}.", canonical_key(key));
    if find_key(key).is_some() || describe().iter().any(|spec| spec.key.starts_with(&section)) {
        Ok(())
    } else {
        Err(unknown(key))
    }
}

fn unknown(key: &str) -> SetError {
    // The key of a caller may be as long as a message, so the error contains only its start.
    let key: String = key.chars().take(128).collect();
    SetError::UnknownKey {
        suggestion: suggest::key(&key),
        key,
    }
}

impl Layers {
    /// Checks whether a key may be set to a value at run time, given the changes stored so far.
    /// Returns the canonical value to store; `null` removes a stored change.
    pub fn check_set(
        &self,
        key: &str,
        value: &Value,
        current: &BTreeMap<String, Value>,
    ) -> Result<Value, SetError> {
        let spec = find_key(key).ok_or_else(|| unknown(key))?;
        let key = &*canonical_key(key);
        if let Change::Elsewhere(reason) | Change::Never(reason) = spec.change {
            return Err(SetError::NotSettable {
                key: key.to_owned(),
                reason,
            });
        }
        if let Some(origin) = self.fixed_by(key) {
            let by = match origin {
                Origin::CommandLine => "the command line",
                _ => "the environment",
            };
            return Err(SetError::FixedByEnvironment {
                key: key.to_owned(),
                by,
            });
        }
        let (mut changes, _) = accept(current);
        let stored = if value.is_null() {
            changes.remove(key);
            Value::Null
        } else {
            let checked = from_json(spec.kind, value);
            let checked = checked.map_err(|reason| SetError::Invalid { reason })?;
            changes.insert(key.to_owned(), checked.clone());
            checked
        };
        self.check_together(&changes)
            .map_err(|bad| SetError::Invalid { reason: bad.reason })?;
        Ok(stored)
    }
}
