//! Reads the file, the command line and the environment.

use super::{Invocation, Variable};
use crate::alias::{RENAMED, other_variable, renamed_warning};
use crate::environment::{Environment, NAMES, proper_name, spec_of_variable};
use crate::error::ConfigError;
use crate::key_table::{describe, find_key};
use crate::nearest;
use crate::value::from_text;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

pub(super) fn data_dir(
    environment: &Environment,
    invocation: &Invocation,
) -> Result<PathBuf, ConfigError> {
    // The XDG specification requires ignoring relative paths.
    let xdg = || {
        environment
            .path("XDG_DATA_HOME")
            .filter(|path| path.is_absolute())
    };
    let home = || {
        environment
            .path("HOME")
            .map(|home| home.join(".local/share"))
    };
    let chosen = invocation
        .data_dir
        .clone()
        .or_else(|| environment.path("SERVICE_DATA_DIR"))
        .or_else(|| xdg().or_else(home).map(|share| share.join("gatehouse")))
        .ok_or_else(|| {
            ConfigError::new(
                "environment",
                "no data directory: set --data-dir or SERVICE_DATA_DIR",
            )
        })?;
    std::path::absolute(&chosen)
        .map_err(|_| ConfigError::new("--data-dir", "the path of the data directory is not valid"))
}

pub(super) fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned()
}

#[expect(
    clippy::disallowed_methods,
    reason = "read once, before anything asynchronous runs"
)]
pub(super) fn read_file(path: &Path) -> Result<Option<String>, ConfigError> {
    let fail = |reason: String| Err(ConfigError::new(file_name(path), reason));
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound && path.is_symlink() => {
            fail("this is a link to a file that does not exist".to_owned())
        }
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) if error.kind() == ErrorKind::InvalidData => fail("not UTF-8 text".to_owned()),
        // The directory in the path may cause the error, so the error names the path.
        Err(error) => Err(ConfigError::new(
            path.display().to_string(),
            format!("cannot be read: {error}"),
        )),
    }
}

/// The flags that set a key.
pub(super) const FLAGS: [(&str, &str); 2] = [
    ("--bind", "server.bind"),
    ("--database-url", "database.url"),
];

pub(super) fn read_command_line(
    invocation: &Invocation,
) -> Result<BTreeMap<&'static str, Value>, ConfigError> {
    let mut values = BTreeMap::new();
    for ((flag, key), given) in FLAGS
        .into_iter()
        .zip([&invocation.bind, &invocation.database_url])
    {
        if let (Some(text), Some(spec)) = (given, find_key(key)) {
            let value = from_text(spec.kind, text)
                .map_err(|reason| ConfigError::invalid(flag, key, &reason))?;
            values.insert(key, value);
        }
    }
    Ok(values)
}

pub(super) fn read_environment(
    environment: &Environment,
    warnings: &mut Vec<String>,
) -> Result<BTreeMap<String, Variable>, ConfigError> {
    let mut variables: BTreeMap<String, Variable> = BTreeMap::new();
    for name in environment.own_names() {
        let proper = proper_name(name);
        let Some(spec) = spec_of_variable(&proper) else {
            unknown_variable(name, warnings)?;
            continue;
        };
        let Some(text) = environment.text(name)? else {
            continue;
        };
        let value = from_text(spec.kind, text)
            .map_err(|reason| ConfigError::invalid(name, name, &reason))?;
        let variable = Variable {
            value,
            name: name.to_owned(),
        };
        // The short name has precedence, because the documentation uses it. Two names of one provider are an error.
        let (winner, loser) = match variables.remove(&*proper) {
            None => (variable, None),
            Some(earlier) if other_variable(spec).is_some() => {
                return Err(ConfigError::twice(
                    "environment",
                    &variable.name,
                    &earlier.name,
                ));
            }
            Some(earlier) if proper == name => (earlier, Some(variable)),
            Some(earlier) => (variable, Some(earlier)),
        };
        if let Some(loser) = loser.filter(|loser| loser.value != winner.value) {
            warnings.push(format!(
                "{} takes precedence over {}",
                winner.name, loser.name
            ));
        }
        if RENAMED.iter().any(|(_, new)| *new == spec.key) && winner.name != *proper {
            warnings.push(renamed_warning("environment", &winner.name, &proper));
        }
        variables.insert(proper.into_owned(), winner);
    }
    Ok(variables)
}

/// Handles an unknown variable. A name with `__` is meant for Gatehouse, so an unknown one is an error. Other names
/// may belong to another program (Kubernetes sets such names) and cause only a warning.
fn unknown_variable(name: &str, warnings: &mut Vec<String>) -> Result<(), ConfigError> {
    if NAMES.contains(&name) {
        return Ok(());
    }
    if name.contains("__") {
        let known: Vec<String> = describe()
            .iter()
            .flat_map(|spec| [Some(spec.env_name("<ID>")), other_variable(spec)])
            .flatten()
            .collect();
        let near = nearest::nearest(name, known.iter().map(String::as_str));
        return Err(ConfigError::unknown("environment", "variable", name, near));
    }
    let near = nearest::close(name, NAMES)
        .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    warnings.push(format!(
        "environment: unknown variable `{name}` is ignored{near}"
    ));
    Ok(())
}
