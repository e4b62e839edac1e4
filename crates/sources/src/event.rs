//! Reads a delivery according to its profile: event type, deduplication key, entity key, and the headers that may
//! be recorded. Contains no vendor-specific code. All input is untrusted. Every result has a limited length and no
//! control characters.

mod handshake;

use std::borrow::Cow;
use std::collections::BTreeMap;

use data_encoding::HEXLOWER;
use http::{HeaderMap, header};
use sha2::{Digest as _, Sha256};

use crate::clean;
pub use crate::clean::MAX_VALUE_CHARS;
use crate::entity;
use crate::event_family::in_family;
use crate::payload::{Node, Payload};
use crate::profile::{Detail, EventSource, KeySource, Names, Profile, When};
pub(crate) use handshake::HMAC;
pub use handshake::{
    HandshakeInput, HandshakeReply, HubRequest, answer_hub, handshake, is_handshake, verify_token,
};

/// Words in header names whose values must not be stored.
const CREDENTIAL_WORDS: [&str; 11] = [
    "auth",
    "authentication",
    "authorization",
    "cookie",
    "credential",
    "hmac",
    "key",
    "password",
    "secret",
    "signature",
    "token",
];

/// The parsed event of a delivery.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// The type in the form that filters use.
    pub event_type: Option<String>,
    /// Identical for every attempt to deliver the same event. `None` disables deduplication.
    pub delivery_key: Option<String>,
    /// The entity that the event is about. `None` if deliveries cannot be grouped by entity.
    pub entity_key: Option<String>,
}

/// Reads a delivery. `event_header` is the header that the webhook configures. It is used if the profile allows
/// one. `body` is the raw body.
pub fn read(
    profile: &Profile,
    event_header: Option<&str>,
    headers: &HeaderMap,
    payload: &Payload,
    body: &[u8],
) -> Event {
    let root = payload.root();
    let event_type = event_type(&profile.event, profile, event_header, headers, root);
    Event {
        delivery_key: profile
            .delivery_key
            .iter()
            .find_map(|source| delivery_key(*source, event_type.as_deref(), headers, root, body)),
        entity_key: entity::key(profile, event_type.as_deref(), root),
        event_type,
    }
}

/// Returns the delivery key for an ID that the signature covers. Returns `None` if the ID is empty.
pub fn signed_key(id: &str) -> Option<String> {
    clean::key(id, MAX_VALUE_CHARS)
}

/// Returns the headers that may be recorded: event type, delivery ID and content type.
pub fn safe_headers(
    profile: &Profile,
    event_header: Option<&str>,
    headers: &HeaderMap,
) -> BTreeMap<String, String> {
    let content_type = header::CONTENT_TYPE;
    own_header(&profile.event, event_header)
        .into_iter()
        .chain(profile.headers.iter().copied())
        .chain([content_type.as_str()])
        .filter_map(|name| {
            let value = header_text(headers, name)?;
            Some((name.to_ascii_lowercase(), value))
        })
        .collect()
}

/// The named headers in the form in which [`safe_headers`] returns them.
pub fn named_headers(names: &[&str], headers: &HeaderMap) -> BTreeMap<String, String> {
    names
        .iter()
        .filter_map(|name| Some((name.to_ascii_lowercase(), header_text(headers, name)?)))
        .collect()
}

/// Removes the named headers, ignoring case. Headers that carry a secret or signature must not be used as
/// an event type or key, and must not be stored.
pub fn without<'h>(headers: &'h HeaderMap, names: &[&str]) -> Cow<'h, HeaderMap> {
    let mut left = Cow::Borrowed(headers);
    for name in names {
        if left.contains_key(*name) {
            left.to_mut().remove(*name);
        }
    }
    left
}

/// Returns whether a header's name suggests that it contains a credential. Such a header is never read as an event
/// type and never stored.
pub fn carries_credential(header: &str) -> bool {
    let header = header.to_ascii_lowercase();
    header
        .split(['-', '_', '.'])
        .any(|word| word == "apikey" || CREDENTIAL_WORDS.contains(&word))
}

fn own_header<'a>(source: &EventSource, event_header: Option<&'a str>) -> Option<&'a str> {
    event_header.filter(|name| source.own_header && !carries_credential(name))
}

