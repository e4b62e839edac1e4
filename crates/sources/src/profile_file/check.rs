//! Checks of single members.

use super::{Mistake, mistake};
use crate::event::carries_credential;
use http::HeaderName;

/// Maximum length of an ID, in bytes.
pub(super) const MAX_ID: usize = 32;
/// Maximum length of a line of text, in characters.
pub(super) const MAX_LINE: usize = 300;
/// Maximum length of the guide, in characters.
pub(super) const MAX_GUIDE: usize = 8_000;
/// Maximum number of elements of a list.
pub(super) const MAX_ITEMS: usize = 200;
/// Headers without secrets whose names suggest a secret: Bitbucket's event type, and the usual names for an ID.
const NO_SECRETS: [&str; 3] = ["x-event-key", "idempotency-key", "x-idempotency-key"];
/// Allowed tolerances, in seconds.
pub(super) const TOLERANCES: std::ops::RangeInclusive<i64> = 1..=3600;

/// Keeps a text for the rest of the process.
pub(super) fn leak(text: impl Into<String>) -> &'static str {
    Box::leak(text.into().into_boxed_str())
}

/// Keeps a list for the rest of the process.
pub(super) fn leak_all<T>(list: Vec<T>) -> &'static [T] {
    Box::leak(list.into_boxed_slice())
}

pub(super) fn id(path: &str, text: &str) -> Result<&'static str, Mistake> {
    let known = text
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    let starts = text.starts_with(|letter: char| letter.is_ascii_lowercase());
    if !known || !starts || text.len() > MAX_ID {
        return mistake(
            path,
            format!(
                "expected 1 to {MAX_ID} lower-case letters, digits and underscores, a letter first"
            ),
        );
    }
    Ok(leak(text))
}

/// Validates one nonempty line of text.
pub(super) fn line(path: &str, text: &str) -> Result<&'static str, Mistake> {
    let is_long = text.chars().count() > MAX_LINE;
    if text.trim().is_empty() || is_long || text.chars().any(char::is_control) {
        return mistake(
            path,
            format!("expected a line of 1 to {MAX_LINE} characters"),
        );
    }
    Ok(leak(text))
}

pub(super) fn at_most<T>(path: &str, list: &[T], most: usize) -> Result<(), Mistake> {
    if list.len() > most {
        return mistake(path, format!("expected at most {most} elements"));
    }
    Ok(())
}

/// Checks each element of a list.
pub(super) fn each<T, U>(
    path: &str,
    list: &[T],
    check: impl Fn(&str, &T) -> Result<U, Mistake>,
) -> Result<Vec<U>, Mistake> {
    at_most(path, list, MAX_ITEMS)?;
    let numbered = list.iter().enumerate();
    numbered
        .map(|(at, item)| check(&format!("{path}.{at}"), item))
        .collect()
}

/// Checks each text of a list.
pub(super) fn texts<U>(
    path: &str,
    list: &[String],
    check: impl Fn(&str, &str) -> Result<U, Mistake>,
) -> Result<Vec<U>, Mistake> {
    each(path, list, |path, text| check(path, text))
}

/// Validates a header name and converts it to lower case.
pub(super) fn header(path: &str, name: &str) -> Result<&'static str, Mistake> {
    match name.parse::<HeaderName>() {
        Ok(parsed) if name.len() <= 64 => Ok(leak(parsed.as_str())),
        _ => mistake(path, format!("`{name}` is not the name of an HTTP header")),
    }
}

/// Validates the name of a header whose value is stored with deliveries.
pub(super) fn stored_header(path: &str, name: &str) -> Result<&'static str, Mistake> {
    let name = header(path, name)?;
    if carries_credential(name) && !NO_SECRETS.contains(&name) {
        return mistake(
            path,
            format!(
                "`{name}` is named like a header with a secret; the values of this one are stored"
            ),
        );
    }
    Ok(name)
}

/// Validates a path of the body: parts with dots between them, or a JSON pointer (RFC 6901).
pub(super) fn body_path(path: &str, text: &str) -> Result<&'static str, Mistake> {
    let Some(pointer) = text.strip_prefix('/') else {
        return line(path, text);
    };
    let part = |part: &str| part.replace("~1", "/").replace("~0", "~");
    let parts: Vec<String> = pointer.split('/').map(part).collect();
    if parts
        .iter()
        .any(|part| part.contains('.') || part.is_empty())
    {
        return mistake(path, "a part of the pointer is empty or contains a dot");
    }
    line(path, &parts.join("."))
}

pub(super) fn placeholders<'t>(path: &str, template: &'t str) -> Result<Vec<&'t str>, Mistake> {
    let mut found = Vec::new();
    let mut rest = template;
    while let Some((_, after)) = rest.split_once('{') {
        let Some((name, after)) = after.split_once('}') else {
            return mistake(path, "a { has no }");
        };
        found.push(name);
        rest = after;
    }
    Ok(found)
}
