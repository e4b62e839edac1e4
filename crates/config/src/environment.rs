//! A snapshot of the process's environment: the only place that reads it.

use crate::error::ConfigError;
use crate::value::{InvalidValue, flag};
use secrecy::SecretString;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;

/// Variables of others that we look at.
const FOREIGN: [&str; 8] = [
    "PATH",
    "HOME",
    "LANG",
    "TZ",
    "XDG_DATA_HOME",
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "NO_COLOR",
];

/// What programs that the service starts are given of its own environment.
pub(crate) const FOR_CHILDREN: [&str; 4] = ["PATH", "HOME", "LANG", "TZ"];

/// Our variables that are no setting, or a second name of one.
pub(crate) const NAMES: [&str; 11] = [
    "SERVICE_DATA_DIR",
    "SERVICE_CONFIG",
    "SERVICE_DATABASE_URL",
    "SERVICE_API_KEY",
    "SERVICE_URL",
    "SERVICE_PASSWORD_FILE",
    "SERVICE_LOG",
    "SERVICE_BEHIND_PROXY",
    "SERVICE_TRUST_DOCKER_LOOPBACK",
    "SERVICE_VAULT_AUTO_UNSEAL_KEY_FILE",
    "SERVICE_VAULT_AUTO_UNSEAL_KEY",
];

/// What the environment said at one moment. Holds only the variables that concern us; an empty
/// value counts as unset.
pub struct Environment(BTreeMap<String, OsString>);

impl Environment {
    /// The environment of this process.
    pub fn from_process() -> Self {
        Self::from_pairs(std::env::vars_os())
    }

    /// An environment made of these pairs.
    pub fn from_pairs<K, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Self
    where
        K: Into<OsString>,
        V: Into<OsString>,
    {
        let ours = |name: &str| name.starts_with("SERVICE_") || FOREIGN.contains(&name);
        let variables = pairs
            .into_iter()
            .filter_map(|(name, value)| Some((name.into().into_string().ok()?, value.into())))
            .filter(|(name, value)| ours(name) && !value.is_empty())
            .collect();
        Self(variables)
    }

    /// The names that begin with `SERVICE_`.
    pub(crate) fn own_names(&self) -> impl Iterator<Item = &str> {
        self.0
            .keys()
            .map(String::as_str)
            .filter(|name| name.starts_with("SERVICE_"))
    }

    /// A text; blank is unset.
    pub(crate) fn text(&self, name: &str) -> Result<Option<&str>, ConfigError> {
        let Some(value) = self.0.get(name) else {
            return Ok(None);
        };
        let text = value.to_str().ok_or_else(|| {
            ConfigError::invalid(name, name, &InvalidValue::new("expected UTF-8 text"))
        })?;
        Ok(Some(text).filter(|text| !text.trim().is_empty()))
    }

    /// A secret, without white space around it.
    pub(crate) fn secret(&self, name: &str) -> Result<Option<SecretString>, ConfigError> {
        Ok(self.text(name)?.map(|text| SecretString::from(text.trim())))
    }

    /// True or false; unset is false.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, ConfigError> {
        let Some(text) = self.text(name)? else {
            return Ok(false);
        };
        flag(text.trim()).map_err(|reason| ConfigError::invalid(name, name, &reason))
    }

    /// A path, which need not be Unicode.
    pub(crate) fn path(&self, name: &str) -> Option<PathBuf> {
        self.0.get(name).map(PathBuf::from)
    }

    /// What programs that the service starts are given.
    pub(crate) fn for_children(&self) -> Vec<(String, OsString)> {
        let given = |name: &str| Some((name.to_owned(), self.0.get(name)?.clone()));
        FOR_CHILDREN.into_iter().filter_map(given).collect()
    }

    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.0
            .get(name)
            .map(OsString::as_os_str)
            .is_some_and(|value| value != OsStr::new(""))
    }
}

impl fmt::Debug for Environment {
    /// Names only: values may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
