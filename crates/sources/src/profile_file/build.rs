//! Turns the members of a file into a profile, or returns an error about them.

mod guide;
mod handshake;
mod sample;
mod summary;
mod verification;

use super::check::{
    at_most, body_path, each, id, leak_all, line, placeholders, stored_header, texts,
};
use super::raw::{Raw, RawBody, RawEntity, RawNotice};
use super::{Mistake, ProfileFile, mistake};
use crate::auth_mode::AuthMode;
use crate::payload::BodyKind;
use crate::profile::{
    BodyEvent, Condition, Detail, EntityRule, EventSource, EventType, KeySource, Names, Notice,
    Profile, Replay, ReplayGuard, When, event,
};
use crate::verify::scheme::Method;
use handshake::{handshake, reply};
use summary::summary;

/// Maximum number of alternative headers or paths.
const MAX_PLACES: usize = 8;
const EITHER: &str = "expected either `header` or `body`";

pub(super) fn build(raw: &Raw, sample_file: Option<&str>) -> Result<ProfileFile, Mistake> {
    let id = id("id", &raw.id)?;
    let name = line("name", &raw.name)?;
    let about = line("about", &raw.about)?;
    let body = match raw.body {
        RawBody::Json => BodyKind::Json,
        RawBody::JsonOrFormPayload => BodyKind::JsonOrFormPayload,
        RawBody::Form => BodyKind::Form,
    };
    let (auth_mode, mode) = verification::mode(id, name, &raw.verify)?;
    let event = event_source(raw)?;
    let delivery_key = delivery_key(raw)?;
    let notices = event.notices.iter().filter_map(|it| it.when.header());
    let headers: Vec<&'static str> = event
        .headers
        .iter()
        .copied()
        .chain(notices)
        .chain(delivery_key.iter().filter_map(|key| match key {
            KeySource::Header(name) | KeySource::EventAndHeader(name) => Some(*name),
            KeySource::Body(_) | KeySource::BodyHash => None,
        }))
        .collect();
    let event_types = |path: &str, list: &[(String, String)]| {
        let checked = each(path, list, |path, (name, text)| {
            Ok(event_type(line(path, name)?, line(path, text)?))
        });
        checked.map(leak_all)
    };
    let sample = sample::text(raw, &event, delivery_key, sample_file)?;
    let profile = Profile {
        id,
        alias: None,
        name,
        about,
        default_auth_mode: auth_mode,
        body,
        delivery_key,
        replay: replay(auth_mode, delivery_key),
        entities: leak_all(each("entities", &raw.entities, |path, rule| {
            entity(id, path, rule)
        })?),
        events: event_types("events", &raw.events)?,
        more_events: event_types("more_events", &raw.more_events)?,
        headers: leak_all(headers),
        guide: guide::text(name, auth_mode, raw.guide.as_deref())?,
        handshake: match &raw.handshake {
            Some(handshake) => Some(self::handshake(auth_mode, handshake)?),
            None => None,
        },
        test_events: leak_all(texts("test_events", &raw.test_events, line)?),
        replies: leak_all(each("replies", &raw.replies, reply)?),
        summary: summary(&raw.summary)?,
        event,
        sample,
    };
    Ok(ProfileFile {
        profile: Box::leak(Box::new(profile)),
        mode,
    })
}

const fn event_type(name: &'static str, description: &'static str) -> EventType {
    event(name, description)
}

