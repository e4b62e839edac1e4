//! `telegram`: the Bot API's `sendMessage` (<https://core.telegram.org/bots/api#sendmessage>). Sends no parse
//! mode, so the text is never interpreted as markup. The token is part of the URL's path.

use super::{About, Extra, Part, Sender};
use crate::error::Failure;
use crate::fields::{FieldKind, FieldSpec, receiving_agent, receiving_switch, speaking_switch};
use crate::receivers::{Receiver, telegram::TelegramReceiver};
use crate::split::Limit;
use crate::vendor::{Answer, join};
use crate::vendor_apis::telegram::{BASE_URL, NOT_THE_API, number_or_text};
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::{Value, json};

/// The limit of a text: 4,096 characters, counted as UTF-16 code units.
pub(crate) const LIMIT: Limit = Limit::Utf16(4096);

#[derive(Debug)]
pub(crate) struct Telegram;

static ABOUT: About = About {
    kind: "telegram",
    label: "Telegram",
    description: "Posts to a Telegram chat, through a bot. People whom you approve can write to an \
            agent.",
    noun: "Telegram",
    fields: &[
        FieldSpec::new(
            "bot_token",
            "Bot token",
            FieldKind::Text,
            "The token from BotFather, such as 123456:ABC-DEF.",
        )
        .secret()
        .required(),
        FieldSpec::new(
            "chat_id",
            "Chat ID",
            FieldKind::Text,
            "The chat’s number, or @name of a public channel. Not needed if the channel only receives messages, or if \
             each webhook sets a chat.",
        ),
        FieldSpec::new(
            "base_url",
            "Server",
            FieldKind::Url,
            "Only if you run your own Bot API server.",
        ),
        receiving_switch(),
        receiving_agent(),
        speaking_switch(),
    ],
    extra: &[
        Extra {
            name: "chat_id",
            help: "Another chat.",
        },
        Extra {
            name: "message_thread_id",
            help: "A topic of a forum.",
        },
        Extra {
            name: "disable_notification",
            help: "`true` sends silently.",
        },
    ],
    takes_json: false,
    built_in: false,
    calls_any_address: false,
};

#[derive(Serialize)]
struct SendMessage<'a> {
    chat_id: Value,
    text: &'a str,
    link_preview_options: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_thread_id: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reply_parameters: Option<ReplyParameters>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    disable_notification: bool,
}

/// The message that this one replies to (<https://core.telegram.org/bots/api#replyparameters>).
#[derive(Serialize)]
struct ReplyParameters {
    message_id: i64,
    /// Must be true, otherwise Telegram refuses an answer to a deleted message.
    allow_sending_without_reply: bool,
}

/// Returns the message to reply to. Returns `None` in a topic, because Telegram refuses an answer to a deleted message
/// there.
fn replied(part: &Part<'_>) -> Option<ReplyParameters> {
    if part.message.extra("message_thread_id").is_some() {
        return None;
    }
    // The receiver's ID contains the IDs of the update and of the message.
    let id = part.reply_to()?;
    let (_, message_id) = id.split_once(':')?;
    Some(ReplyParameters {
        message_id: message_id.parse().ok()?,
        allow_sending_without_reply: true,
    })
}

/// Returns the options that disable link previews. For a preview, Telegram's servers fetch the page. A URL in a waiting
/// call, or in an answer that a payload manipulated, could thereby send data to an attacker before a person has read
/// it.
pub(crate) fn without_preview() -> Value {
    json!({ "is_disabled": true })
}

impl Sender for Telegram {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn receiver(&self) -> Option<&'static dyn Receiver> {
        Some(&TelegramReceiver)
    }

    fn limit(&self) -> Limit {
        LIMIT
    }

    fn send<'a>(&'a self, part: Part<'a>) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            let bot = format!("bot{}", part.need_secret("bot_token")?);
            let base = part.field("base_url").unwrap_or(BASE_URL);
            let url = join(base, &[&bot, "sendMessage"])?;
            let silent = part.message.extra("disable_notification");
            let body = SendMessage {
                chat_id: number_or_text(part.need("chat_id")?),
                text: part.text,
                link_preview_options: without_preview(),
                message_thread_id: part.message.extra("message_thread_id").map(number_or_text),
                reply_parameters: replied(&part),
                disable_notification: silent.as_deref() == Some("true"),
            };
            let answer = part.call(part.client().post(url).json(&body)).await?;
            verdict(&answer)
        })
    }
}

pub(crate) fn verdict(answer: &Answer) -> Result<(), Failure> {
    let response_json = answer.response_json();
    if let Some(moved) = response_json.number("/parameters/migrate_to_chat_id") {
        return Err(Failure::refused(format!(
            "The Telegram group has become a supergroup; its chat ID is now {moved}."
        )));
    }
    let description = response_json.text("/description");
    let known = [
        (
            "chat not found",
            "Telegram has no such chat; write to the bot first, or check the chat ID.",
        ),
        ("bot was blocked", "The Telegram user has blocked the bot."),
        (
            "bot was kicked",
            "The bot was removed from the Telegram group.",
        ),
        (
            "not enough rights",
            "The bot may not write to this Telegram chat.",
        ),
        (
            "need administrator rights",
            "The bot may not write to this Telegram channel.",
        ),
        ("thread not found", "Telegram has no such topic."),
    ];
    if answer.status.is_client_error() && answer.status.as_u16() != 429 {
        for (text, sentence) in known {
            if description.contains(text) {
                return Err(Failure::refused(sentence));
            }
        }
    }
    answer.check(ABOUT.noun, response_json.seconds("/parameters/retry_after"))?;
    if response_json.is_true("/ok") {
        return Ok(());
    }
    Err(Failure::refused(NOT_THE_API))
}
