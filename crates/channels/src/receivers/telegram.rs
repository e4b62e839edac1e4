//! `telegram`: long polling with `getUpdates` (<https://core.telegram.org/bots/api#getupdates>). A request with an
//! offset confirms all updates before it.

mod buttons;
mod files;
mod texts;

use self::buttons::{CallbackQuery, TelegramButtons, press_of};
use self::texts::Texts;
use super::buttons::Buttons;
use super::{PlaceKeys, Receiver, Receiving, Source, display_name};
use crate::error::Failure;
use crate::receive::{ReceiveError, Received, ReceivedMessage};
use crate::senders::telegram::{BASE_URL, number_or_text};
use crate::vendor::{Answer, Limits, call_within, join};
use futures_util::future::BoxFuture;
use gatehouse_outbound::AddressSource;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;

/// How long Telegram holds a request without updates, in seconds.
const POLL_SECONDS: u64 = 30;
/// Updates per request. With the limit below, a request never fails because of its size.
const UPDATES: u64 = 20;
const LIMITS: Limits = Limits {
    timeout: Duration::from_secs(POLL_SECONDS + 15),
    bytes: 16 * 1024 * 1024,
};
/// Wait after Telegram reported that another program receives.
const CONFLICT: Duration = Duration::from_secs(30);
/// After a week without updates, Telegram counts from another number.
const FORGETS_AFTER: Duration = Duration::from_hours(6 * 24);

#[derive(Debug)]
pub(crate) struct TelegramReceiver;

/// The bot at Telegram.
#[derive(Clone, Debug)]
struct Bot {
    id: i64,
    username: String,
}

#[derive(Debug, Default)]
struct Polling {
    /// The bot's own ID and name, once they are known.
    bot: Option<Bot>,
    texts: Texts,
}

#[derive(Deserialize)]
struct Updates {
    result: Vec<Value>,
}

#[derive(Deserialize)]
#[expect(clippy::struct_field_names, reason = "the names of the Bot API")]
struct Update {
    update_id: i64,
    message: Option<Message>,
    edited_message: Option<Message>,
    callback_query: Option<CallbackQuery>,
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
    /// The same photo in several sizes.
    #[serde(default)]
    photo: Vec<files::PhotoSize>,
    document: Option<files::Document>,
    voice: Option<files::Voice>,
    #[serde(default)]
    entities: Vec<Entity>,
    #[serde(default)]
    caption_entities: Vec<Entity>,
    reply_to_message: Option<Box<Replied>>,
    /// Set if someone else wrote the text.
    forward_origin: Option<Value>,
    /// The same before version 7.0 of the Bot API, on a server of the owner's.
    forward_date: Option<Value>,
    /// Set if a bot wrote the text.
    via_bot: Option<Value>,
    message_thread_id: Option<i64>,
    #[serde(default)]
    is_topic_message: bool,
}

#[derive(Deserialize)]
struct Replied {
    from: Option<User>,
}

#[derive(Deserialize)]
struct User {
    id: i64,
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
struct Chat {
    id: i64,
    #[serde(rename = "type")]
    kind: String,
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

impl Receiving for Polling {
    fn receive<'a>(
        &'a mut self,
        source: Source<'a>,
        position: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Received, ReceiveError>> {
        Box::pin(async move {
            let bot = match &self.bot {
                Some(bot) => bot.clone(),
                None => own_bot(source).await?,
            };
            self.bot = Some(bot.clone());
            let next: Option<i64> = position.and_then(|position| position.parse().ok());
            let mut body = json!({
                "timeout": POLL_SECONDS,
                "limit": UPDATES,
                "allowed_updates": ["message", "edited_message", "callback_query"],
            });
            if let (Some(next), Some(fields)) = (next, body.as_object_mut()) {
                fields.insert("offset".to_owned(), Value::from(next));
            }
            let answer = call(source, "getUpdates", &body).await?;
            check(&answer)?;
            let updates: Updates = answer.parse().ok_or_else(not_the_api)?;
            let mut newest = None;
            let (mut messages, mut presses) = (Vec::new(), Vec::new());
            for update in updates.result {
                let Some(id) = update.get("update_id").and_then(Value::as_i64) else {
                    return Err(not_the_api().into());
                };
                // Not the maximum of all time: after a week without updates, Telegram counts from another number.
                newest = newest.max(Some(id.saturating_add(1)));
                // An update of an unknown form is skipped. Otherwise it would be received forever.
                let Ok(mut update) = serde_json::from_value::<Update>(update) else {
                    continue;
                };
                presses.extend(update.callback_query.take().and_then(press_of));
                messages.extend(message_of(update, &bot, &mut self.texts));
            }
            Ok(Received {
                position: newest.or(next).map(|next| next.to_string()),
                messages,
                presses,
                ..Received::default()
            })
        })
    }
}

impl Receiver for TelegramReceiver {
    fn start(&self) -> Box<dyn Receiving> {
        Box::new(Polling::default())
    }

