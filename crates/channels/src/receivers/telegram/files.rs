//! The photo, document or voice message of a message, and voice messages of the bot.

use super::super::Source;
use super::super::download::{UPLOAD, download};
use super::{NOUN, call};
use crate::error::Failure;
use crate::files::VoiceMessage;
use crate::receive::ReceivedFile;
use crate::senders::telegram::{BASE_URL, verdict};
use crate::vendor::{call_within, join};
use gatehouse_outbound::AddressSource;
use reqwest::RequestBuilder;
use reqwest::multipart::{Form, Part};
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
pub(super) struct PhotoSize {
    file_id: String,
    width: i64,
    height: i64,
}

#[derive(Deserialize)]
pub(super) struct Document {
    file_id: String,
    file_name: Option<String>,
}

/// A recording made in Telegram: Opus in Ogg (<https://core.telegram.org/bots/api#voice>).
#[derive(Deserialize)]
pub(super) struct Voice {
    file_id: String,
}

/// The file of a message. For a photo, this is its largest size, which has no name.
pub(super) fn file_of(
    document: Option<Document>,
    voice: Option<Voice>,
    photo: Vec<PhotoSize>,
) -> Option<ReceivedFile> {
    if let Some(document) = document {
        return Some(ReceivedFile {
            id: document.file_id,
            name: document.file_name.unwrap_or_default(),
            is_voice: false,
        });
    }
    if let Some(voice) = voice {
        return Some(ReceivedFile {
            id: voice.file_id,
            name: "voice.ogg".to_owned(),
            is_voice: true,
        });
    }
    let sizes = photo.into_iter();
    let photo = sizes.max_by_key(|photo| photo.width.saturating_mul(photo.height))?;
    Some(ReceivedFile {
        id: photo.file_id,
        name: "photo.jpg".to_owned(),
        is_voice: false,
    })
}

/// Fetches a file with `getFile` (<https://core.telegram.org/bots/api#getfile>), which refuses files of more than
/// 20 MB. `None` if it is too large.
pub(super) async fn fetch(
    source: Source<'_>,
    file_id: &str,
    max_bytes: usize,
) -> Result<Option<Vec<u8>>, Failure> {
    let answer = call(source, "getFile", &json!({ "file_id": file_id })).await?;
    let file = answer.response_json();
    if answer.status == 400 && file.text("/description").contains("too big") {
        return Ok(None);
    }
    answer.check(NOUN, file.seconds("/parameters/retry_after"))?;
    let size = file.number("/result/file_size").unwrap_or_default();
    if usize::try_from(size).is_ok_and(|size| size > max_bytes) {
        return Ok(None);
    }
    let request = file_request(source, file.text("/result/file_path"))?;
    download(source, NOUN, request, max_bytes).await
}

fn file_request(source: Source<'_>, path: &str) -> Result<RequestBuilder, Failure> {
    let segments: Vec<&str> = path.split('/').collect();
    // The owner's own server with `--local` returns a path in its file system.
    if segments.iter().any(|it| matches!(*it, "" | "." | "..")) {
        return Err(Failure::refused("Telegram's server offers no download."));
    }
    let bot = format!("bot{}", source.need_secret("bot_token")?);
    let base = source.field("base_url").unwrap_or(BASE_URL);
    let url = join(base, &[&["file", &bot][..], &segments].concat())?;
    Ok(source.inner.outbound.client(AddressSource::Owner).get(url))
}

/// Sends a voice message (<https://core.telegram.org/bots/api#sendvoice>).
pub(super) async fn send_voice(
    source: Source<'_>,
    chat: &str,
    thread: Option<&str>,
    voice: VoiceMessage,
) -> Result<(), Failure> {
    let bot = format!("bot{}", source.need_secret("bot_token")?);
    let base = source.field("base_url").unwrap_or(BASE_URL);
    let url = join(base, &[&bot, "sendVoice"])?;
    let voice = Part::bytes(voice.audio).file_name("answer.ogg");
    let voice = voice
        .mime_str("audio/ogg")
        .map_err(|_| Failure::refused("The voice message could not be sent."))?;
    let mut form = Form::new()
        .text("chat_id", chat.to_owned())
        .part("voice", voice);
    if let Some(thread) = thread {
        form = form.text("message_thread_id", thread.to_owned());
    }
    let outbound = &source.inner.outbound;
    let request = outbound.client(AddressSource::Owner).post(url);
    let request = request.multipart(form);
    let answer = call_within(outbound, &*source.inner.clock, NOUN, request, UPLOAD).await?;
    verdict(&answer)
}
