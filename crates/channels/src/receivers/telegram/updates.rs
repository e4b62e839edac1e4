//! Reads the updates of the Bot API (<https://core.telegram.org/bots/api#update>).

mod message;

use super::Bot;
use super::files;
use message::is_named;
pub(super) use message::message_of;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

/// The answer to an edit if the earlier text is no longer in memory, after a restart or because of newer messages.
const UNKNOWN_EDIT: &str = "It is not known whether this edit changed the text, because the earlier text is no longer \
                            in memory. Send the new text as a message.";
/// The answer to a video, a video message or an audio file, with or without a caption.
const UNREAD: &str = "Videos and audio files cannot be received here. Only text, voice messages, pictures and \
                      documents can.";

#[derive(Deserialize)]
#[expect(clippy::struct_field_names, reason = "the names of the Bot API")]
pub(super) struct Update {
    update_id: i64,
    message: Option<Message>,
    edited_message: Option<Message>,
    pub(super) callback_query: Option<CallbackQuery>,
}

#[derive(Deserialize)]
#[expect(clippy::struct_field_names, reason = "the names of the Bot API")]
struct Message {
    message_id: i64,
    from: Option<User>,
    /// Set if a chat, not a person, wrote the message.
    sender_chat: Option<Value>,
    chat: Chat,
    text: Option<String>,
    caption: Option<String>,
    /// The photo of the message, in several sizes.
    #[serde(default)]
    photo: Vec<files::PhotoSize>,
    document: Option<files::Document>,
    voice: Option<files::Voice>,
    video: Option<IgnoredAny>,
    /// A round video message.
    video_note: Option<IgnoredAny>,
    /// A file of music.
    audio: Option<IgnoredAny>,
    #[serde(default)]
    entities: Vec<Entity>,
    #[serde(default)]
    caption_entities: Vec<Entity>,
    reply_to_message: Option<Box<Replied>>,
    /// The part that the person selected from the message replied to.
    quote: Option<ChosenQuote>,
    /// Set if another person wrote the text.
    forward_origin: Option<Value>,
    /// The equivalent of `forward_origin` on servers with a Bot API before version 7.0.
    forward_date: Option<Value>,
    /// Set if a bot wrote the text.
    via_bot: Option<Value>,
    /// Set if the message is one of several messages that were sent together.
    media_group_id: Option<String>,
    message_thread_id: Option<i64>,
    #[serde(default)]
    is_topic_message: bool,
}

#[derive(Deserialize)]
struct Replied {
    from: Option<User>,
    sender_chat: Option<Value>,
    text: Option<String>,
    caption: Option<String>,
    forward_origin: Option<Value>,
    forward_date: Option<Value>,
    via_bot: Option<Value>,
}

#[derive(Deserialize)]
struct ChosenQuote {
    text: String,
}

#[derive(Deserialize)]
pub(super) struct User {
    pub(super) id: i64,
    #[serde(default)]
    is_bot: bool,
    #[serde(default)]
    first_name: String,
    #[serde(default)]
    last_name: String,
    #[serde(default)]
    username: String,
}

#[derive(Deserialize)]
pub(super) struct Chat {
    pub(super) id: i64,
    #[serde(rename = "type")]
    pub(super) kind: String,
}

/// The press of a button.
#[derive(Deserialize)]
pub(super) struct CallbackQuery {
    pub(super) id: String,
    pub(super) from: User,
    /// Absent if the message is too old, or was sent inline.
    pub(super) message: Option<PressedMessage>,
    pub(super) data: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct PressedMessage {
    pub(super) message_id: i64,
    pub(super) chat: Chat,
}

/// Identifies an album.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Album {
    pub(super) chat: i64,
    pub(super) group: String,
}

/// A range of a text, in UTF-16 code units.
#[derive(Deserialize)]
struct Entity {
    #[serde(rename = "type")]
    kind: String,
    offset: usize,
    length: usize,
    user: Option<User>,
}

impl Update {
    /// Returns the album of a new message, if the message is part of one.
    pub(super) fn album(&self) -> Option<Album> {
        let message = self.message.as_ref()?;
        let group = message.media_group_id.clone()?;
        Some(Album {
            chat: message.chat.id,
            group,
        })
    }

    /// Returns whether a message in a group names the bot or replies to it.
    pub(super) fn names(&self, bot: &Bot) -> bool {
        let message = self.message.as_ref().or(self.edited_message.as_ref());
        message.is_some_and(|message| is_named(message, bot))
    }
}

#[cfg(test)]
mod tests;
