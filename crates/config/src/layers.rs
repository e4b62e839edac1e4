//! The sources of settings at startup: flags, environment and file. Each source is validated.

mod sources;

use crate::alias::{canonical_key, renamed_warning};
use crate::environment::Environment;
use crate::error::ConfigError;
use crate::file::{self, FileValues};
use crate::invalid_value::InvalidValue;
use crate::key_table::env_name;
use crate::merge::Origin;
use crate::process::Process;
use serde_json::Value;
use sources::{FLAGS, data_dir, file_name, read_command_line, read_environment, read_file};
use std::collections::BTreeMap;
use std::fmt;
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
    /// The variables by canonical name. The key is the name, because the ID cannot be derived reliably from it.
    pub(crate) environment: BTreeMap<String, Variable>,
    pub(crate) file: FileValues,
    process: Process,
    warnings: Vec<String>,
}

impl Layers {
    /// Reads all sources. Any mistake is an error, with which the service does not start.
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

    /// Returns warnings for the operator, one line each.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns the data directory as an absolute path.
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// Returns the path of the settings file, which need not exist.
    pub fn config_path(&self) -> &Path {
        &self.config_path
    }

    /// Returns the options that only the environment can set.
    pub fn process(&self) -> &Process {
        &self.process
    }

    /// Returns the source that prevents run-time changes of a key.
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
    /// Omits values, which may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Layers")
            .field("data_dir", &self.data_dir)
            .field("config_path", &self.config_path)
            .finish_non_exhaustive()
    }
}