    fn place_keys(&self) -> PlaceKeys {
        PlaceKeys {
            chat: "chat_id",
            thread: Some("message_thread_id"),
        }
    }

    fn buttons(&self) -> Option<&'static dyn Buttons> {
        Some(&TelegramButtons)
    }

    fn forgets_after(&self) -> Option<Duration> {
        Some(FORGETS_AFTER)
    }

    fn fetch_file<'a>(
        &'a self,
        source: Source<'a>,
        file_id: &'a str,
        max_bytes: usize,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, Failure>> {
        Box::pin(files::fetch(source, file_id, max_bytes))
    }

    fn can_speak(&self) -> bool {
        true
    }

    fn send_voice<'a>(
        &'a self,
        source: Source<'a>,
        chat: &'a str,
        thread: Option<&'a str>,
        audio: Vec<u8>,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(files::send_voice(source, chat, thread, audio))
    }

    fn show_typing<'a>(
        &'a self,
        source: Source<'a>,
        chat: &'a str,
        thread: Option<&'a str>,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            let mut body = json!({
                "chat_id": number_or_text(chat.to_owned()),
                "action": "typing",
            });
            if let (Some(thread), Some(fields)) = (thread, body.as_object_mut()) {
                let thread = number_or_text(thread.to_owned());
                fields.insert("message_thread_id".to_owned(), thread);
            }
            let answer = call(source, "sendChatAction", &body).await?;
            answer.check(NOUN, None)
        })
    }
}

const NOUN: &str = "Telegram";

fn not_the_api() -> Failure {
    Failure::later("What answers at Telegram's address is not the Bot API.")
}

async fn call(source: Source<'_>, method: &str, body: &Value) -> Result<Answer, Failure> {
    let bot = format!("bot{}", source.need_secret("bot_token")?);
    let base = source.field("base_url").unwrap_or(BASE_URL);
    let url = join(base, &[&bot, method])?;
    let outbound = &source.inner.outbound;
    let request = outbound.client(AddressSource::Owner).post(url).json(body);
    call_within(outbound, &*source.inner.clock, NOUN, request, LIMITS).await
}

/// The bot's ID and name (`getMe`), by which groups name it.
async fn own_bot(source: Source<'_>) -> Result<Bot, ReceiveError> {
    let answer = call(source, "getMe", &json!({})).await?;
    check(&answer)?;
    let me = answer.response_json();
    let id = me.number("/result/id").ok_or_else(not_the_api)?;
    Ok(Bot {
        id,
        username: me.text("/result/username").to_owned(),
    })
}

fn check(answer: &Answer) -> Result<(), ReceiveError> {
    let body = answer.response_json();
    match answer.status.as_u16() {
        // Telegram answers 404 to a token of a wrong form.
        401 | 404 => Err(ReceiveError::Stopped {
            why: "Telegram refused the bot token. Enter the current one.".to_owned(),
        }),
        409 => {
            let why = if body.text("/description").contains("webhook") {
                "The bot has a webhook, so Telegram sends its messages there. Delete it with `deleteWebhook`."
            } else {
                "Another program receives the messages of this bot. Stop it, or create another bot."
            };
            Err(ReceiveError::Later {
                after: Some(CONFLICT),
                why: why.to_owned(),
            })
        }
        _ => Ok(answer.check(NOUN, body.seconds("/parameters/retry_after"))?),
    }
}

