//! Turns the members of a file into a profile, or returns an error about them.

mod guide;
mod sample;
mod verification;

use super::check::{
    at_most, body_path, each, id, leak, leak_all, line, placeholders, stored_header, texts,
};
use super::raw::{
    Raw, RawBody, RawEntity, RawField, RawHandshake, RawNotice, RawReply, RawSummary,
};
use super::{Mistake, ProfileFile, mistake};
use crate::auth_mode::AuthMode;
use crate::event::HMAC;
use crate::payload::BodyKind;
use crate::profile::{
    BodyEvent, Condition, Detail, Echo, EntityRule, EventSource, EventType, Handshake, KeySource,
    Names, Notice, Profile, Replay, ReplayGuard, Reply, When, event,
};
use crate::summary::{Field, Section, Summary};
use crate::verify::scheme::Method;
use serde_json::Value;

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
        // The header's value is stored, like every header that affects the event type.
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

fn handshake(mode: AuthMode, raw: &RawHandshake) -> Result<Handshake, Mistake> {
    let path = "handshake";
    let is_signed = matches!(mode.method(), Method::Signature(_));
    if let Some(get) = &raw.get {
        let others = raw.header.is_some()
            || raw.body.is_some()
            || raw.is.is_some()
            || raw.text.is_some()
            || raw.json.is_some();
        if get != "hub" || others {
            return mistake("handshake.get", "expected `hub` and no other member");
        }
        if !mode.needs_secret() {
            return mistake("handshake.get", "needs a mode with a secret");
        }
        return Ok(Handshake::Hub);
    }
    let Some(is) = &raw.is else {
        return mistake(path, "`is` is missing");
    };
    let is = line("handshake.is", is)?;
    let when = match (&raw.header, &raw.body) {
        (Some(header), None) => When::Header(super::check::header("handshake.header", header)?, is),
        (None, Some(body)) => When::Body(body_path("handshake.body", body)?, is),
        _ => return mistake(path, EITHER),
    };
    let answer = match (&raw.text, &raw.json) {
        (Some(text), None) => Echo::Text(line("handshake.text", text)?),
        (None, Some(json @ Value::Object(_))) => Echo::Json(leak(json.to_string())),
        _ => return mistake(path, "expected either `text` or a table `json`"),
    };
    let mut texts = Vec::new();
    match &raw.json {
        Some(json) => strings(json, &mut texts),
        None => texts.extend(raw.text.as_deref()),
    }
    for text in texts {
        for name in placeholders(path, text)? {
            if name.starts_with(HMAC) && !(is_signed && mode.can_sign()) {
                return mistake(path, format!("`{{{name}}}` needs a mode with an HMAC"));
            }
        }
    }
    Ok(Handshake::Verified { when, answer })
}

/// All strings in a value.
fn strings<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        Value::Object(members) => members.values().for_each(|member| strings(member, found)),
        _ => {}
    }
}

fn reply(path: &str, raw: &RawReply) -> Result<Reply, Mistake> {
    if !raw.json.is_object() {
        return mistake(format!("{path}.json"), "expected a table");
    }
    Ok(Reply {
        event: line(&format!("{path}.event"), &raw.event)?,
        json: leak(raw.json.to_string()),
    })
}

fn summary(raw: &RawSummary) -> Result<Summary, Mistake> {
    let sentences = each(
        "summary.sentences",
        &raw.sentences,
        |path, (of, sentence)| {
            placeholders(path, sentence)?;
            // An empty name applies to any event.
            let of = if of.is_empty() { "" } else { line(path, of)? };
            Ok((of, line(path, sentence)?))
        },
    )?;
    let titles = texts("summary.titles", &raw.titles, body_path)?;
    let fields = each("summary.fields", &raw.fields, field)?;
    let sections = if fields.is_empty() {
        Vec::new()
    } else {
        vec![Section {
            of: &[],
            fields: leak_all(fields),
        }]
    };
    let groups: Vec<&'static [_]> = vec![leak_all(sentences)];
    Ok(Summary {
        sentences: leak_all(groups),
        titles: leak_all(titles),
        sections: leak_all(sections),
    })
}

fn field(path: &str, raw: &RawField) -> Result<Field, Mistake> {
    let label = line(&format!("{path}.label"), &raw.label)?;
    let paths = |member: &str, list: &[String]| {
        let path = format!("{path}.{member}");
        at_most(&path, list, MAX_PLACES)?;
        texts(&path, list, body_path).map(leak_all)
    };
    match (&raw.line[..], &raw.text, &raw.block[..], &raw.list) {
        ([_, ..], None, [], None) => Ok(Field::line(label, paths("line", &raw.line)?)),
        ([], Some(text), [], None) => {
            placeholders(path, text)?;
            Ok(Field::text(label, line(&format!("{path}.text"), text)?))
        }
        ([], None, [_, ..], None) => Ok(Field::block(label, paths("block", &raw.block)?)),
        ([], None, [], Some(list)) => Ok(Field::list(
            label,
            body_path(&format!("{path}.list"), list)?,
            leak(raw.of.clone()),
        )),
        _ => mistake(path, "expected one of `line`, `text`, `block` and `list`"),
    }
}
