//! Reads the updates of the Bot API (<https://core.telegram.org/bots/api#update>).

use super::super::display_name;
use super::Bot;
use super::files;
use super::texts::Texts;
use crate::quotes::{Quote, QuotedAuthor, ReceivedQuote};
use crate::receive::ReceivedMessage;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

/// The answer to an edit if the earlier text is not remembered: since a restart, or because of newer messages.
const UNKNOWN_EDIT: &str = "It is not known whether this edit changed the text, because the earlier text is no longer \
                            in memory. Send the new text as a message.";
/// The answer to a video, a video message and an audio file, also if it has a caption.
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
    /// Set if a chat wrote the message instead of a person.
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
    /// The part of the message replied to that the person chose.
    quote: Option<ChosenQuote>,
    /// Set if someone else wrote the text.
    forward_origin: Option<Value>,
    /// Replaces `forward_origin` on servers with a Bot API before version 7.0.
    forward_date: Option<Value>,
    /// Set if a bot wrote the text.
    via_bot: Option<Value>,
    /// Set if the message is one of several that were sent together.
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
    /// The album that a new message belongs to, if it belongs to one.
    pub(super) fn album(&self) -> Option<Album> {
        let message = self.message.as_ref()?;
        let group = message.media_group_id.clone()?;
        Some(Album {
            chat: message.chat.id,
            group,
        })
    }

    /// Whether a message in a group names the bot or replies to it.
    pub(super) fn names(&self, bot: &Bot) -> bool {
        let message = self.message.as_ref().or(self.edited_message.as_ref());
        message.is_some_and(|message| is_named(message, bot))
    }
}

/// The message of an update, if it is from a person and meant for the bot. `is_named` is whether it names the bot.
pub(super) fn message_of(
    update: Update,
    (bot, is_named): (&Bot, bool),
    texts: &mut Texts,
) -> Option<ReceivedMessage> {
    let is_edit = update.message.is_none();
    let message = update.message.or(update.edited_message)?;
    let from = message.from.as_ref()?;
    let is_group = match message.chat.kind.as_str() {
        "private" => false,
        "group" | "supergroup" => true,
        _ => return None,
    };
    if from.is_bot || message.sender_chat.is_some() || (is_group && !is_named) {
        return None;
    }
    let text = message.text.clone().or_else(|| message.caption.clone());
    let now = text.as_deref().unwrap_or_default();
    let before = texts.remember((message.chat.id, message.message_id), now);
    // A live location is edited all the time, and has no text.
    let is_unknown = is_edit && before.is_none() && !now.trim().is_empty();
    // Telegram also reports edits that do not change the text, such as the preview of a link.
    if is_edit && !is_unknown && before.is_none_or(|before| before == now) {
        return None;
    }
    let thread = message
        .message_thread_id
        .filter(|_| message.is_topic_message);
    let quote = quote_of(&message, from, bot).map(ReceivedQuote::Message);
    Some(ReceivedMessage {
        // An edit is an update of the same message.
        message_id: format!("{}:{}", update.update_id, message.message_id),
        person: from.id.to_string(),
        name: name_of(from),
        chat: message.chat.id.to_string(),
        thread: thread.map(|thread| thread.to_string()),
        is_group,
        is_own: message.forward_origin.is_none()
            && message.forward_date.is_none()
            && message.via_bot.is_none(),
        answer: if is_unknown {
            Some(UNKNOWN_EDIT)
        } else {
            is_unread(&message).then_some(UNREAD)
        },
        text: text.filter(|text| !text.trim().is_empty()),
        files: files::file_of(message.document, message.voice, message.photo)
            .into_iter()
            .collect(),
        quote,
        ..ReceivedMessage::default()
    })
}

const fn is_unread(message: &Message) -> bool {
    message.video.is_some() || message.video_note.is_some() || message.audio.is_some()
}

/// The message that is replied to, or the chosen part of it. If that message is in another chat, only the chosen part
/// is known.
fn quote_of(message: &Message, from: &User, bot: &Bot) -> Option<Quote> {
    let replied = message.reply_to_message.as_deref();
    let whole = replied.and_then(|it| it.text.as_ref().or(it.caption.as_ref()));
    let chosen = message.quote.as_ref().map(|quote| &quote.text);
    let text = chosen.or(whole)?;
    let user = replied
        .filter(|it| it.sender_chat.is_none())
        .and_then(|it| it.from.as_ref());
    let is_own = replied.is_some_and(|it| {
        it.forward_origin.is_none() && it.forward_date.is_none() && it.via_bot.is_none()
    });
    let by = match user {
        Some(user) if user.id == bot.id => QuotedAuthor::Bot,
        Some(user) if user.id == from.id && is_own => QuotedAuthor::Person,
        _ => QuotedAuthor::Other,
    };
    Quote::of(by, user.map(name_of).unwrap_or_default(), text)
}

fn name_of(user: &User) -> String {
    let whole = format!("{} {}", user.first_name, user.last_name);
    let name = match whole.trim() {
        "" => user.username.as_str(),
        whole => whole,
    };
    display_name(name, &user.id.to_string())
}

/// Whether a message in a group names the bot or replies to it.
fn is_named(message: &Message, bot: &Bot) -> bool {
    let replied = message.reply_to_message.as_ref();
    let replied = replied.and_then(|replied| replied.from.as_ref());
    if replied.is_some_and(|user| user.id == bot.id) {
        return true;
    }
    let (text, entities) = match &message.text {
        Some(text) => (text, &message.entities),
        None => match &message.caption {
            Some(caption) => (caption, &message.caption_entities),
            None => return false,
        },
    };
    let units: Vec<u16> = text.encode_utf16().collect();
    let named = |entity: &Entity| {
        let range = entity.offset..entity.offset.saturating_add(entity.length);
        let marked = String::from_utf16_lossy(units.get(range).unwrap_or_default());
        match entity.kind.as_str() {
            "mention" | "bot_command" => marked
                .rsplit_once('@')
                .is_some_and(|(_, name)| name.eq_ignore_ascii_case(&bot.username)),
            "text_mention" => entity.user.as_ref().is_some_and(|user| user.id == bot.id),
            _ => false,
        }
    };
    !bot.username.is_empty() && entities.iter().any(named)
}

#[cfg(test)]
mod tests;
