//! The sources of settings at start: flags, environment and file, each validated.

use crate::alias::{RENAMED, canonical_key, other_variable, renamed_warning};
use crate::environment::{Environment, NAMES, proper_name, spec_of_variable};
use crate::error::ConfigError;
use crate::file::{self, FileValues};
use crate::invalid_value::InvalidValue;
use crate::key_table::{describe, env_name, find_key};
use crate::merge::Origin;
use crate::nearest;
use crate::process::Process;
use crate::value::from_text;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The command-line flags. They take precedence over all other sources.
#[derive(Default)]
pub struct Invocation {
    /// `--config`
    pub config: Option<PathBuf>,
    /// `--data-dir`
    pub data_dir: Option<PathBuf>,
    /// `--bind`
    pub bind: Option<String>,
    /// `--database-url`
    pub database_url: Option<String>,
}

impl fmt::Debug for Invocation {
    /// Omits the database URL, which may contain a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Invocation")
            .field("config", &self.config)
            .field("data_dir", &self.data_dir)
            .field("bind", &self.bind)
            .finish_non_exhaustive()
    }
}

/// A variable's value and its name, which may be an alias.
pub(crate) struct Variable {
    pub(crate) value: Value,
    pub(crate) name: String,
}

/// The sources of settings, validated separately and together.
pub struct Layers {
    pub(crate) data_dir: PathBuf,
    pub(crate) config_path: PathBuf,
    pub(crate) command_line: BTreeMap<&'static str, Value>,
    /// Keyed by the variable's canonical name, because the ID cannot be recovered from it reliably.
    pub(crate) environment: BTreeMap<String, Variable>,
    pub(crate) file: FileValues,
    process: Process,
    warnings: Vec<String>,
}

impl Layers {
    /// Reads all sources. Any mistake is an error: the service does not start.
    pub fn load(environment: &Environment, invocation: &Invocation) -> Result<Self, ConfigError> {
        let data_dir = data_dir(environment, invocation)?;
        let named = invocation
            .config
            .clone()
            .or_else(|| environment.path("SERVICE_CONFIG"));
        let config_path = named
            .clone()
            .unwrap_or_else(|| data_dir.join("gatehouse.toml"));
        let mut warnings = Vec::new();
        let text = read_file(&config_path)?;
        if text.is_none() && named.is_some() {
            let shown = config_path.display();
            warnings.push(format!(
                "the file {shown} does not exist; the defaults apply"
            ));
        }
        let file = file::read(&file_name(&config_path), &text.unwrap_or_default())?;
        for (key, located) in &file {
            if let Some(old) = &located.old_name {
                let place = file_name(&config_path);
                warnings.push(renamed_warning(&place, old, key));
            }
        }
        let layers = Self {
            command_line: read_command_line(invocation)?,
            environment: read_environment(environment, &mut warnings)?,
            process: Process::read(environment)?,
            data_dir,
            config_path,
            file,
            warnings,
        };
        layers.resolve(&BTreeMap::new())?;
        Ok(layers)
    }

    /// Warnings for the operator, one line each.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The data directory, as an absolute path.
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// The settings file; it need not exist.
    pub fn config_path(&self) -> &Path {
        &self.config_path
    }

    /// The options that only the environment can set.
    pub fn process(&self) -> &Process {
        &self.process
    }

    /// The source that prevents run-time changes of a key.
    pub fn fixed_by(&self, key: &str) -> Option<Origin> {
        if self.command_line.contains_key(&*canonical_key(key)) {
            return Some(Origin::CommandLine);
        }
        let name = env_name(key)?;
        self.environment
            .contains_key(&name)
            .then_some(Origin::Environment)
    }

    /// Builds an error that names the source of the value.
    pub fn error_at(&self, key: &str, reason: &InvalidValue) -> ConfigError {
        let variable = env_name(key).and_then(|name| self.environment.get(&name));
        if let Some(flag) = FLAGS.iter().find(|flag| flag.1 == key).map(|flag| flag.0)
            && self.command_line.contains_key(key)
        {
            ConfigError::invalid(flag, key, reason)
        } else if let Some(variable) = variable {
            ConfigError::invalid(&variable.name, key, reason)
        } else {
            let line = self.file.get(key).map(|located| located.line);
            ConfigError::invalid(&file_name(&self.config_path), key, reason).at(line)
        }
    }
}

impl fmt::Debug for Layers {
    /// Omits values: they may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Layers")
            .field("data_dir", &self.data_dir)
            .field("config_path", &self.config_path)
            .finish_non_exhaustive()
    }
}

fn data_dir(environment: &Environment, invocation: &Invocation) -> Result<PathBuf, ConfigError> {
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

fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned()
}

#[expect(
    clippy::disallowed_methods,
    reason = "read once, before anything asynchronous runs"
)]
fn read_file(path: &Path) -> Result<Option<String>, ConfigError> {
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
        // The directory of the path may be the reason.
        Err(error) => Err(ConfigError::new(
            path.display().to_string(),
            format!("cannot be read: {error}"),
        )),
    }
}

/// The flags that set a key.
const FLAGS: [(&str, &str); 2] = [
    ("--bind", "server.bind"),
    ("--database-url", "database.url"),
];

fn read_command_line(
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

fn read_environment(
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
        // The short name wins: the documentation uses it. Two names of one provider are an error.
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

/// A name with `__` is meant for Gatehouse, so an unknown one is an error. Others may belong to
/// something else (Kubernetes sets such names) and cause only a warning.
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
