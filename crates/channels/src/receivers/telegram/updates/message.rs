//! The message of an update.

use super::{Entity, Message, UNKNOWN_EDIT, UNREAD, Update, User};
use crate::quotes::{Quote, QuotedAuthor, ReceivedQuote};
use crate::receive::ReceivedMessage;
use crate::receivers::display_name;
use crate::receivers::telegram::texts::Texts;
use crate::receivers::telegram::{Bot, files};

/// Returns the message of an update if it is from a person and meant for the bot. `is_named` is true if it names the
/// bot.
pub(in super::super) fn message_of(
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
    // A live location is edited repeatedly, and has no text.
    let is_unknown = is_edit && before.is_none() && !now.trim().is_empty();
    // Telegram also reports edits that do not change the text, such as a link preview.
    if is_edit && !is_unknown && before.is_none_or(|before| before == now) {
        return None;
    }
    let thread = message
        .message_thread_id
        .filter(|_| message.is_topic_message);
    let quote = quote_of(&message, from, bot).map(ReceivedQuote::Message);
    Some(ReceivedMessage {
        // An edit is another update of the same message, so the ID contains both.
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

/// Returns the message that is replied to, or the selected part of it. If that message is in another chat, only the
/// selected part is known.
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

/// Returns whether a message in a group names the bot or replies to it.
pub(super) fn is_named(message: &Message, bot: &Bot) -> bool {
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
