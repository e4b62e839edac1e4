//! Vendor profiles, as data. Contains the data types, not their use. Each profile is in its vendor's folder. The
//! `event` module reads events, `summary` writes summaries, and `verify` checks signatures.

mod handshake;
mod known;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::auth_mode::AuthMode;
use crate::event_family::in_family;
use crate::payload::{BodyKind, Node};
use crate::summary::field::Summary;

pub use handshake::{Echo, Handshake, Reply, When};
pub(crate) use known::lists;
pub use known::{SCHEDULE, all, find, find_event_type, generic, is_taken, set_added};

/// The way that one vendor sends webhooks.
#[derive(Debug)]
pub struct Profile {
    /// The neutral ID, as stored and returned by the API.
    pub id: &'static str,
    /// The vendor's own name, accepted on input.
    pub alias: Option<&'static str>,
    pub name: &'static str,
    /// The vendor's events, in a few words.
    pub about: &'static str,
    /// How deliveries are verified unless the webhook sets a mode.
    pub default_auth_mode: AuthMode,
    /// How the body encodes the payload.
    pub body: BodyKind,
    /// The location of the event type.
    pub event: EventSource,
    /// Locations of the deduplication key. The first location with a value is used. Without a value, deliveries are
    /// not deduplicated.
    pub delivery_key: &'static [KeySource],
    /// Protection against replay of a captured delivery.
    pub replay: Replay,
    /// Rules for the entity key, which is used for one session per entity. The first matching rule is used.
    pub entities: &'static [EntityRule],
    /// Event types offered for filters.
    pub events: &'static [EventType],
    /// Other event types that the vendor documents. Filters accept them too.
    pub more_events: &'static [EventType],
    /// The lower-case names of the headers with event type and delivery ID, which may be recorded. `Content-Type`
    /// may always be recorded.
    pub headers: &'static [&'static str],
    /// Setup instructions for the vendor's site. `{url}` and `{secret}` are replaced with the webhook's
    /// values.
    pub guide: &'static str,
    /// The request that verifies the endpoint instead of delivering an event.
    pub handshake: Option<Handshake>,
    /// Event types with which the vendor only tests the connection. They are recorded but start no agent.
    pub test_events: &'static [&'static str],
    /// Responses that the sender requires for some event types.
    pub replies: &'static [Reply],
    /// How events are summarized for people.
    pub summary: Summary,
    /// Test deliveries, as JSON text. See `sample` for the format.
    pub sample: &'static str,
}

/// An event type that a vendor documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct EventType {
    /// The name used in filters and deliveries.
    pub name: &'static str,
    /// A description of the event.
    pub description: &'static str,
}

/// Short constructor for the event tables.
pub(crate) const fn event(name: &'static str, description: &'static str) -> EventType {
    EventType { name, description }
}

/// The location of an event's type (headers before body), and the text appended to it.
#[derive(Debug)]
pub struct EventSource {
    /// Messages about the subscription. They have their own event type, regardless of other fields. The first match
    /// is used.
    pub notices: &'static [Notice],
    /// Whether the webhook can configure its own header, which is read first.
    pub own_header: bool,
    /// Headers to read, in lower case, neutral names first. The first header that is present is used.
    pub headers: &'static [&'static str],
    /// Body fields to read if no header is present. The first field with text is used.
    pub body: &'static [BodyEvent],
    /// Maps the vendor's names to ours.
    pub names: Option<Names>,
    /// A header whose value is appended after a dot; lower case.
    pub detail_header: Option<&'static str>,
    /// Rules for the text to append after a dot if that header is absent. The first rule that matches and finds
    /// text is used.
    pub detail: &'static [Detail],
}

/// A message about the subscription, such as its end.
#[derive(Clone, Copy, Debug)]
pub struct Notice {
    pub when: When,
    /// The type of the event.
    pub event: &'static str,
}

/// An event type in the body.
#[derive(Debug)]
pub struct BodyEvent {
    /// Prepended to the text, such as `message.`.
    pub prefix: &'static str,
    pub path: &'static str,
}

/// The mapping of vendor names to event types. A value that is already in the profile's list is unchanged.
#[derive(Debug)]
pub struct Names {
    /// Pairs of the vendor's name and ours.
    pub known: &'static [(&'static str, &'static str)],
    /// A suffix that is removed from unknown names, which are then converted to snake case.
    pub ending: &'static str,
}

/// A suffix for an event type.
#[derive(Debug)]
pub struct Detail {
    /// The event types that this applies to. Empty applies to all.
    pub of: &'static [&'static str],
    pub path: &'static str,
}

/// The location of a delivery's deduplication key.
#[derive(Clone, Copy, Debug)]
pub enum KeySource {
    /// A header, lower case.
    Header(&'static str),
    /// A header, lower case, whose value is unique only in combination with the event type.
    EventAndHeader(&'static str),
    Body(&'static str),
    /// The lower-case hex SHA-256 of the body.
    BodyHash,
}

/// How duplicates are detected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReplayGuard {
    /// By the delivery key. If no signature covers the sender's ID, a captured delivery can be replayed
    /// under a new ID.
    #[default]
    Key,
    /// By the delivery key or the verified bytes: the body, and the ID, timestamp and URL if they are signed.
    Bytes,
}

/// Protection against replay of a captured delivery, in the profile's default auth mode.
#[derive(Clone, Copy, Debug)]
pub struct Replay {
    /// Whether the signature covers the ID that `delivery_key` reads.
    pub id_is_signed: bool,
    /// The guard suggested for new webhooks.
    pub guard: ReplayGuard,
    /// The reason, shown to people.
    pub note: &'static str,
}

/// How the entity key of an event is built.
#[derive(Debug)]
pub struct EntityRule {
    /// The conditions. The rule applies only if all of them match.
    pub when: &'static [Condition],
    /// The key, with `{path}` placeholders for body values. The rule does not apply if a path has no text
    /// or number.
    pub key: &'static str,
}

/// A condition on an event.
#[derive(Clone, Copy, Debug)]
pub enum Condition {
    /// The event type equals this or starts with this and a dot.
    Event(&'static str),
    OneOf(&'static [&'static str]),
    Object(&'static str),
    /// The text at this path equals this text.
    Is(&'static str, &'static str),
}

impl Condition {
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

impl Profile {
    /// Returns all known event types. Those offered for filters come first.
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
