//! `telegram`: long polling with `getUpdates` (<https://core.telegram.org/bots/api#getupdates>). A request with an
//! offset confirms all updates before it.

mod albums;
mod api;
mod buttons;
mod files;
mod texts;
mod updates;

use self::buttons::{TelegramButtons, press_of};
use self::texts::Texts;
use self::updates::Update;
use super::buttons::Buttons;
use super::{Inbox, MAX_MEDIA, PlaceKeys, Receiver, Receiving, Source, VoiceFormat};
use crate::error::Failure;
use crate::media::Media;
use crate::receive::{ReceiveError, Received};
use crate::vendor::Limits;
use crate::vendor_apis::telegram::{BASE_URL, number_or_text};
use api::{call, id_of, own_bot};
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;

/// How long Telegram holds a request without updates, in seconds.
const POLL_SECONDS: u64 = 30;
/// Updates per request. With the limit below, a request never fails because of its size.
const UPDATES: usize = 20;
const LIMITS: Limits = Limits {
    timeout: Duration::from_secs(POLL_SECONDS + 15),
    bytes: 16 * 1024 * 1024,
};
/// The wait after Telegram reports that another program receives the bot's updates.
const CONFLICT: Duration = Duration::from_secs(30);
/// The age after which a position is not used. After a week without updates, Telegram counts from
/// another number.
const FORGETS_AFTER: Duration = Duration::from_hours(6 * 24);

#[derive(Debug)]
pub(crate) struct TelegramReceiver;

/// The bot as Telegram describes it.
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
            let updates = albums::whole(source, next).await?;
            let mut newest = None;
            let (mut wanted, mut presses) = (Vec::new(), Vec::new());
            for update in updates {
                // This is not the maximum of all time, because Telegram counts from another number after a week without
                // updates.
                newest = newest.max(Some(id_of(&update)?.saturating_add(1)));
                // An update of an unknown form is skipped. Otherwise it would be received forever.
                let Ok(mut update) = serde_json::from_value::<Update>(update) else {
                    continue;
                };
                presses.extend(update.callback_query.take().and_then(press_of));
                wanted.push(update);
            }
            let messages = albums::messages_of(wanted, &bot, &mut self.texts);
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

    fn inbox<'a>(&self, source: &'a Source<'a>) -> Option<Inbox<'a>> {
        let token = source.need_secret("bot_token").ok()?;
        let base = source.field("base_url").unwrap_or(BASE_URL);
        Some(Inbox::of_token(base, token))
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

    fn voice(&self) -> Option<VoiceFormat> {
        Some(VoiceFormat::opus(MAX_MEDIA))
    }

    fn max_picture_bytes(&self) -> Option<usize> {
        Some(MAX_MEDIA)
    }

    fn send_media<'a>(
        &'a self,
        source: Source<'a>,
        chat: &'a str,
        thread: Option<&'a str>,
        media: &'a Media,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(files::send(source, (chat, thread), media))
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
