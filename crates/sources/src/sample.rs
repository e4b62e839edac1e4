//! Builds test deliveries that resemble each vendor's, with fictitious names. Must not know how they are
//! signed or sent.

pub(crate) mod alerts;
pub(crate) mod codehost_a;
pub(crate) mod codehost_b;
pub(crate) mod payments;
pub(crate) mod shop;
pub(crate) mod talk;
pub(crate) mod trackers;

use serde_json::{Value, json};

use crate::profile::{KeySource, Profile};

/// How a profile's samples are built.
#[derive(Clone, Copy, Debug)]
pub enum SampleKind {
    /// A small object that resembles no vendor's.
    Generic,
    Json(fn(&SampleInput<'_>) -> Value),
    /// A form body; the function returns its fields as an object of strings.
    Form(fn(&SampleInput<'_>) -> Value),
}

/// The parameters of a sample.
#[derive(Clone, Copy, Debug)]
pub struct SampleInput<'a> {
    /// The event type; any text that a filter accepts.
    pub event: &'a str,
    /// Makes this delivery differ from every other.
    pub id: &'a str,
    /// Unix time in milliseconds; some vendors put it in the body.
    pub now_ms: i64,
}

/// A delivery as the vendor would send it, without a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The event type that the profile will read from it.
    pub event_type: Option<String>,
    /// Event type, delivery id and content type; names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// The parameters of a test delivery.
#[derive(Clone, Copy, Debug, Default)]
pub struct SampleRequest<'a> {
    /// The event type. Default: the profile's first one.
    pub event: Option<&'a str>,
    /// The event header configured on the webhook, where the profile allows one.
    pub event_header: Option<&'a str>,
    /// Makes this delivery differ from every other.
    pub id: &'a str,
    /// Unix time in milliseconds.
    pub now_ms: i64,
}

/// Builds a delivery as the profile's vendor would send it. An unknown event type uses the body of its
/// family.
pub fn sample(profile: &Profile, request: &SampleRequest<'_>) -> Sample {
    let first = profile.events.first().map_or("test", |event| event.name);
    let event = request.event.unwrap_or(first);
    let input = SampleInput {
        event,
        id: request.id,
        now_ms: request.now_ms,
    };
    let (content_type, body) = match profile.sample {
        SampleKind::Generic => ("application/json", generic(&input).to_string()),
        SampleKind::Json(make) => ("application/json", marked(make(&input), &input).to_string()),
        SampleKind::Form(make) => {
            let fields = marked(make(&input), &input);
            ("application/x-www-form-urlencoded", form(&fields))
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
        event_type: Some(event.to_owned()),
        headers,
        body: body.into_bytes(),
    }
}

/// The header with the vendor's name for the event, if the vendor uses a header.
fn event_header(profile: &Profile, own: Option<&str>, event: &str) -> Option<(String, String)> {
    let source = &profile.event;
    let own = own.filter(|_| source.own_header);
    let name = own.or_else(|| source.headers.first().copied())?;
    let word = if source.detail.is_empty() {
        event
    } else {
        family(event)
    };
    let theirs = source.names.as_ref().and_then(|names| {
        let known = names.known.iter().find(|(_, ours)| *ours == word);
        known.map(|(theirs, _)| *theirs)
    });
    Some((name.to_ascii_lowercase(), theirs.unwrap_or(word).to_owned()))
}

/// The part of an event type before the first dot.
pub(crate) fn family(event: &str) -> &str {
    event.split_once('.').map_or(event, |(family, _)| family)
}

/// The part of an event type after the first dot.
pub(crate) fn action(event: &str) -> Option<&str> {
    event.split_once('.').map(|(_, action)| action)
}

/// Formats a time as vendors do.
pub(crate) fn time(now_ms: i64) -> String {
    gatehouse_domain::Timestamp::from_millis(now_ms).to_string()
}

fn generic(input: &SampleInput<'_>) -> Value {
    json!({
        "event": input.event,
        "id": input.id,
        "sent_at": time(input.now_ms),
        "message": "This is a test delivery.",
        "source": { "name": "webhook test", "host": "sender.example" },
    })
}

/// Adds this test's id, so that no two samples have the same bytes. The replay guard `bytes` would drop the
/// second one.
fn marked(mut sample: Value, input: &SampleInput<'_>) -> Value {
    if let Some(members) = sample.as_object_mut() {
        members.insert("gatehouse_test".to_owned(), Value::from(input.id));
    }
    sample
}

fn form(fields: &Value) -> String {
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in fields.as_object().into_iter().flatten() {
        form.append_pair(name, value.as_str().unwrap_or_default());
    }
    form.finish()
}

#[cfg(test)]
mod tests;
