//! Reads the response of `sync`. Each room and event is parsed separately. An event of an unknown form, or one that is
//! nested too deeply, does not hide the others.

mod content;
mod identifiers;
mod invitation;

use crate::receive::{ReceivedFile, ReceivedMessage};
pub(super) use content::quoted;
use content::{edited, reaction, replied_to, what};
use identifiers::{MAX_EVENT_ID, is_event_id, is_user_id};
use invitation::invitation;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The separator between the ID of an edited message and the ID of the edit.
const EDITED_BY: &str = "|";

#[derive(Debug, Deserialize)]
pub(super) struct Synced {
    pub(super) next_batch: String,
    #[serde(default)]
    rooms: Rooms,
}

#[derive(Debug, Default, Deserialize)]
struct Rooms {
    #[serde(default)]
    join: BTreeMap<String, Box<RawValue>>,
    #[serde(default)]
    invite: BTreeMap<String, Box<RawValue>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Joined {
    timeline: Timeline,
}

#[derive(Debug, Deserialize)]
struct Timeline {
    events: Vec<Box<RawValue>>,
    /// Whether events before these are omitted.
    #[serde(default)]
    limited: bool,
    prev_batch: Option<String>,
}

/// Events that an answer omits.
#[derive(Debug)]
pub(super) struct Gap {
    /// The token of the end of the gap.
    pub(super) from: String,
}

#[derive(Debug, Deserialize)]
struct Events {
    events: Vec<Box<RawValue>>,
}

#[derive(Debug, Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    #[serde(rename = "event_id")]
    id: String,
    sender: String,
    content: Box<RawValue>,
    state_key: Option<IgnoredAny>,
}

/// A reaction of a person to an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reaction {
    pub(super) event_id: String,
    pub(super) sender: String,
    /// The event that the reaction refers to.
    pub(super) target: String,
    pub(super) key: String,
}

/// A message or reaction of a person in a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RoomEvent {
    pub(super) event_id: String,
    pub(super) sender: String,
    pub(super) what: What,
    /// The ID of the event that this event replies to.
    pub(super) replies_to: Option<String>,
    /// The ID of the message that this event edits.
    pub(super) edits: Option<String>,
}

impl RoomEvent {
    /// Returns the ID of the received message. [`replied_event`] extracts the event that an answer replies to from it.
    pub(super) fn message_id(&self) -> String {
        let edits = self.edits.as_ref();
        let both = edits.map(|edited| format!("{edited}{EDITED_BY}{}", self.event_id));
        let is_short = |id: &String| id.len() <= MAX_EVENT_ID;
        both.filter(is_short)
            .unwrap_or_else(|| self.event_id.clone())
    }
}

/// Returns the event that an answer to a received message replies to: the message itself, or the original of an edit,
/// because programs do not show edits as messages. Returns `None` if the ID is not the ID of an event: all messages of
/// an encrypted room have the same ID.
pub(crate) fn replied_event(message_id: &str) -> Option<&str> {
    let event = message_id.split_once(EDITED_BY);
    let event = event.map_or(message_id, |(edited, _)| edited);
    is_event_id(event).then_some(event)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    Text {
        text: String,
        names_bot: bool,
    },
    /// A reaction to an event.
    Reaction {
        target: String,
        key: String,
    },
    File {
        file: ReceivedFile,
        caption: Option<String>,
        names_bot: bool,
    },
    /// A forwarded file of an encrypted room.
    EncryptedFile {
        names_bot: bool,
    },
    /// A location, or other content that is neither a text nor a file.
    Other,
    Encrypted,
}

impl What {
    /// Returns the flag for naming the bot, or `None` if messages of this kind are always ignored
    /// in groups.
    pub(super) fn names_bot_mut(&mut self) -> Option<&mut bool> {
        match self {
            Self::Text { names_bot, .. }
            | Self::File { names_bot, .. }
            | Self::EncryptedFile { names_bot } => Some(names_bot),
            Self::Reaction { .. } | Self::Other | Self::Encrypted => None,
        }
    }
}

fn read<T: DeserializeOwned>(raw: &RawValue) -> Option<T> {
    serde_json::from_str(raw.get()).ok()
}

impl Synced {
    /// Returns the rooms with new events.
    pub(super) fn joined(&self) -> impl Iterator<Item = (String, Joined)> {
        let rooms = self.rooms.join.iter();
        rooms.filter_map(|(room, raw)| Some((room.clone(), read(raw)?)))
    }

    /// Returns the invitations of rooms.
    pub(super) fn invitations(&self, me: &str) -> Vec<ReceivedMessage> {
        let rooms = self.rooms.invite.iter();
        rooms
            .filter_map(|(room, raw)| invitation(room, &read(raw)?, me))
            .collect()
    }
}

impl Joined {
    /// Returns the messages and reactions of others, oldest first.
    pub(super) fn room_events(&self, me: &str) -> Vec<RoomEvent> {
        read_all(&self.timeline.events, me)
    }

    /// Returns the gap before these events, if there is one.
    pub(super) fn gap(&self) -> Option<Gap> {
        let from = self.timeline.prev_batch.clone();
        from.filter(|_| self.timeline.limited)
            .map(|from| Gap { from })
    }
}

/// Returns the messages and reactions of others.
pub(super) fn read_all(events: &[Box<RawValue>], me: &str) -> Vec<RoomEvent> {
    let events = events.iter().filter_map(|raw| read::<Event>(raw));
    events
        .filter(|event| event.sender != me && is_user_id(&event.sender))
        .filter_map(|event| room_event(event, me))
        .collect()
}

fn room_event(event: Event, me: &str) -> Option<RoomEvent> {
    if event.state_key.is_some() {
        return None;
    }
    let (mut replies_to, mut edits) = (None, None);
    let what = match event.kind.as_str() {
        "m.room.message" => {
            let content = read(&event.content)?;
            replies_to = replied_to(&content);
            edits = edited(&content);
            what(&content, me)?
        }
        "m.room.encrypted" => What::Encrypted,
        "m.reaction" => reaction(read(&event.content)?)?,
        _ => return None,
    };
    Some(RoomEvent {
        event_id: event.id,
        sender: event.sender,
        what,
        replies_to,
        edits,
    })
}

#[cfg(test)]
mod tests;