fn event_source(raw: &Raw) -> Result<EventSource, Mistake> {
    let event = &raw.event;
    at_most("event.headers", &event.headers, MAX_PLACES)?;
    at_most("event.body", &event.body, MAX_PLACES)?;
    at_most("event.detail", &event.detail, MAX_PLACES)?;
    let body = texts("event.body", &event.body, body_path)?;
    let detail = texts("event.detail", &event.detail, body_path)?;
    let names = each("event.names", &event.names, |path, (theirs, ours)| {
        Ok((line(path, theirs)?, line(path, ours)?))
    })?;
    at_most("event.notices", &event.notices, MAX_PLACES)?;
    Ok(EventSource {
        notices: leak_all(each("event.notices", &event.notices, notice)?),
        own_header: false,
        headers: leak_all(texts("event.headers", &event.headers, stored_header)?),
        body: leak_all(
            body.into_iter()
                .map(|path| BodyEvent { prefix: "", path })
                .collect(),
        ),
        names: (!names.is_empty()).then(|| Names {
            known: leak_all(names),
            ending: "",
        }),
        detail_header: None,
        detail: leak_all(
            detail
                .into_iter()
                .map(|path| Detail { of: &[], path })
                .collect(),
        ),
    })
}

fn notice(path: &str, raw: &RawNotice) -> Result<Notice, Mistake> {
    let is = line(&format!("{path}.is"), &raw.is)?;
    let when = match (&raw.header, &raw.body) {
        // The value of the header is stored, like every header that affects the event type.
        (Some(header), None) => When::Header(stored_header(&format!("{path}.header"), header)?, is),
        (None, Some(body)) => When::Body(body_path(&format!("{path}.body"), body)?, is),
        _ => return mistake(path, EITHER),
    };
    let event = line(&format!("{path}.event"), &raw.event)?;
    Ok(Notice { when, event })
}

fn delivery_key(raw: &Raw) -> Result<&'static [KeySource], Mistake> {
    let delivery = &raw.delivery;
    at_most("delivery.headers", &delivery.headers, MAX_PLACES)?;
    at_most("delivery.body", &delivery.body, MAX_PLACES)?;
    let mut keys: Vec<KeySource> = texts("delivery.headers", &delivery.headers, stored_header)?
        .into_iter()
        .map(KeySource::Header)
        .collect();
    let body = texts("delivery.body", &delivery.body, body_path)?;
    keys.extend(body.into_iter().map(KeySource::Body));
    keys.extend(delivery.body_hash.then_some(KeySource::BodyHash));
    Ok(leak_all(keys))
}

/// Derives the replay guard from the signed parts.
fn replay(mode: AuthMode, keys: &[KeySource]) -> Replay {
    let signed_headers = match mode.method() {
        Method::Signature(scheme) => scheme.id_headers,
        Method::Open | Method::OwnHeader | Method::Token(_) | Method::Bearer => {
            return Replay {
                id_is_signed: false,
                guard: ReplayGuard::Key,
                note: "Deliveries contain the secret itself, so anyone who captures one can forge others.",
            };
        }
    };
    let is_signed = |key: &KeySource| match key {
        KeySource::Body(_) => true,
        KeySource::Header(name) | KeySource::EventAndHeader(name) => signed_headers.contains(name),
        KeySource::BodyHash => false,
    };
    if !keys.is_empty() && keys.iter().all(is_signed) {
        return Replay {
            id_is_signed: true,
            guard: ReplayGuard::Key,
            note: "The signature covers the ID.",
        };
    }
    Replay {
        id_is_signed: false,
        guard: ReplayGuard::Bytes,
        note: "No signature covers an ID: with `key`, a captured delivery can be sent again.",
    }
}

fn entity(id: &str, path: &str, rule: &RawEntity) -> Result<EntityRule, Mistake> {
    let key = line(&format!("{path}.key"), &rule.key)?;
    let starts = key
        .strip_prefix(id)
        .is_some_and(|rest| rest.starts_with(':'));
    if !starts || placeholders(path, key)?.is_empty() {
        return mistake(
            format!("{path}.key"),
            format!("expected `{id}:` and at least one {{path}}"),
        );
    }
    let when = match &rule.event {
        Some(event) => vec![Condition::Event(line(&format!("{path}.event"), event)?)],
        None => Vec::new(),
    };
    Ok(EntityRule {
        when: leak_all(when),
        key,
    })
}
