//! Merges the sources with the run-time changes into the effective settings and their origins.

mod values;

use crate::alias::canonical_key;
use crate::error::ConfigError;
use crate::key::{Change, ID, KeySpec, section_of};
use crate::key_table::{describe, env_name, find_key};
use crate::layers::Layers;
use crate::merge::{Entry, InvalidSetting, Merged, Origin, Reader};
use crate::section::database;
use crate::section::{Settings, models};
use crate::value::from_json;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The effective settings.
pub struct Resolved {
    pub settings: Settings,
    /// Keys whose value in the file is overridden by a source of higher precedence.
    pub shadowed: Vec<String>,
    /// Skipped run-time changes, one line each.
    pub warnings: Vec<String>,
    merged: Merged,
}

/// One setting, as shown to the operator.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SettingValue {
    /// Dotted key.
    pub key: String,
    /// Masked if the setting is secret; `null` if unset.
    pub value: Value,
    pub origin: Origin,
    pub secret: bool,
}

/// The values at startup of the settings with [`Change::Restart`].
pub struct StartValues(BTreeMap<String, Value>);

impl StartValues {
    /// Stores the settings that the process starts with.
    pub fn of(resolved: &Resolved) -> Self {
        let is_of_start =
            |key: &str| find_key(key).is_some_and(|spec| matches!(spec.change, Change::Restart));
        let values = resolved.merged.iter();
        let values = values.filter(|(key, _)| is_of_start(key));
        Self(
            values
                .map(|(key, entry)| (key.clone(), entry.value.clone()))
                .collect(),
        )
    }

    /// Returns the keys of the settings that now have a different value. The new values take effect at the next
    /// start.
    pub fn changed(&self, now: &Resolved) -> Vec<String> {
        let now = Self::of(now).0;
        let keys: BTreeSet<&String> = self.0.keys().chain(now.keys()).collect();
        let changed = keys
            .into_iter()
            .filter(|key| self.0.get(*key) != now.get(*key));
        changed.cloned().collect()
    }
}

impl fmt::Debug for StartValues {
    /// Omits values, which may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StartValues").finish_non_exhaustive()
    }
}

impl Layers {
    /// Merges the run-time changes (table `settings`, by dotted key) between environment and file. Skips a change
    /// that is no longer valid, with a warning, because it must not prevent a start.
    pub fn resolve(&self, overrides: &BTreeMap<String, Value>) -> Result<Resolved, ConfigError> {
        let (mut accepted, mut warnings) = accept(overrides);
        loop {
            let merged = self.merge(&accepted);
            match Settings::read(&Reader::new(&merged, &self.data_dir)) {
                Ok(settings) => {
                    let shadowed = self.file.keys().filter(|key| {
                        merged
                            .get(*key)
                            .is_some_and(|entry| entry.origin < Origin::Toml)
                    });
                    let shadowed = shadowed.cloned().collect();
                    return Ok(Resolved {
                        settings,
                        shadowed,
                        warnings,
                        merged,
                    });
                }
                Err(bad) => {
                    // The values are invalid in combination. Without the stored changes, the section has the values
                    // that were validated at startup.
                    let before = accepted.len();
                    accepted.retain(|key, _| section_of(key) != section_of(&bad.key));
                    if accepted.len() == before {
                        return Err(self.error_at(&bad.key, &bad.reason));
                    }
                    warnings.push(skipped(&bad.key, &bad.reason.to_string()));
                }
            }
        }
    }

    /// Returns the settings from the command line, the environment and the file, without run-time changes.
    pub fn written(&self) -> Result<Resolved, ConfigError> {
        self.resolve(&BTreeMap::new())
    }

    /// Checks the settings with these changes applied.
    pub(crate) fn check_together(
        &self,
        changes: &BTreeMap<String, Value>,
    ) -> Result<(), InvalidSetting> {
        let merged = self.merge(changes);
        Settings::read(&Reader::new(&merged, &self.data_dir)).map(drop)
    }

    fn merge(&self, overrides: &BTreeMap<String, Value>) -> Merged {
        let mut merged = Merged::new();
        for key in self.keys(overrides) {
            let Some(spec) = find_key(&key) else { continue };
            let variable = env_name(&key).and_then(|name| self.environment.get(&name));
            let candidates = [
                (self.command_line.get(key.as_str()), Origin::CommandLine),
                (
                    variable.map(|variable| &variable.value),
                    Origin::Environment,
                ),
                (overrides.get(&key), Origin::Settings),
                (
                    self.file.get(&key).map(|located| &located.value),
                    Origin::Toml,
                ),
            ];
            let found = candidates.into_iter().find_map(|(value, origin)| {
                value.map(|value| Entry {
                    value: value.clone(),
                    origin,
                })
            });
            let default = || Entry {
                value: spec.default_json(),
                origin: Origin::Default,
            };
            merged.insert(key, found.unwrap_or_else(default));
        }
        models::fill_defaults(&mut merged);
        database::fill_defaults(&mut merged, &self.data_dir);
        merged
    }

    /// Returns every key: the fixed keys, and the pattern keys for each ID that a source uses.
    fn keys(&self, overrides: &BTreeMap<String, Value>) -> BTreeSet<String> {
        let fixed = describe().iter().filter(|spec| !spec.key.contains(ID));
        let mut keys: BTreeSet<String> = fixed.map(|spec| spec.key.to_owned()).collect();
        for key in self.file.keys().chain(overrides.keys()) {
            keys.extend(siblings(key));
        }
        // A variable applies to every known ID with its environment spelling. If there is none, it defines a new
        // ID.
        let known: BTreeSet<String> = keys.iter().filter_map(|key| env_name(key)).collect();
        for name in self
            .environment
            .keys()
            .filter(|name| !known.contains(*name))
        {
            let key = describe().iter().find_map(|spec| spec.key_of_env(name));
            keys.extend(key.iter().flat_map(|key| siblings(key)));
        }
        keys
    }
}

/// Returns the keys with the same ID, including the key itself.
fn siblings(key: &str) -> Vec<String> {
    let Some((spec, id)) = describe()
        .iter()
        .find_map(|spec| spec.id_in(key).map(|id| (spec, id)))
    else {
        return Vec::new();
    };
    let family = |spec: &'static KeySpec| spec.key.split_once(ID).map(|(head, _)| head);
    let head = family(spec);
    let same = describe()
        .iter()
        .filter(|other| head.is_some() && family(other) == head);
    let mut keys: Vec<String> = same.map(|other| other.key.replace(ID, id)).collect();
    keys.push(key.to_owned());
    keys
}

fn skipped(key: &str, reason: &str) -> String {
    format!("the stored value of `{key}` is ignored: {reason}")
}

/// Returns the stored changes that are valid individually, and a warning for each of the others.
pub(crate) fn accept(
    overrides: &BTreeMap<String, Value>,
) -> (BTreeMap<String, Value>, Vec<String>) {
    let (mut accepted, mut warnings) = (BTreeMap::new(), Vec::new());
    for (key, value) in overrides.iter().filter(|(_, value)| !value.is_null()) {
        match find_key(key).map(|spec| (spec.change, from_json(spec.kind, value))) {
            None => warnings.push(skipped(key, "the setting does not exist")),
            Some((Change::Never(reason), _)) => warnings.push(skipped(key, reason)),
            Some((_, Err(reason))) => warnings.push(skipped(key, &reason.to_string())),
            Some((_, Ok(value))) => {
                accepted.insert(canonical_key(key).into_owned(), value);
            }
        }
    }
    (accepted, warnings)
}
