//! Validates each member of the input and its length. Does no I/O.

mod nested;

use super::Patch;
use crate::error::WebhooksError;
use gatehouse_domain::visible;
use gatehouse_sources::profile;
use http::HeaderName;
pub(super) use nested::{deliver_extra, events, json_body, tool_policy};

/// Maximum length of a name. All text limits are in characters.
const MAX_NAME: usize = 200;
/// Maximum length of a short text: an agent, a model, a session key, a channel target, a header name.
pub(super) const MAX_SHORT: usize = 200;
/// Maximum length of a model provider's ID; the same as in the settings.
const MAX_PROVIDER: usize = 64;
/// Maximum length of the text appended to a system prompt.
pub(super) const MAX_SUFFIX: usize = 16_384;
pub(super) const MAX_TEMPLATE: usize = 65_536;
/// Maximum number of entries in a list.
pub(super) const MAX_ENTRIES: usize = 200;
/// Maximum length of an event type or tool in a list.
pub(super) const MAX_ENTRY: usize = 200;
/// Maximum number of extra fields for a channel.
pub(super) const MAX_EXTRA: usize = 32;
/// Maximum length of an extra field's value.
pub(super) const MAX_EXTRA_VALUE: usize = 4096;
/// Maximum rate limit, in deliveries per minute.
pub(super) const MAX_RATE: i64 = 1_000_000;
/// Maximum body size that a webhook can be configured for: 25 MiB, the largest body that any vendor in the
/// profiles sends.
pub const MAX_BODY_BYTES: i64 = 26_214_400;

pub(super) type Checked<T> = Result<T, WebhooksError>;

pub(super) fn invalid<T>(field: &'static str, reason: impl Into<String>) -> Checked<T> {
    Err(WebhooksError::invalid(field, reason))
}

/// Validates a nonblank single-line text.
pub(super) fn line(field: &'static str, text: &str, max: usize) -> Checked<String> {
    if text.trim().is_empty() {
        return invalid(field, "must not be empty");
    }
    if text.chars().count() > max {
        return invalid(field, format!("at most {max} characters"));
    }
    if text.chars().any(char::is_control) {
        return invalid(field, "no control characters");
    }
    Ok(text.to_owned())
}

/// Validates the name of a webhook.
pub(super) fn name(name: &str) -> Checked<String> {
    if !visible::is_name(name) {
        return invalid("name", "no characters that hide or reorder text");
    }
    line("name", name, MAX_NAME)
}

/// Validates a text of any number of lines. Rejects NUL, which PostgreSQL cannot store.
pub(super) fn text(field: &'static str, text: &str, max: usize) -> Checked<String> {
    if text.chars().count() > max {
        return invalid(field, format!("at most {max} characters"));
    }
    if text.contains('\0') {
        return invalid(field, "no NUL character");
    }
    Ok(text.to_owned())
}

pub(super) fn header_name(field: &'static str, name: &str) -> Checked<String> {
    const FRAMING: [&str; 6] = [
        "content-length",
        "transfer-encoding",
        "connection",
        "host",
        "te",
        "upgrade",
    ];
    let Ok(parsed) = HeaderName::from_bytes(name.as_bytes()) else {
        return invalid(field, "not the name of an HTTP header");
    };
    if name.len() > MAX_SHORT || FRAMING.contains(&parsed.as_str()) {
        return invalid(field, "this header cannot be used");
    }
    Ok(name.to_owned())
}

/// Validates the header of the mode `static_header`. Rejects every header that any profile reads, because a later
/// change of the profile would turn the secret into an event type or delivery key.
pub(super) fn secret_header(name: &str) -> Checked<()> {
    let is = |read: &str| read.eq_ignore_ascii_case(name);
    let is_read = profile::all()
        .iter()
        .any(|profile| profile.headers.iter().any(|read| is(read)));
    if is_read || is(http::header::CONTENT_TYPE.as_str()) {
        return invalid(
            "header",
            "this header identifies the delivery; choose a header for the secret alone",
        );
    }
    Ok(())
}

/// Validates a model name or `provider/model`. The model name can contain slashes.
pub(super) fn model(value: &str) -> Checked<String> {
    let value = line("model", value, MAX_SHORT)?;
    if let Some((provider, name)) = value.split_once('/') {
        let is_id = (1..=MAX_PROVIDER).contains(&provider.len())
            && provider
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte));
        if !is_id || name.trim().is_empty() {
            return invalid("model", "expected a model's name, or provider/model");
        }
    }
    Ok(value)
}

pub(super) fn number(field: &'static str, value: i64, max: i64) -> Checked<i64> {
    if (1..=max).contains(&value) {
        Ok(value)
    } else {
        invalid(field, format!("expected 1 to {max}"))
    }
}

/// Applies a patch to an optional field; `null` clears it.
pub(super) fn put<T, U>(
    place: &mut Option<U>,
    patch: &Patch<T>,
    check: impl FnOnce(&T) -> Checked<U>,
) -> Checked<()> {
    match patch {
        Patch::Absent => {}
        Patch::Clear => *place = None,
        Patch::Set(value) => *place = Some(check(value)?),
    }
    Ok(())
}

/// Applies a patch to a field with a default; `null` resets it.
pub(super) fn put_or<T, U>(
    place: &mut U,
    patch: &Patch<T>,
    default: U,
    check: impl FnOnce(&T) -> Checked<U>,
) -> Checked<()> {
    match patch {
        Patch::Absent => {}
        Patch::Clear => *place = default,
        Patch::Set(value) => *place = check(value)?,
    }
    Ok(())
}

/// Finds a profile by ID or alias.
pub(super) fn find_profile(name: &str) -> Checked<&'static profile::Profile> {
    if let Some(profile) = profile::find(name) {
        return Ok(profile);
    }
    let known: Vec<_> = profile::all().iter().map(|profile| profile.id).collect();
    let reason = format!("expected one of {}", known.join(", "));
    invalid("source_profile", reason)
}
