//! Finds and replaces the names of secrets in texts.

use super::{CLOSE, OPEN};
use gatehouse_agents::ToolError;
use secrecy::{ExposeSecret, SecretString};
use std::borrow::Cow;
use std::collections::BTreeSet;
use url::Url;

/// Returns whether a text, or a part of a URL, names secrets.
pub(crate) fn names_secrets(text: &str) -> bool {
    braces(text).contains(OPEN)
}

/// Decodes the percent-encoded braces in a URL's path.
pub(super) fn braces(text: &str) -> Cow<'_, str> {
    if text.contains("%7B%7B") {
        Cow::Owned(text.replace("%7B%7B", "{{").replace("%7D%7D", "}}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Returns the secrets that the path and the query of a URL and the values of headers name. Omits a name without an
/// end.
pub(crate) fn named_secrets<'t>(
    url: &Url,
    headers: impl Iterator<Item = &'t str>,
) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    // The error is reported when the text is sent.
    let mut note = |text: &str| drop(names_in(text, &mut names));
    note(&braces(url.path()));
    if let Some(query) = url.query() {
        note(&braces(query));
    }
    for value in headers {
        note(value);
    }
    names
}

pub(super) fn names_in(text: &str, names: &mut BTreeSet<String>) -> Result<(), ToolError> {
    for after in text.split(OPEN).skip(1) {
        let name = after.split_once(CLOSE).map(|(name, _)| name);
        let is_name = |name: &&str| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        let name = name.filter(is_name).ok_or_else(|| {
            ToolError::new(
                "A secret is named like this: {{secret:NAME}}, with letters, digits and _.",
            )
        })?;
        names.insert(name.to_owned());
    }
    Ok(())
}

pub(super) fn replace(
    text: &str,
    values: &[(String, SecretString)],
    encode: fn(&str) -> String,
) -> String {
    let mut parts = text.split(OPEN);
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let Some((name, rest)) = part.split_once(CLOSE) else {
            continue;
        };
        if let Some((_, value)) = values.iter().find(|(key, _)| key == name) {
            filled.push_str(&encode(value.expose_secret()));
        }
        filled.push_str(rest);
    }
    filled
}
