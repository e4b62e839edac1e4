//! Builds test deliveries that resemble each vendor's, with fictitious names. Does not sign or send them.
//!
//! The bodies are in the file `sample.json` of the vendor's folder. Each entry in `bodies` lists event types or
//! families in `of`; without `of`, it matches any event. The first entry that matches the event is used. Its
//! `merge` is a list of objects, or of names in `parts`. They are merged in order: a later member replaces an
//! earlier one with the same name, unless both values are objects, which are merged.
//!
//! Strings can contain placeholders:
//!
//! - `{id}`: makes the delivery different from all others; `{id32}` has 32 characters
//! - `{event}`, `{family}`, `{action}`: the event type, and its parts before and after the first dot
//! - `{time}`: the time in RFC 3339
//! - `{seconds}`, `{millis}`: Unix time, a number if the string contains nothing else; `{seconds+60}` is 60 seconds
//!   later
//! - `{action|'created'}`: the literal text if the event type has no action
//!
//! A member whose string is a placeholder without a value is omitted.

mod values;

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::payload::BodyKind;
use crate::profile::{KeySource, Profile, When};
use crate::verify::shell::vendor_header;
use values::Values;

/// The ID in [`example`].
const EXAMPLE_ID: &str = "00000000000000000000000000000001";
/// The time in [`example`]: 2026-09-21 14:13:20 UTC.
const EXAMPLE_MS: i64 = 1_790_000_000_000;

/// A delivery as the vendor would send it, without a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Event type, delivery ID and content type; names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// The parameters of a test delivery.
#[derive(Clone, Copy, Debug, Default)]
pub struct SampleRequest<'a> {
    /// The event type. Default: the first one of the profile.
    pub event: Option<&'a str>,
    /// The event header configured on the webhook, where the profile allows one.
    pub event_header: Option<&'a str>,
    /// Makes this delivery different from all others.
    pub id: &'a str,
    /// Unix time in milliseconds.
    pub now_ms: i64,
}

/// A constant sample for documentation.
#[derive(Clone, Debug)]
pub struct Example {
    /// The header that names the event, and its value.
    pub event_header: Option<(String, String)>,
    /// The members of the JSON body, or the fields of the form.
    pub payload: Map<String, Value>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    parts: HashMap<String, Value>,
    bodies: Vec<Body>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    #[serde(default)]
    of: Vec<String>,
    merge: Vec<Value>,
}

/// Returns the event type of a sample that names none: the profile's first one.
fn default_event(profile: &Profile) -> &'static str {
    profile.events.first().map_or("test", |event| event.name)
}

/// Builds a delivery as the profile's vendor would send it. An unknown event type uses the body of its
/// family.
pub fn sample(profile: &Profile, request: &SampleRequest<'_>) -> Sample {
    let event = request.event.unwrap_or_else(|| default_event(profile));
    let values = Values {
        event,
        id: request.id,
        now_ms: request.now_ms,
    };
    let payload = payload(profile, &values);
    let (content_type, body) = match profile.body {
        BodyKind::Form => ("application/x-www-form-urlencoded", form(&payload)),
        BodyKind::Json | BodyKind::JsonOrFormPayload => {
            ("application/json", Value::Object(payload).to_string())
        }
    };
    let mut headers = vec![("content-type".to_owned(), content_type.to_owned())];
    headers.extend(event_header(profile, request.event_header, event));
    headers.extend(profile.delivery_key.iter().find_map(|source| match source {
        KeySource::Header(name) | KeySource::EventAndHeader(name) => {
            Some(((*name).to_owned(), request.id.to_owned()))
        }
        KeySource::Body(_) | KeySource::BodyHash => None,
    }));
    Sample {
        headers,
        body: body.into_bytes(),
    }
}

/// Returns a sample of the profile's first event type for documentation, with a fixed ID and time.
pub fn example(profile: &Profile) -> Example {
    let event = default_event(profile);
    let values = Values {
        event,
        id: EXAMPLE_ID,
        now_ms: EXAMPLE_MS,
    };
    let names = profile.event.headers;
    let name = (!names.is_empty()).then(|| vendor_header(names, profile.alias));
    Example {
        event_header: name.map(|name| (name, event_word(profile, event))),
        payload: payload(profile, &values),
    }
}

/// Returns the header that names the event, if the vendor uses one.
fn event_header(profile: &Profile, own: Option<&str>, event: &str) -> Option<(String, String)> {
    let notice = profile.event.notices.iter().find(|it| it.event == event);
    if let Some(When::Header(name, text)) = notice.map(|notice| notice.when) {
        return Some((name.to_owned(), text.to_owned()));
    }
    let source = &profile.event;
    let own = own.filter(|_| source.own_header);
    let name = own.or_else(|| source.headers.first().copied())?;
    Some((name.to_ascii_lowercase(), event_word(profile, event)))
}

/// Returns the vendor's name for an event, in the form of its header.
fn event_word(profile: &Profile, event: &str) -> String {
    let source = &profile.event;
    let word = if source.detail.is_empty() {
        event
    } else {
        family(event)
    };
    let theirs = source.names.as_ref().and_then(|names| {
        let known = names.known.iter().find(|(_, ours)| *ours == word);
        known.map(|(theirs, _)| *theirs)
    });
    theirs.unwrap_or(word).to_owned()
}

/// Returns the part of an event type before the first dot.
fn family(event: &str) -> &str {
    event.split_once('.').map_or(event, |(family, _)| family)
}

/// Returns the members of a sample's body. Returns none if the file cannot be parsed; a test ensures that it can.
fn payload(profile: &Profile, values: &Values<'_>) -> Map<String, Value> {
    let file: File = serde_json::from_str(profile.sample).unwrap_or_default();
    let mut payload = Value::Object(Map::new());
    let body = file.bodies.iter().find(|body| body.matches(values.event));
    for part in body.into_iter().flat_map(|body| &body.merge) {
        let part = part
            .as_str()
            .map_or(Some(part), |name| file.parts.get(name));
        if let Some(part) = part.and_then(|part| values.fill(part)) {
            merge(&mut payload, part);
        }
    }
    match payload {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (name, value) in from {
                merge(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}

impl Body {
    fn matches(&self, event: &str) -> bool {
        let is_of = |of: &String| {
            let rest = event.strip_prefix(of.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '/']))
        };
        self.of.is_empty() || self.of.iter().any(is_of)
    }
}

fn form(fields: &Map<String, Value>) -> String {
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in fields {
        form.append_pair(name, value.as_str().unwrap_or_default());
    }
    form.finish()
}

#[cfg(test)]
mod tests;
