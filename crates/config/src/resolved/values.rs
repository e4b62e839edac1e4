//! Resolved settings as they are shown.

use super::{Resolved, SettingValue};
use crate::alias::canonical_key;
use crate::key::{KeySpec, MASK};
use crate::key_table::find_key;
use crate::merge::{Entry, Origin};
use crate::section::database::DatabaseUrl;
use serde_json::{Value, json};
use std::fmt;
use url::Url;

impl Resolved {
    /// Returns the origin of a key's value.
    pub fn origin(&self, key: &str) -> Origin {
        self.merged
            .get(&*canonical_key(key))
            .map_or(Origin::Default, |entry| entry.origin)
    }

    /// Returns `server.external_url` if it is configured, and `None` for its default. Callers use the URL for
    /// restrictions. The default contains only one of the certificate's names, and a port that browsers and senders
    /// may not use, so it must not restrict anything.
    pub fn configured_external_url(&self) -> Option<&Url> {
        let url = self.settings.server.external_url.as_ref();
        url.filter(|_| self.origin("server.external_url") != Origin::Default)
    }

    /// Returns the origin of every value.
    pub fn origins(&self) -> impl Iterator<Item = (&str, Origin)> {
        self.merged
            .iter()
            .map(|(key, entry)| (key.as_str(), entry.origin))
    }

    /// Returns the settings as shown: all, or those named by key or section. Skips unknown keys;
    /// [`crate::check_key`] rejects them.
    pub fn values(&self, keys: Option<&[String]>) -> Vec<SettingValue> {
        let Some(keys) = keys else {
            return self
                .merged
                .iter()
                .map(|(key, entry)| shown(key, entry))
                .collect();
        };
        let mut values = Vec::new();
        for key in keys {
            let key = &*canonical_key(key);
            let below = format!("{key}.");
            let mut found = self
                .merged
                .iter()
                .filter(|(k, _)| k.as_str() == key || k.starts_with(&below));
            values.extend(found.by_ref().map(|(key, entry)| shown(key, entry)));
            if let (None, Some(spec)) = (self.merged.get(key), find_key(key)) {
                let entry = Entry {
                    value: spec.default_json(),
                    origin: Origin::Default,
                };
                values.push(shown(key, &entry));
            }
        }
        values
    }
}

fn shown(key: &str, entry: &Entry) -> SettingValue {
    let secret = find_key(key).is_none_or(KeySpec::is_secret);
    let value = match &entry.value {
        Value::Null => Value::Null,
        // An empty list contains no secret. A mask would suggest that a value is set.
        Value::Array(items) if secret && items.is_empty() => Value::Null,
        _ if secret => json!(MASK),
        Value::String(text) if key == "database.url" && entry.origin != Origin::Default => text
            .parse::<DatabaseUrl>()
            .map_or(json!(MASK), |url| json!(url.to_string())),
        value => value.clone(),
    };
    SettingValue {
        key: key.to_owned(),
        value,
        origin: entry.origin,
        secret,
    }
}

impl fmt::Debug for Resolved {
    /// Omits values, which may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resolved")
            .field("shadowed", &self.shadowed)
            .field("warnings", &self.warnings)
            .finish_non_exhaustive()
    }
}
