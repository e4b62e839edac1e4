//! Reads what `sync` returns. Each room and event is read alone, so that one of an unknown form, or one that is nested
//! too deeply, does not hide the others.

use super::super::{display_name, file_name};
use super::rooms::ENCRYPTED;
use crate::receive::{ReceivedFile, ReceivedMessage};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The longest ID of an event, in bytes.
const MAX_EVENT_ID: usize = 255;
/// Stands between the ID of an edited message and that of the edit.
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
    /// Whether events before these are left out.
    #[serde(default)]
    limited: bool,
    prev_batch: Option<String>,
}

/// Events that an answer leaves out.
#[derive(Debug)]
pub(super) struct Gap {
    /// The token of its end.
    pub(super) from: String,
}

#[derive(Debug, Deserialize)]
struct Invited {
    invite_state: Events,
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

/// An event of a room that the bot has not joined.
#[derive(Debug, Deserialize)]
struct Stripped {
    #[serde(rename = "type")]
    kind: String,
    sender: String,
    state_key: String,
    content: Box<RawValue>,
}

#[derive(Debug, Deserialize)]
struct Membership {
    #[serde(rename = "membership")]
    state: String,
    #[serde(default)]
    is_direct: bool,
    displayname: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Content {
    msgtype: String,
    #[serde(default)]
    body: String,
    #[serde(rename = "m.mentions")]
    mentions: Option<Mentions>,
    #[serde(rename = "m.relates_to")]
    relates_to: Option<Relation>,
    /// The name of a file. If it is present and not the same as the body, the body is a caption.
    filename: Option<String>,
    /// `mxc://`, the server and the media ID. Absent from encrypted files.
    url: Option<String>,
    /// Present in a recording made in a Matrix program (MSC3245).
    #[serde(rename = "org.matrix.msc3245.voice")]
    voice: Option<IgnoredAny>,
    /// The key and the address of an encrypted file.
    file: Option<IgnoredAny>,
    /// The message after an edit.
    #[serde(rename = "m.new_content")]
    new: Option<Box<RawValue>>,
}

#[derive(Debug, Deserialize)]
struct Mentions {
    #[serde(default)]
    user_ids: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Relation {
    rel_type: Option<String>,
    event_id: Option<String>,
    key: Option<String>,
    #[serde(rename = "m.in_reply_to")]
    in_reply_to: Option<Box<RawValue>>,
    /// Whether a message of a thread is a reply only for programs without threads.
    #[serde(default)]
    is_falling_back: bool,
}

impl Relation {
    fn is_edit(&self) -> bool {
        self.rel_type.as_deref() == Some("m.replace")
    }
}

#[derive(Debug, Deserialize)]
struct RepliedTo {
    event_id: String,
}

#[derive(Debug, Deserialize)]
struct Annotated {
    #[serde(rename = "m.relates_to")]
    relates_to: Relation,
}

/// A reaction of a person to an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reaction {
    pub(super) event_id: String,
    pub(super) sender: String,
    /// The event that it is about.
    pub(super) target: String,
    pub(super) key: String,
}

/// A message or reaction of a person in a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RoomEvent {
    pub(super) event_id: String,
    pub(super) sender: String,
    pub(super) what: What,
    /// The ID of the event that it replies to.
    pub(super) replies_to: Option<String>,
    /// The ID of the message that it edits.
    pub(super) edits: Option<String>,
}

impl RoomEvent {
    /// Returns the ID of the received message, from which [`replied_event`] finds the event that an answer replies to.
    pub(super) fn message_id(&self) -> String {
        let edits = self.edits.as_ref();
        let both = edits.map(|edited| format!("{edited}{EDITED_BY}{}", self.event_id));
        let is_short = |id: &String| id.len() <= MAX_EVENT_ID;
        both.filter(is_short)
            .unwrap_or_else(|| self.event_id.clone())
    }
}

/// Returns the event that an answer to a received message replies to: the message itself, or the original of an edit,
/// because programs do not show edits as messages. `None` if the ID is not that of an event: all events of an encrypted
/// room have one.
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
    /// A file of an encrypted room that was forwarded.
    EncryptedFile {
        names_bot: bool,
    },
    /// A location, or other content that is neither a text nor a file.
    Other,
    Encrypted,
}

