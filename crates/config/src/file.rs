//! Reads the TOML file into dotted keys with their line numbers.

use crate::alias::{canonical_key, canonical_path, other_spelling, renamed};
use crate::error::ConfigError;
use crate::invalid_value::InvalidValue;
use crate::key::{ID, KeySpec, is_valid_id};
use crate::key_table::describe;
use crate::suggest;
use crate::value::from_json;
use serde_json::Value;
use std::collections::BTreeMap;
use toml::de::{DeTable, DeValue};

/// A value and its line.
pub(crate) struct Located {
    pub(crate) value: Value,
    pub(crate) line: usize,
    /// The old name, if the file uses it.
    pub(crate) old_name: Option<String>,
}

/// The settings of a file by dotted key.
pub(crate) type FileValues = BTreeMap<String, Located>;

/// Parses a file's text. Reports the first mistake if there are several.
pub(crate) fn read(name: &str, text: &str) -> Result<FileValues, ConfigError> {
    let document = DeTable::parse(text).map_err(|error| {
        // Uses only the message: the full text of the error quotes the line, which may contain a secret.
        let line = error.span().map(|span| line_at(text, span.start));
        ConfigError::new(
            name,
            error.message().lines().next().unwrap_or("not valid TOML"),
        )
        .at(line)
    })?;
    let mut walk = Walk {
        name,
        text,
        values: BTreeMap::new(),
        errors: Vec::new(),
    };
    walk.table(document.get_ref(), &mut Vec::new());
    match walk.errors.into_iter().min_by_key(|error| error.line) {
        Some(error) => Err(error),
        None => Ok(walk.values),
    }
}

fn line_at(text: &str, offset: usize) -> usize {
    text.bytes()
        .take(offset)
        .filter(|byte| *byte == b'\n')
        .count()
        + 1
}

/// The meaning of a path in the table of settings.
enum PathTarget {
    Setting(&'static KeySpec),
    Section,
    BadId,
    Nothing,
}

fn target_of(path: &[String]) -> PathTarget {
    let mut target = PathTarget::Nothing;
    for spec in describe() {
        let parts: Vec<&str> = spec.key.split('.').collect();
        let fits = parts.len() >= path.len()
            && path
                .iter()
                .zip(&parts)
                .all(|(given, part)| *part == ID || given == part);
        if !fits {
            continue;
        }
        if path
            .iter()
            .zip(&parts)
            .any(|(given, part)| *part == ID && !is_valid_id(given))
        {
            target = PathTarget::BadId;
        } else if parts.len() == path.len() {
            return PathTarget::Setting(spec);
        } else {
            return PathTarget::Section;
        }
    }
    target
}

struct Walk<'t> {
    name: &'t str,
    text: &'t str,
    values: FileValues,
    errors: Vec<ConfigError>,
}

impl Walk<'_> {
    fn table(&mut self, table: &DeTable<'_>, path: &mut Vec<String>) {
        for (key, value) in table {
            path.push(key.get_ref().to_string());
            let line = line_at(self.text, key.span().start);
            self.entry(value.get_ref(), path, line);
            path.pop();
        }
    }

    fn entry(&mut self, value: &DeValue<'_>, path: &mut Vec<String>, line: usize) {
        let key = path.join(".");
        let checked = match (target_of(&canonical_path(path)), value) {
            (PathTarget::Section, DeValue::Table(table)) => return self.table(table, path),
            (PathTarget::Setting(spec), value) => from_json(spec.kind, &to_json(value)),
            (PathTarget::Section, _) => Err(InvalidValue::new("expected a table")),
            (PathTarget::BadId, _) => Err(InvalidValue::new(
                "a name has 1 to 64 letters, digits, underscores, dots or hyphens",
            )),
            (PathTarget::Nothing, value) => {
                let near = match value {
                    DeValue::Table(_) => suggest::section(&key),
                    _ => suggest::key(&key),
                };
                let error = ConfigError::unknown(self.name, "key", &key, near);
                return self.errors.push(error.at(Some(line)));
            }
        };
        match checked {
            Ok(value) => {
                let old_name = renamed(&key).map(|_| key.clone());
                let located = Located {
                    value,
                    line,
                    old_name,
                };
                self.insert(&key, located);
            }
            Err(reason) => {
                let error = ConfigError::invalid(self.name, &key, &reason);
                self.errors.push(error.at(Some(line)));
            }
        }
    }

    /// Stores a value under its canonical key. Reports a key that is present in both spellings.
    fn insert(&mut self, key: &str, located: Located) {
        let canonical = canonical_key(key).into_owned();
        let line = located.line;
        if let (Some(earlier), Some(other)) =
            (self.values.insert(canonical, located), other_spelling(key))
        {
            let error = ConfigError::twice(self.name, key, &other);
            self.errors.push(error.at(Some(line.max(earlier.line))));
        }
    }
}

/// Converts a TOML value. Values without a JSON equivalent become `null`, which no setting accepts.
fn to_json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Integer(number) => {
            i64::from_str_radix(number.as_str(), number.radix()).map_or(Value::Null, Value::from)
        }
        DeValue::Boolean(flag) => Value::Bool(*flag),
        DeValue::Array(items) => items.iter().map(|item| to_json(item.get_ref())).collect(),
        DeValue::Table(table) => {
            let pairs = table.iter();
            let pairs =
                pairs.map(|(key, value)| (key.get_ref().to_string(), to_json(value.get_ref())));
            Value::Object(pairs.collect())
        }
        DeValue::Float(number) => number
            .as_str()
            .parse::<f64>()
            .map_or(Value::Null, Value::from),
        DeValue::Datetime(_) => Value::Null,
    }
}
