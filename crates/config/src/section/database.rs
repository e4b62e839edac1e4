//! `[database]`: the location of the data.

use crate::invalid_value::InvalidValue;
use crate::key::{Change, Guard, Initial, KeySpec, Kind, MASK, Rule};
use crate::merge::{InvalidSetting, Merged, Origin, Reader};
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use url::Url;

const KEY: &str = "database.url";

pub(crate) const KEYS: &[KeySpec] = &[KeySpec {
    key: KEY,
    kind: Kind::Text(Rule::DatabaseUrl),
    default: Initial::Unset,
    doc: "sqlite://path, or postgres://… for several nodes; by default gatehouse.db in the data \
          directory. SERVICE_DATABASE_URL also sets it.",
    example: "\"postgres://gatehouse@localhost/gatehouse\"",
    guard: Guard::StepUp,
    change: Change::Never(
        "the database cannot store its own URL; set it in the file or the environment",
    ),
}];

/// The section `[database]`.
pub struct Database {
    pub url: DatabaseUrl,
}

impl Database {
    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self, InvalidSetting> {
        let url = match reader.origin(KEY) {
            // Does not use the merged text, because a path need not be Unicode.
            Origin::Default => DatabaseUrl::Sqlite {
                path: default_path(reader.data_dir()),
            },
            _ => reader.required(KEY)?,
        };
        Ok(Self { url })
    }
}

fn default_path(data_dir: &Path) -> PathBuf {
    data_dir.join("gatehouse.db")
}

/// Fills in the default database URL.
pub(crate) fn fill_defaults(merged: &mut Merged, data_dir: &Path) {
    if let Some(entry) = merged.get_mut(KEY).filter(|entry| entry.value.is_null()) {
        entry.value = json!(format!("sqlite://{}", default_path(data_dir).display()));
    }
}

/// The database's location. Displayed without its password.
pub enum DatabaseUrl {
    Sqlite {
        path: PathBuf,
    },
    Postgres {
        /// The full URL, which may contain a password.
        url: SecretString,
    },
}

impl FromStr for DatabaseUrl {
    type Err = InvalidValue;

    /// Parses a database URL. The reason of an error never quotes the text, because it may contain a password.
    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        if let Some(rest) = text.strip_prefix("sqlite:") {
            return sqlite(rest.strip_prefix("//").unwrap_or(rest));
        }
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            Url::parse(text).map_err(|_| InvalidValue::new("the URL cannot be parsed"))?;
            return Ok(Self::Postgres {
                url: SecretString::from(text),
            });
        }
        Err(InvalidValue::new(
            "expected sqlite://path or postgres://user@host/name",
        ))
    }
}

fn sqlite(rest: &str) -> Result<DatabaseUrl, InvalidValue> {
    let (path, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    if !matches!(parameters, "" | "mode=rwc") {
        return Err(InvalidValue::new(
            "parameters are not supported in SQLite URLs",
        ));
    }
    if path == ":memory:" {
        return Err(InvalidValue::new(
            "an in-memory database would lose all data at every stop",
        ));
    }
    match percent_decoded(path) {
        Some(path) if !path.is_empty() && !path.contains('\0') => Ok(DatabaseUrl::Sqlite {
            path: PathBuf::from(path),
        }),
        _ => Err(InvalidValue::new("expected a path after sqlite://")),
    }
}

/// Decodes percent escapes. For example, `%3F` in a URL is `?` in the path.
fn percent_decoded(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let hex = part
            .get(..2)
            .filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()))?;
        bytes.push(u8::from_str_radix(hex, 16).ok()?);
        bytes.extend_from_slice(part.as_bytes().get(2..)?);
    }
    String::from_utf8(bytes).ok()
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite { path } => write!(f, "sqlite://{}", path.display()),
            Self::Postgres { url } => f.write_str(&without_password(url.expose_secret())),
        }
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DatabaseUrl({self})")
    }
}

/// Masks passwords in the part before the host and in the query.
fn without_password(text: &str) -> String {
    let Ok(url) = Url::parse(text) else {
        return MASK.to_owned();
    };
    let mut shown = format!("{}://", url.scheme());
    if !url.username().is_empty() || url.password().is_some() {
        shown.push_str(url.username());
        if url.password().is_some() {
            shown.push(':');
            shown.push_str(MASK);
        }
        shown.push('@');
    }
    shown.push_str(url.host_str().unwrap_or_default());
    if let Some(port) = url.port() {
        let _ = write!(shown, ":{port}");
    }
    shown.push_str(url.path());
    for (index, pair) in url
        .query()
        .into_iter()
        .flat_map(|query| query.split('&'))
        .enumerate()
    {
        shown.push(if index == 0 { '?' } else { '&' });
        match pair.split_once('=') {
            // A percent-encoded name can stand for any name, so its value is masked.
            Some((name, _)) if name.to_ascii_lowercase().contains("pass") || name.contains('%') => {
                let _ = write!(shown, "{name}={MASK}");
            }
            _ => shown.push_str(pair),
        }
    }
    shown
}

#[cfg(test)]
mod tests;