impl What {
    /// Whether it names the bot; `None` if a group ignores it in any case.
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

fn invitation(room: &str, invited: &Invited, me: &str) -> Option<ReceivedMessage> {
    let events = invited.invite_state.events.iter();
    let events: Vec<Stripped> = events.filter_map(|raw| read(raw)).collect();
    let is_encrypted = events.iter().any(|event| event.kind == "m.room.encryption");
    let members: Vec<(Stripped, Membership)> = events
        .into_iter()
        .filter(|event| event.kind == "m.room.member")
        .filter_map(|event| {
            let membership = read(&event.content)?;
            Some((event, membership))
        })
        .collect();
    let (own, membership) = members
        .iter()
        .find(|(event, it)| event.state_key == me && it.state == "invite")?;
    let person = own.sender.as_str();
    let found = members.iter().find(|(event, _)| event.state_key == person);
    let name = found.and_then(|(_, it)| it.displayname.as_deref());
    is_user_id(person).then(|| ReceivedMessage {
        message_id: format!("invitation:{room}"),
        person: person.to_owned(),
        name: display_name(name.unwrap_or_default(), person),
        chat: room.to_owned(),
        is_group: !membership.is_direct,
        is_own: true,
        code_note: is_encrypted.then_some(ENCRYPTED),
        is_invitation: true,
        ..ReceivedMessage::default()
    })
}

impl Joined {
    /// Returns the messages and reactions of others, oldest first.
    pub(super) fn said(&self, me: &str) -> Vec<RoomEvent> {
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
        .filter_map(|event| said(event, me))
        .collect()
}

fn said(event: Event, me: &str) -> Option<RoomEvent> {
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

fn edited(content: &Content) -> Option<String> {
    let relation = content.relates_to.as_ref();
    let edit = relation.filter(|it| it.is_edit())?;
    edit.event_id.clone().filter(|id| is_event_id(id))
}

fn replied_to(content: &Content) -> Option<String> {
    let relation = content.relates_to.as_ref()?;
    let replied: RepliedTo = read(relation.in_reply_to.as_deref()?)?;
    let is_reply = !relation.is_falling_back && is_event_id(&replied.event_id);
    is_reply.then_some(replied.event_id)
}

/// Returns the sender and the text of an event that is quoted.
pub(super) fn quoted(event: &RawValue) -> Option<(String, String)> {
    let event: Event = read(event)?;
    if event.kind != "m.room.message" || event.state_key.is_some() {
        return None;
    }
    let content: Content = read(&event.content)?;
    let relation = content.relates_to.as_ref();
    let text = if relation.is_some_and(|it| it.in_reply_to.is_some()) {
        without_quote(&content.body)
    } else {
        &content.body
    };
    Some((event.sender, text.trim().to_owned()))
}

fn reaction(content: Annotated) -> Option<What> {
    let relation = content.relates_to;
    let is_reaction = relation.rel_type.as_deref() == Some("m.annotation");
    let (target, key) = relation.event_id.zip(relation.key)?;
    (is_reaction && is_event_id(&target)).then_some(What::Reaction { target, key })
}

/// Whether the text has the form of an event's ID (<https://spec.matrix.org/latest/appendices/#event-ids>).
fn is_event_id(text: &str) -> bool {
    let is_short = text.len() <= MAX_EVENT_ID;
    is_short && text.starts_with('$') && text.bytes().all(|byte| byte.is_ascii_graphic())
}

fn what(content: &Content, me: &str) -> Option<What> {
    let relation = content.relates_to.as_ref();
    // An edit has its own event, whose text begins with an asterisk.
    if relation.is_some_and(Relation::is_edit) {
        let new: Content = read(content.new.as_deref()?)?;
        let edited = what(
            &Content {
                new: None,
                relates_to: None,
                ..new
            },
            me,
        );
        // A file whose caption is changed is not read again.
        return edited.filter(|edited| matches!(edited, What::Text { .. }));
    }
    match content.msgtype.as_str() {
        "m.text" | "m.emote" => {}
        // Notices are written by programs. Answering them could cause an endless loop.
        "m.notice" => return None,
        "m.image" | "m.file" | "m.audio" => return Some(file(content, me)),
        _ => return Some(What::Other),
    }
    let is_reply = relation.is_some_and(|it| it.in_reply_to.is_some());
    let text = if is_reply {
        without_quote(&content.body)
    } else {
        &content.body
    };
    let names_bot = match &content.mentions {
        Some(mentions) => mentions.user_ids.iter().any(|user| user == me),
        None => has_word(text, me),
    };
    let text = text.trim();
    if text.is_empty() {
        return Some(What::Other);
    }
    Some(What::Text {
        text: text.to_owned(),
        names_bot,
    })
}

/// A picture, file or recording (<https://spec.matrix.org/latest/client-server-api/#mfile>).
fn file(content: &Content, me: &str) -> What {
    let mut mentioned = content.mentions.iter().flat_map(|it| &it.user_ids);
    let names_bot = mentioned.any(|user| user == me);
    if content.file.is_some() {
        return What::EncryptedFile { names_bot };
    }
    let media = content
        .url
        .as_deref()
        .and_then(|url| url.strip_prefix("mxc://"));
    let parts = media.and_then(|media| media.split_once('/'));
    let is_id = |text: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        !text.is_empty() && text.bytes().all(plain)
    };
    let Some((server, id)) = parts.filter(|(server, id)| is_server(server) && is_id(id)) else {
        return What::Other;
    };
    let name = content.filename.as_deref().unwrap_or(&content.body);
    let caption = Some(content.body.trim()).filter(|body| {
        let has_own_name = content.filename.is_some();
        has_own_name && *body != name && !body.is_empty()
    });
    What::File {
        file: ReceivedFile {
            id: format!("{server}/{id}"),
            name: file_name(name),
            is_voice: content.voice.is_some(),
        },
        caption: caption.map(str::to_owned),
        names_bot,
    }
}

/// Removes the quoted text of a reply, which someone else wrote. Programs added it until version 1.13 of the
/// specification.
fn without_quote(body: &str) -> &str {
    let mut rest = body;
    while rest.starts_with("> ") || rest.starts_with(">\n") {
        rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
    }
    rest
}

/// Whether the text has the user's ID as a whole. A dot or a colon may follow it, but not a longer server name or a
/// port.
fn has_word(text: &str, me: &str) -> bool {
    text.match_indices(me).any(|(at, _)| {
        let mut after = text.get(at + me.len()..).unwrap_or_default().chars();
        match after.next() {
            Some('.') => !after.next().is_some_and(char::is_alphanumeric),
            Some(':') => !after.next().is_some_and(char::is_numeric),
            Some(c) => !c.is_alphanumeric() && !matches!(c, '-' | '_'),
            None => true,
        }
    })
}

/// Whether the text is a user ID that can be part of a session key: its server name contains no separator.
fn is_user_id(text: &str) -> bool {
    let parts = text.strip_prefix('@').and_then(|text| text.split_once(':'));
    parts.is_some_and(|(_, server)| is_server(server))
}

/// Whether the text has the characters of a server name.
fn is_server(text: &str) -> bool {
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':' | b'[' | b']');
    !text.is_empty() && text.bytes().all(plain)
}

#[cfg(test)]
mod tests;
