//! Checks of filters, tool policies and templates, which contain further values.

use super::{Checked, MAX_ENTRIES, MAX_ENTRY, MAX_EXTRA, MAX_EXTRA_VALUE, invalid, line, text};
use crate::webhook::{TemplateFormat, WebhookConfig};
use gatehouse_agents::ToolPolicy;
use gatehouse_channels::takes_json;
use gatehouse_sources::filter::EventFilter;
use gatehouse_sources::template::json::JsonTemplate;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

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

fn entries(field: &'static str, list: &[String], is_event: bool) -> Checked<()> {
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

pub(in super::super) fn events(value: &Value, before: &EventFilter) -> Checked<EventFilter> {
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

pub(in super::super) fn tool_policy(
    value: &Value,
    before: Option<&ToolPolicy>,
) -> Checked<ToolPolicy> {
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

pub(in super::super) fn deliver_extra(
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

/// Validates a JSON template. Checks that the channel can send JSON.
pub(in super::super) fn json_body(config: &WebhookConfig) -> Checked<()> {
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
