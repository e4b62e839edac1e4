//! Tests across the sources: precedence, mistakes, run-time changes, and values derived from the table.

mod mistakes;
mod precedence;
mod run_time;
mod table;

use crate::{ConfigError, Environment, Invocation, Layers, Resolved};
use serde_json::Value;
use std::collections::BTreeMap;
use tempfile::TempDir;

/// The input of one start: a file's text, variables and flags.
pub(crate) struct Start {
    dir: TempDir,
    variables: Vec<(String, String)>,
    pub(crate) invocation: Invocation,
}

impl Start {
    pub(crate) fn with_toml(text: &str) -> Self {
        let start = Self::empty();
        write(&start.dir.path().join("gatehouse.toml"), text);
        start
    }

    pub(crate) fn empty() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            variables: Vec::new(),
            invocation: Invocation::default(),
        }
    }

    pub(crate) fn var(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn load(&self) -> Result<Layers, ConfigError> {
        let dir = self.dir.path().to_str().unwrap().to_owned();
        let own = std::iter::once(("SERVICE_DATA_DIR".to_owned(), dir));
        let environment = Environment::from_pairs(own.chain(self.variables.clone()));
        Layers::load(&environment, &self.invocation)
    }

    pub(crate) fn resolve(&self, overrides: &[(&str, Value)]) -> Resolved {
        self.load().unwrap().resolve(&map(overrides)).unwrap()
    }

    pub(crate) fn error(&self) -> ConfigError {
        self.load().unwrap_err()
    }
}

pub(crate) fn map(pairs: &[(&str, Value)]) -> BTreeMap<String, Value> {
    pairs
        .iter()
        .map(|(key, value)| ((*key).to_owned(), value.clone()))
        .collect()
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test's own file, nothing asynchronous"
)]
pub(crate) fn write(path: &std::path::Path, text: &str) {
    std::fs::write(path, text).unwrap();
}

/// Returns one key as shown: value and origin.
pub(crate) fn shown(resolved: &Resolved, key: &str) -> (Value, &'static str) {
    let values = resolved.values(Some(&[key.to_owned()]));
    assert_eq!(values.len(), 1, "{key}");
    (values[0].value.clone(), values[0].origin.as_str())
}
