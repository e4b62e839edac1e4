//! Invitations to rooms.

use super::identifiers::is_user_id;
use super::{Events, read};
use crate::receive::ReceivedMessage;
use crate::receivers::display_name;
use crate::receivers::matrix::ENCRYPTED;
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Debug, Deserialize)]
pub(super) struct Invited {
    invite_state: Events,
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

pub(super) fn invitation(room: &str, invited: &Invited, me: &str) -> Option<ReceivedMessage> {
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
