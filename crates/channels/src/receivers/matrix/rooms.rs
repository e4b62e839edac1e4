//! The messages and reactions of a room that are addressed to the bot.

use super::super::{Source, display_name};
use super::ENCRYPTED;
use super::buttons::press_of;
use super::events::{Reaction, RoomEvent, What};
use super::members::{Member, members};
use super::quotes::is_own;
use crate::error::Failure;
use crate::quotes::ReceivedQuote;
use crate::receive::ReceivedMessage;
use crate::receivers::buttons::Press;
use std::time::Duration;
use tokio::time::Instant;

/// The maximum number of look-ups per response of `sync`, in one room and in total. The numbers apply to reactions, and
/// separately to replies in groups. If a reaction is skipped, the person can react again. If a reply is skipped, the
/// person can mention the bot instead.
const LOOKUPS: (usize, usize) = (5, 10);
/// The time limit for all look-ups of reactions together.
const REACTION_TIME: Duration = Duration::from_secs(10);
/// The time limit for all look-ups of replies together.
const REPLY_TIME: Duration = Duration::from_secs(5);
const ENCRYPTED_FILE: &str =
    "Encrypted files cannot be read here. Send the file itself in a room without encryption.";

/// The messages and reactions of a room that are addressed to the bot.
#[derive(Debug, Default)]
pub(super) struct Meant {
    pub(super) messages: Vec<ReceivedMessage>,
    pub(super) presses: Vec<Press>,
    /// Whether a member of a group wrote an encrypted message. In other rooms, such a message gets
    /// an answer.
    pub(super) is_encrypted: bool,
}

impl Meant {
    pub(super) fn extend(&mut self, other: Self) {
        self.messages.extend(other.messages);
        self.presses.extend(other.presses);
        self.is_encrypted |= other.is_encrypted;
    }
}

/// The remaining look-ups for one response of `sync`. Replies are counted separately: each member of a group can send
/// many replies, and they must not prevent the look-up of reactions to questions.
#[derive(Debug)]
pub(super) struct Lookups {
    reactions: Remaining,
    replies: Remaining,
}

impl Default for Lookups {
    fn default() -> Self {
        let within = |time| Remaining {
            count: LOOKUPS.1,
            time,
        };
        Self {
            reactions: within(REACTION_TIME),
            replies: within(REPLY_TIME),
        }
    }
}

#[derive(Debug)]
struct Remaining {
    count: usize,
    time: Duration,
}

impl Remaining {
    /// Looks up a reaction or a reply. After a failure, only this one is lost. Anyone can send reactions and replies,
    /// so other messages must not wait for them.
    async fn find<T>(&mut self, looking: impl Future<Output = Result<T, Failure>>) -> Option<T> {
        if self.count == 0 || self.time.is_zero() {
            return None;
        }
        self.count -= 1;
        let begun = Instant::now();
        let found = tokio::time::timeout(self.time, looking).await;
        self.time = self.time.saturating_sub(begun.elapsed());
        match found {
            Ok(Ok(found)) => Some(found),
            Ok(Err(error)) => {
                tracing::warn!(
                    ?error,
                    "a reaction or reply on Matrix could not be looked up"
                );
                None
            }
            Err(_) => {
                tracing::warn!("reactions and replies on Matrix could not be looked up in time");
                None
            }
        }
    }
}

/// Returns the messages and reactions of a room that are addressed to the bot.
pub(super) async fn meant(
    source: Source<'_>,
    room: &str,
    said: Vec<RoomEvent>,
    me: &str,
    lookups: &mut Lookups,
) -> Result<Meant, Failure> {
    let mut meant = Meant::default();
    let Some(members) = members(source, room).await? else {
        return Ok(meant);
    };
    let is_pair = members.joined.len() == 2 && members.joined.contains_key(me);
    let mut looked = 0;
    for mut said in said {
        // Does not answer a person who has left the room, because the members may have changed since then.
        let Some(member) = members.joined.get(&said.sender) else {
            continue;
        };
        if let What::Reaction { target, key } = said.what {
            // Questions are asked only in rooms with two members.
            if !is_pair || looked >= LOOKUPS.0 {
                continue;
            }
            looked += 1;
            let reaction = Reaction {
                event_id: said.event_id,
                sender: said.sender,
                target,
                key,
            };
            let looking = press_of(source, room, reaction, me);
            let press = lookups.reactions.find(looking).await;
            meant.presses.extend(press.flatten());
            continue;
        }
        meant.is_encrypted |= !is_pair && said.what == What::Encrypted;
        let unnamed = said.what.names_bot_mut().filter(|names_bot| !**names_bot);
        if let (false, Some(names_bot), Some(event)) = (is_pair, unnamed, &said.replies_to)
            && looked < LOOKUPS.0
        {
            looked += 1;
            let is_reply = lookups.replies.find(is_own(source, room, event, me)).await;
            *names_bot = is_reply == Some(true);
        }
        let member: Member = serde_json::from_str(member.get()).unwrap_or_default();
        let message = message(room, said, &member, !is_pair);
        meant.messages.extend(message);
    }
    Ok(meant)
}

fn message(
    room: &str,
    said: RoomEvent,
    member: &Member,
    is_group: bool,
) -> Option<ReceivedMessage> {
    let name = member.display_name.as_deref().unwrap_or_default();
    let message = ReceivedMessage {
        message_id: said.message_id(),
        name: display_name(name, &said.sender),
        person: said.sender,
        chat: room.to_owned(),
        is_group,
        is_own: true,
        quote: said.replies_to.map(ReceivedQuote::Id),
        ..ReceivedMessage::default()
    };
    match said.what {
        What::Text { text, names_bot } => (names_bot || !is_group).then_some(ReceivedMessage {
            text: Some(text),
            ..message
        }),
        What::Reaction { .. } => None,
        What::File {
            file,
            caption,
            names_bot,
        } => (names_bot || !is_group).then_some(ReceivedMessage {
            text: caption,
            files: vec![file],
            ..message
        }),
        What::EncryptedFile { names_bot } => (names_bot || !is_group).then_some(ReceivedMessage {
            answer: Some(ENCRYPTED_FILE),
            ..message
        }),
        // A message without text or file gets a fixed answer.
        What::Other => (!is_group).then_some(message),
        // All encrypted messages of the room get the same ID, so the room is answered once.
        What::Encrypted => (!is_group).then_some(ReceivedMessage {
            message_id: format!("encrypted:{room}"),
            answer: Some(ENCRYPTED),
            code_note: Some(ENCRYPTED),
            ..message
        }),
    }
}

#[cfg(test)]
mod tests;