fn event_type(
    source: &EventSource,
    profile: &Profile,
    event_header: Option<&str>,
    headers: &HeaderMap,
    root: Node<'_>,
) -> Option<String> {
    let mut notices = source.notices.iter();
    if let Some(notice) = notices.find(|notice| is_met(notice.when, headers, root)) {
        return Some(notice.event.to_owned());
    }
    let sent = own_header(source, event_header)
        .into_iter()
        .chain(source.headers.iter().copied())
        .find_map(|name| header_text(headers, name))
        .or_else(|| in_body(source, root))?;
    let offered = profile.events.iter().any(|event| event.name == sent);
    if offered && (source.names.is_some() || sent.contains('.')) {
        return Some(sent);
    }
    let name = match &source.names {
        Some(names) => translate(names, &sent),
        None => sent,
    };
    let in_header = source.detail_header.and_then(|it| header_text(headers, it));
    let event_type = match in_header.or_else(|| detail(source.detail, &name, root)) {
        Some(detail) => format!("{name}.{detail}"),
        None => name,
    };
    clean::plain(&event_type, MAX_VALUE_CHARS)
}

/// Returns whether a request meets the condition.
fn is_met(when: When, headers: &HeaderMap, root: Node<'_>) -> bool {
    let (found, expected) = match when {
        When::Body(path, text) => (root.at(path).and_then(Node::as_id), text),
        When::Header(name, text) => (header_text(headers, name).map(Cow::Owned), text),
    };
    found.is_some_and(|found| found == expected)
}

fn in_body(source: &EventSource, root: Node<'_>) -> Option<String> {
    source.body.iter().find_map(|place| {
        // If the profile maps names, a number is also accepted, because the map converts it to a name.
        let found = match &source.names {
            Some(_) => root.at(place.path)?.as_id()?,
            None => root.string(place.path)?,
        };
        let text = clean::plain(&found, MAX_VALUE_CHARS)?;
        Some(format!("{}{text}", place.prefix))
    })
}

fn detail(rules: &[Detail], event: &str, root: Node<'_>) -> Option<String> {
    rules
        .iter()
        .filter(|rule| rule.of.is_empty() || rule.of.iter().any(|of| in_family(event, of)))
        .find_map(|rule| clean::plain(&root.string(rule.path)?, MAX_VALUE_CHARS))
}

fn translate(names: &Names, sent: &str) -> String {
    let known = names
        .known
        .iter()
        .find(|(theirs, _)| theirs.eq_ignore_ascii_case(sent));
    if let Some((_, ours)) = known {
        return (*ours).to_owned();
    }
    let lower = sent.to_lowercase();
    match lower.strip_suffix(names.ending) {
        Some(words) => words.split_whitespace().collect::<Vec<_>>().join("_"),
        None => sent.to_owned(),
    }
}

fn delivery_key(
    source: KeySource,
    event_type: Option<&str>,
    headers: &HeaderMap,
    root: Node<'_>,
    body: &[u8],
) -> Option<String> {
    match source {
        KeySource::Header(name) => clean::key(&raw_header(headers, name)?, MAX_VALUE_CHARS),
        KeySource::EventAndHeader(name) => {
            let key = raw_header(headers, name).filter(|key| !key.trim().is_empty())?;
            let key = format!("{}:{key}", event_type.unwrap_or_default());
            clean::key(&key, MAX_VALUE_CHARS)
        }
        KeySource::Body(path) => clean::key(&root.at(path)?.as_id()?, MAX_VALUE_CHARS),
        KeySource::BodyHash => Some(HEXLOWER.encode(&Sha256::digest(body))),
    }
}

fn header_text(headers: &HeaderMap, name: &str) -> Option<String> {
    clean::plain(&raw_header(headers, name)?, MAX_VALUE_CHARS)
}

/// Returns the first value of a header, with invalid UTF-8 replaced.
fn raw_header<'h>(headers: &'h HeaderMap, name: &str) -> Option<Cow<'h, str>> {
    let value = headers.get(name)?;
    Some(String::from_utf8_lossy(value.as_bytes()))
}

#[cfg(test)]
mod tests;