/// The message of an update, if it is from a person and meant for the bot.
fn message_of(update: Update, bot: &Bot, texts: &mut Texts) -> Option<ReceivedMessage> {
    let is_edit = update.message.is_none();
    let message = update.message.or(update.edited_message)?;
    let from = message.from.as_ref()?;
    let is_group = match message.chat.kind.as_str() {
        "private" => false,
        "group" | "supergroup" => true,
        _ => return None,
    };
    if from.is_bot || message.sender_chat.is_some() || (is_group && !is_named(&message, bot)) {
        return None;
    }
    let text = message.text.clone().or_else(|| message.caption.clone());
    let key = (message.chat.id, message.message_id);
    let before = texts.remember(key, text.as_deref().unwrap_or_default());
    // Telegram also reports edits that do not change the text, such as the preview of a link.
    if is_edit && before.is_none_or(|before| before == text.as_deref().unwrap_or_default()) {
        return None;
    }
    let thread = message
        .message_thread_id
        .filter(|_| message.is_topic_message);
    Some(ReceivedMessage {
        message_id: update.update_id.to_string(),
        person: from.id.to_string(),
        name: name_of(from),
        chat: message.chat.id.to_string(),
        thread: thread.map(|thread| thread.to_string()),
        is_group,
        is_own: message.forward_origin.is_none()
            && message.forward_date.is_none()
            && message.via_bot.is_none(),
        text: text.filter(|text| !text.trim().is_empty()),
        file: files::file_of(message.document, message.voice, message.photo),
        ..ReceivedMessage::default()
    })
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
mod tests {
    use super::*;

    fn read(update: Value, texts: &mut Texts) -> Option<ReceivedMessage> {
        let bot = Bot {
            id: 7,
            username: "gate_bot".to_owned(),
        };
        message_of(serde_json::from_value(update).unwrap(), &bot, texts)
    }

    fn update(kind: &str, chat: &str, more: Value) -> Value {
        let mut message = json!({
            "message_id": 5, "date": 1,
            "from": { "id": 42, "is_bot": false, "first_name": "Ada", "last_name": "L\u{202e}" },
            "chat": { "id": -100, "type": chat },
        });
        let fields = message.as_object_mut().unwrap();
        let Value::Object(more) = more else {
            panic!("the fields of a message");
        };
        fields.extend(more);
        json!({ "update_id": 1, kind: message })
    }

    #[test]
    fn a_group_must_name_the_bot() {
        let group = |more| {
            let mut texts = Texts::default();
            read(update("message", "supergroup", more), &mut texts).is_some()
        };
        assert!(!group(json!({ "text": "gate_bot?" })));
        let mention = |offset: usize, length: usize| json!([{ "type": "mention", "offset": offset, "length": length }]);
        assert!(group(
            json!({ "text": "😀 @Gate_Bot hi", "entities": mention(3, 9) })
        ));
        assert!(!group(
            json!({ "text": "😀 @gate_bots hi", "entities": mention(3, 10) })
        ));
        assert!(!group(
            json!({ "text": "x", "entities": mention(3, usize::MAX) })
        ));
        let reply = |id: i64| json!({ "text": "x", "reply_to_message": { "from": { "id": id } } });
        assert!(group(reply(7)) && !group(reply(8)));
        let someone = json!({ "text": "x", "entities": [{ "type": "text_mention", "offset": 0,
            "length": 1, "user": { "id": 7 } }] });
        assert!(group(someone));
    }

    #[test]
    fn only_people_are_received_and_forwards_are_not_their_own() {
        let private = |more| {
            let mut texts = Texts::default();
            read(update("message", "private", more), &mut texts)
        };
        let message = private(json!({ "text": "hi" })).unwrap();
        assert_eq!(message.name, "Ada L\\u{202E}");
        assert!(message.is_own && !message.is_group);
        assert!(private(json!({ "text": "hi", "sender_chat": {} })).is_none());
        assert!(private(json!({ "text": "hi", "from": { "id": 1, "is_bot": true } })).is_none());
        let forwarded = private(json!({ "text": "hi", "forward_origin": { "type": "user" } }));
        assert!(!forwarded.unwrap().is_own);
        assert_eq!(private(json!({ "sticker": {} })).unwrap().text, None);
        let mut texts = Texts::default();
        assert!(
            read(
                update("message", "channel", json!({ "text": "x" })),
                &mut texts
            )
            .is_none()
        );
    }

    #[test]
    fn an_edit_counts_if_it_changed_the_text_of_a_known_message() {
        let mut texts = Texts::default();
        let edit = |text: &str, texts: &mut Texts| {
            read(
                update("edited_message", "private", json!({ "text": text })),
                texts,
            )
        };
        assert!(edit("a", &mut texts).is_none());
        let mut texts = Texts::default();
        read(
            update("message", "private", json!({ "text": "a" })),
            &mut texts,
        )
        .unwrap();
        assert!(edit("a", &mut texts).is_none());
        assert_eq!(edit("b", &mut texts).unwrap().text.as_deref(), Some("b"));
        assert!(edit("b", &mut texts).is_none());
    }
}
