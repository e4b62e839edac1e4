//! A snapshot of the process environment. No other module reads the environment.

use crate::error::ConfigError;
use crate::invalid_value::InvalidValue;
use crate::key::KeySpec;
use crate::key_table::{canonical_variable, describe};
use crate::value::flag;
use secrecy::SecretString;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;
use zeroize::Zeroize;

/// Second names of settings.
const ALIASES: [(&str, &str); 2] = [
    ("SERVICE_DATABASE_URL", "SERVICE_DATABASE__URL"),
    ("SERVICE_LOG", "SERVICE_LOG__LEVEL"),
];

/// Set when the secret variables were moved from the environment to standard input.
const ON_STDIN: &str = "GATEHOUSE_SECRETS_ON_STDIN";

/// Variables that contain a secret but are not settings.
const SECRETS: [&str; 4] = [
    "SERVICE_VAULT_AUTO_UNSEAL_KEY",
    "SERVICE_API_KEY",
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
];

/// Variables outside `SERVICE_*` that Gatehouse reads.
const FOREIGN: [&str; 12] = [
    ON_STDIN,
    "PATH",
    "HOME",
    "LANG",
    "TZ",
    "XDG_DATA_HOME",
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "NO_COLOR",
    "NOTIFY_SOCKET",
    "WATCHDOG_USEC",
    "WATCHDOG_PID",
];

/// The variables that are passed on to child processes.
pub(crate) const FOR_CHILDREN: [&str; 4] = ["PATH", "HOME", "LANG", "TZ"];

/// `SERVICE_*` variables that are not settings, or are second names of settings.
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

/// A copy of the environment. Contains only the variables that Gatehouse uses. An empty value counts as unset. The
/// values are wiped on drop.
pub struct Environment(BTreeMap<String, OsString>);

impl Drop for Environment {
    fn drop(&mut self) {
        for value in self.0.values_mut() {
            std::mem::take(value).into_encoded_bytes().zeroize();
        }
    }
}

impl Environment {
    /// Reads the environment of this process.
    pub fn from_process() -> Self {
        Self::from_pairs(std::env::vars_os())
    }

    /// Builds an environment from pairs.
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

    /// Returns the variables whose value is a secret: a key of the vault or of a service, a database URL other than
    /// `sqlite:` (which may contain a password), or a secret setting.
    pub fn secrets(&self) -> impl Iterator<Item = (&str, &OsStr)> {
        let all = self.0.iter();
        let pairs = all.map(|(name, value)| (name.as_str(), value.as_os_str()));
        pairs.filter(|(name, value)| is_secret(name, value))
    }

    /// Returns whether the secret variables of this process were moved to its standard input.
    pub fn secrets_are_on_stdin(&self) -> bool {
        self.0.contains_key(ON_STDIN)
    }

    /// Returns the name and the value that [`Environment::secrets_are_on_stdin`] expects.
    pub const fn on_stdin() -> (&'static str, &'static str) {
        (ON_STDIN, "1")
    }

    /// Adds the variables that were moved to standard input.
    pub fn extend<K, V>(&mut self, pairs: impl IntoIterator<Item = (K, V)>)
    where
        K: Into<OsString>,
        V: Into<OsString>,
    {
        self.0.append(&mut Self::from_pairs(pairs).0);
    }

    /// Returns the names that begin with `SERVICE_`.
    pub(crate) fn own_names(&self) -> impl Iterator<Item = &str> {
        self.0
            .keys()
            .map(String::as_str)
            .filter(|name| name.starts_with("SERVICE_"))
    }

    /// Returns a variable's text. A blank value counts as unset.
    pub(crate) fn text(&self, name: &str) -> Result<Option<&str>, ConfigError> {
        let Some(value) = self.0.get(name) else {
            return Ok(None);
        };
        let text = value.to_str().ok_or_else(|| {
            ConfigError::invalid(name, name, &InvalidValue::new("expected UTF-8 text"))
        })?;
        Ok(Some(text).filter(|text| !text.trim().is_empty()))
    }

    /// Returns a secret without surrounding white space.
    pub(crate) fn secret(&self, name: &str) -> Result<Option<SecretString>, ConfigError> {
        Ok(self.text(name)?.map(|text| SecretString::from(text.trim())))
    }

    /// Returns a boolean. Returns `false` if the variable is unset.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, ConfigError> {
        let Some(text) = self.text(name)? else {
            return Ok(false);
        };
        flag(text.trim()).map_err(|reason| ConfigError::invalid(name, name, &reason))
    }

    /// Returns a path, which need not be Unicode.
    pub(crate) fn path(&self, name: &str) -> Option<PathBuf> {
        self.0.get(name).map(PathBuf::from)
    }

    /// Returns the variables that are passed on to child processes.
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

fn is_secret(name: &str, value: &OsStr) -> bool {
    if SECRETS.contains(&name) {
        return true;
    }
    match setting_of_variable(name) {
        Some(spec) if spec.key == "database.url" => {
            !value.as_encoded_bytes().starts_with(b"sqlite:")
        }
        Some(spec) => spec.is_secret(),
        None => false,
    }
}

impl fmt::Debug for Environment {
    /// Prints only names, because values may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Returns the setting that a variable sets. The variable may have any of its names.
fn setting_of_variable(name: &str) -> Option<&'static KeySpec> {
    spec_of_variable(&proper_name(name))
}

/// Returns the main variable of the setting for a second or an old name.
pub(crate) fn proper_name(name: &str) -> Cow<'_, str> {
    ALIASES
        .iter()
        .find(|(alias, _)| *alias == name)
        .map_or_else(|| canonical_variable(name), |pair| pair.1.into())
}

pub(crate) fn spec_of_variable(name: &str) -> Option<&'static KeySpec> {
    describe()
        .iter()
        .find(|spec| spec.key_of_env(name).is_some())
}

#[cfg(test)]
mod tests;
