//! Validates each member of the input and its length. Pure.

use super::Patch;
use crate::error::WebhooksError;
use crate::webhook::{TemplateFormat, WebhookConfig};
use gatehouse_agents::ToolPolicy;
use gatehouse_channels::takes_json;
use gatehouse_domain::visible;
use gatehouse_sources::filter::EventFilter;
use gatehouse_sources::profile;
use gatehouse_sources::template::json::JsonTemplate;
use http::HeaderName;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Maximum length of a name, in characters, as are the other text limits.
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

/// Validates the header of the mode `static_header`. Rejects every header that any profile reads: a later
/// profile change would otherwise turn the secret into an event type or delivery key.
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

/// Applies an object with `null` members to the previous value: each `null` member becomes `cleared`, or is
/// removed if `cleared` is `None`. An object without `null` replaces the previous value.
fn patched<T: Serialize>(said: &Value, before: &T, cleared: Option<&Value>) -> Value {
    let Some(members) = said.as_object() else {
        return said.clone();
    };
    if !members.values().any(Value::is_null) {
        return said.clone();
    }
    let before = serde_json::to_value(before).unwrap_or_default();
    let mut after = match before {
        Value::Object(before) => before,
        _ => Map::new(),
    };
    for (name, value) in members {
        match Some(value).filter(|value| !value.is_null()).or(cleared) {
            Some(value) => drop(after.insert(name.clone(), value.clone())),
            None => drop(after.remove(name)),
        }
    }
    Value::Object(after)
}

pub(super) fn entries(field: &'static str, list: &[String], is_event: bool) -> Checked<()> {
    if list.len() > MAX_ENTRIES {
        return invalid(field, format!("at most {MAX_ENTRIES} entries in a list"));
    }
    for entry in list {
        line(field, entry, MAX_ENTRY)?;
        let exact = entry.strip_suffix(".*").unwrap_or(entry);
        if is_event && (exact.is_empty() || exact.contains('*') || entry.trim() != entry) {
            return invalid(field, "an entry is an event type, or ends in `.*`");
        }
    }
    Ok(())
}

pub(super) fn events(value: &Value, before: &EventFilter) -> Checked<EventFilter> {
    let shape = "expected a list of event types, or an object with the lists allow and deny";
    let parsed = match value {
        Value::Array(_) => serde_json::from_value(value.clone()).map(|allow| EventFilter {
            allow,
            deny: Vec::new(),
        }),
        other => serde_json::from_value(patched(other, before, Some(&json!([])))),
    };
    let filter: EventFilter = parsed.or_else(|_| invalid("events", shape))?;
    entries("events", &filter.allow, true)?;
    entries("events", &filter.deny, true)?;
    Ok(filter)
}

pub(super) fn tool_policy(value: &Value, before: Option<&ToolPolicy>) -> Checked<ToolPolicy> {
    let value = &patched(value, &before, Some(&json!([])));
    let shape = "expected an object with the lists allow and deny";
    let parsed = Some(value).filter(|value| value.is_object());
    let parsed = parsed.and_then(|value| serde_json::from_value::<ToolPolicy>(value.clone()).ok());
    let Some(policy) = parsed else {
        return invalid("toolPolicy", shape);
    };
    entries("toolPolicy", &policy.allow, false)?;
    entries("toolPolicy", &policy.deny, false)?;
    Ok(policy)
}

pub(super) fn deliver_extra(
    value: &Value,
    before: Option<&BTreeMap<String, String>>,
) -> Checked<BTreeMap<String, String>> {
    const FIELD: &str = "deliver_extra";
    let value = patched(value, &before, None);
    let Value::Object(members) = &value else {
        return invalid(FIELD, "expected an object");
    };
    if members.len() > MAX_EXTRA {
        return invalid(FIELD, format!("at most {MAX_EXTRA} values"));
    }
    let mut extra = BTreeMap::new();
    for (name, value) in members {
        // Some vendors use numbers as chat IDs.
        let value = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Bool(flag) => flag.to_string(),
            _ => return invalid(FIELD, "values are text"),
        };
        extra.insert(
            line(FIELD, name, 64)?,
            text(FIELD, &value, MAX_EXTRA_VALUE)?,
        );
    }
    Ok(extra)
}

/// Validates a template that is JSON, and that its channel can send it.
pub(super) fn json_body(config: &WebhookConfig) -> Checked<()> {
    const FIELD: &str = "template_format";
    if config.template_format == TemplateFormat::Text {
        return Ok(());
    }
    if !config.deliver_to.as_deref().is_some_and(takes_json) {
        return invalid(FIELD, "json needs a channel of the type http in deliver_to");
    }
    if config
        .deliver_extra
        .as_ref()
        .is_some_and(|extra| !extra.is_empty())
    {
        let reason = "not used with template_format json; write the fields into the template";
        return invalid("deliver_extra", reason);
    }
    let parsed = JsonTemplate::parse(config.template());
    parsed
        .map(drop)
        .or_else(|error| invalid("prompt_template", error.to_string()))
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
