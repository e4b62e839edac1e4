//! What we know of each vendor that sends webhooks, as data: one file per profile, one line in [`ALL`].
//! Owns the shape of that data and the list; must not know how it is used: events are read by
//! `event`, summaries written by `summary`, signatures checked by `verify`.

mod codehost_a;
mod codehost_b;
mod errors;
mod generic;
mod incident;
mod payments;
mod shopify;
mod slack;
mod tracker_a;
mod twilio;

use std::fmt;

pub use crate::payload::BodyKind;

use crate::auth_mode::AuthMode;
use crate::payload::Node;
use crate::rules::ReplayGuard;
use crate::sample::SampleKind;
use crate::summary::Summary;

/// A vendor's way of sending webhooks.
#[derive(Debug)]
pub struct Profile {
    /// Neutral id, as stored and answered.
    pub id: &'static str,
    /// The vendor's own name, accepted on input.
    pub alias: Option<&'static str>,
    /// For people.
    pub name: &'static str,
    /// How its deliveries are verified unless the webhook says otherwise.
    pub default_auth_mode: AuthMode,
    /// How JSON is put into the body.
    pub body: BodyKind,
    /// Where an event's type stands.
    pub event: EventSource,
    /// Where the key stands that tells a repeated delivery; the first that is there. None of them: no
    /// deduplication.
    pub delivery_key: &'static [KeySource],
    /// What keeps a captured delivery from running again.
    pub replay: Replay,
    /// What an event is about, for a session per entity; the first rule that applies.
    pub entities: &'static [EntityRule],
    /// The event types that a filter is offered.
    pub events: &'static [EventType],
    /// Further event types that the vendor documents; a filter takes them as well.
    pub more_events: &'static [EventType],
    /// Headers that may be kept: event type and delivery id, lower case. Content-Type always may.
    pub headers: &'static [&'static str],
    /// What a person does at the vendor to send webhooks here. `{url}` and `{secret}` stand for the
    /// webhook's own.
    pub guide: &'static str,
    /// A request that proves the address instead of delivering something.
    pub handshake: Option<Handshake>,
    /// How an event is told to a person.
    pub summary: Summary,
    /// What a test delivery is made of.
    pub sample: SampleKind,
}

/// One event type of a catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct EventType {
    /// As it stands in filters and deliveries.
    pub name: &'static str,
    /// What happened, for people.
    pub description: &'static str,
}

/// Shortens the catalogs.
const fn event(name: &'static str, description: &'static str) -> EventType {
    EventType { name, description }
}

/// Where an event's type stands: headers before body, and what is added to it.
#[derive(Debug)]
pub struct EventSource {
    /// Whether the webhook may name a header of its own, which then comes first.
    pub own_header: bool,
    /// The first of these headers that is there, neutral names first; lower case.
    pub headers: &'static [&'static str],
    /// Without a header: the first of these that holds text, and what to put before it.
    pub body: &'static [BodyEvent],
    /// The vendor's words for ours.
    pub names: Option<Names>,
    /// A header whose value is added after a dot; lower case.
    pub detail_header: Option<&'static str>,
    /// Without that header, what is added after a dot: the first rule that fits and finds text.
    pub detail: &'static [Detail],
}

/// An event type in the body.
#[derive(Debug)]
pub struct BodyEvent {
    /// Put before it (`message.`).
    pub prefix: &'static str,
    /// Path of the text.
    pub path: &'static str,
}

/// How a vendor's words become event types. A value that is in the catalog already is kept as it is.
#[derive(Debug)]
pub struct Names {
    /// Theirs and ours.
    pub known: &'static [(&'static str, &'static str)],
    /// An unknown one loses this ending and is put in lower case with `_` between its words.
    pub ending: &'static str,
}

/// What is added to an event's type.
#[derive(Debug)]
pub struct Detail {
    /// Only for these types; empty: for all.
    pub of: &'static [&'static str],
    /// Path of the text.
    pub path: &'static str,
}

/// Where a delivery's key stands.
#[derive(Clone, Copy, Debug)]
pub enum KeySource {
    /// In a header, lower case.
    Header(&'static str),
    /// In a header, and only together with the event's type unique.
    EventAndHeader(&'static str),
    /// At a path of the body.
    Body(&'static str),
    /// SHA-256 of the body, in lower-case hex.
    BodyHash,
}

/// What keeps a captured delivery from running again, in the profile's own auth mode.
#[derive(Clone, Copy, Debug)]
pub struct Replay {
    /// Whether the signature covers the id that `delivery_key` reads.
    pub id_is_signed: bool,
    /// The guard that is proposed for a new webhook.
    pub guard: ReplayGuard,
    /// Why, for people.
    pub note: &'static str,
}

/// What an event is about.
#[derive(Debug)]
pub struct EntityRule {
    /// All of these must hold.
    pub when: &'static [Condition],
    /// The key, with `{paths}` of the body; a path without text or number: the rule does not apply.
    pub key: &'static str,
}

/// A question about an event.
#[derive(Clone, Copy, Debug)]
pub enum Condition {
    /// Its type is this or begins with this and a dot.
    Event(&'static str),
    /// Its type is one of these.
    OneOf(&'static [&'static str]),
    /// There is an object at this path.
    Object(&'static str),
    /// There is this text at this path.
    Is(&'static str, &'static str),
}

impl Condition {
    /// The answer.
    pub fn holds(self, event_type: Option<&str>, body: Node<'_>) -> bool {
        match self {
            Self::Event(family) => event_type.is_some_and(|event| in_family(event, family)),
            Self::OneOf(events) => event_type.is_some_and(|event| events.contains(&event)),
            Self::Object(path) => body
                .at(path)
                .is_some_and(|found| found.kind() == crate::payload::Kind::Object),
            Self::Is(path, text) => body.string(path).is_some_and(|found| found == text),
        }
    }
}

/// Whether an event type is this family or one of it.
pub(crate) fn in_family(event: &str, family: &str) -> bool {
    event
        .strip_prefix(family)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// A request that only proves that the address is ours: answered with what it carries.
#[derive(Debug)]
pub struct Handshake {
    /// Text at a path that tells it from a delivery.
    pub when: (&'static str, &'static str),
    /// The member that is sent back, under its own name.
    pub echo: &'static str,
}

/// Every profile, in the order in which they are offered.
static ALL: [&Profile; 10] = [
    &generic::PROFILE,
    &codehost_a::PROFILE,
    &codehost_b::PROFILE,
    &payments::PROFILE,
    &tracker_a::PROFILE,
    &incident::PROFILE,
    &errors::PROFILE,
    &slack::PROFILE,
    &shopify::PROFILE,
    &twilio::PROFILE,
];

/// Every profile, in the order in which they are offered.
pub fn all() -> &'static [&'static Profile] {
    &ALL
}

/// The profile of senders that no other profile knows.
pub fn generic() -> &'static Profile {
    &generic::PROFILE
}

/// The profile of an id or alias.
pub fn find(id_or_alias: &str) -> Option<&'static Profile> {
    ALL.into_iter()
        .find(|profile| profile.id == id_or_alias || profile.alias == Some(id_or_alias))
}

impl Profile {
    /// Whether the vendor documents this event type; others are `other` in metrics.
    pub fn knows(&self, event_type: &str) -> bool {
        self.catalog().any(|known| known.name == event_type)
    }

    /// All event types we know: those that a filter is offered, then the further ones.
    pub fn catalog(&self) -> impl Iterator<Item = &'static EventType> {
        self.events.iter().chain(self.more_events)
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

#[cfg(test)]
mod tests;
