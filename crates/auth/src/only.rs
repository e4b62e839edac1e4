//! The `only` list of a credential: the methods and paths that it may call. A pattern is a name such as
//! `webhooks.deliveries` or `/metrics`, or a prefix: `tts.*`, `/v1/audio/*`. Paths are written as in the route table,
//! with parameters in braces. The binary registers the existing names once.

mod targets;

use crate::api::KeyPreset;
use crate::error::AuthError;
use gatehouse_store::StoreError;
use std::fmt;

const FIELD: &str = "only";
/// The maximum number of patterns per credential.
const MAX_PATTERNS: usize = 64;

/// The patterns of one credential; at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Only(Vec<Pattern>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Pattern {
    Exactly(String),
    /// Matches names with this prefix, which ends in `.` or `/`.
    Below(String),
}

impl Pattern {
    fn parse(text: &str) -> Option<Self> {
        let below = if text.starts_with('/') { "/*" } else { ".*" };
        let (name, is_below) = match text.strip_suffix('*') {
            Some(name) if text.ends_with(below) => (name, true),
            Some(_) => return None,
            None => (text, false),
        };
        let is_sound =
            !name.is_empty() && !name.contains('*') && !name.contains(char::is_whitespace);
        is_sound.then(|| {
            let name = name.to_owned();
            if is_below {
                Self::Below(name)
            } else {
                Self::Exactly(name)
            }
        })
    }

    fn matches(&self, name: &str) -> bool {
        match self {
            Self::Exactly(own) => own == name,
            Self::Below(start) => name.starts_with(start),
        }
    }

    /// Returns whether this pattern matches everything that the other pattern matches.
    fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Exactly(_), Self::Below(_)) => false,
            (_, Self::Exactly(name) | Self::Below(name)) => self.matches(name),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exactly(name) => f.write_str(name),
            Self::Below(start) => write!(f, "{start}*"),
        }
    }
}

impl Only {
    fn parse(texts: &[String]) -> Result<Self, AuthError> {
        if !(1..=MAX_PATTERNS).contains(&texts.len()) {
            let reason =
                format!("1 to {MAX_PATTERNS} patterns; omit the field to allow everything");
            return Err(AuthError::field(FIELD, reason));
        }
        let patterns = texts.iter().map(|text| {
            Pattern::parse(text).ok_or_else(|| {
                let text = text.escape_debug();
                let reason = format!("`{text}` is not a pattern such as `tts.*` or `/v1/audio/*`");
                AuthError::field(FIELD, reason)
            })
        });
        patterns.collect::<Result<_, _>>().map(Self)
    }

    pub(crate) fn from_row(
        texts: Option<&[String]>,
        what: &'static str,
    ) -> Result<Option<Self>, StoreError> {
        // A damaged list must not be treated as unrestricted.
        let parsed =
            texts.map(|texts| Self::parse(texts).map_err(|_| StoreError::Damaged { what }));
        parsed.transpose()
    }

    /// Returns whether a pattern matches this method, or this path of the route table.
    pub fn allows(&self, name: &str) -> bool {
        self.0.iter().any(|pattern| pattern.matches(name))
    }

    /// Returns whether these patterns allow everything that the other patterns allow.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        let covered = |pattern: &Pattern| self.0.iter().any(|own| own.covers(pattern));
        other.0.iter().all(covered)
    }

    /// Returns the patterns as given.
    pub fn to_texts(&self) -> Vec<String> {
        self.0.iter().map(Pattern::to_string).collect()
    }
}

/// What a type of credential can call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetKinds {
    MethodsAndPaths,
    /// Methods. A device only opens sockets and calls no paths.
    Methods,
}

/// The names that `only` can contain in this build.
#[derive(Clone, Debug, Default)]
pub struct Targets {
    /// Every method.
    pub methods: Vec<&'static str>,
    /// Every path that requires a credential.
    pub paths: Vec<&'static str>,
    /// Suggested keys for one purpose.
    pub presets: Vec<KeyPreset>,
}

#[cfg(test)]
mod tests;
