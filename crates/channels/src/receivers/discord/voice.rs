//! Voice messages of the bot.
//!
//! They are attachments, which Discord's programs play as well, without the flag of a recording: a message with that flag
//! must describe the form of the sound wave, and in servers it needs a permission of its own.

use super::super::download::UPLOAD;
use super::super::{Source, VoiceFormat};
use super::{NOUN, request};
use crate::error::Failure;
use crate::files::VoiceMessage;
use crate::vendor::call_within;
use reqwest::Method;
use reqwest::multipart::{Form, Part};
use serde_json::json;

/// Discord accepts files of at most 10 MiB from bots
/// (<https://docs.discord.com/developers/reference#uploading-files>).
pub(super) const FORMAT: VoiceFormat = VoiceFormat::opus(10 * 1024 * 1024);
const NAME: &str = "answer.ogg";

pub(super) async fn send(
    source: Source<'_>,
    chat: &str,
    voice: VoiceMessage,
) -> Result<(), Failure> {
    let unmade = |_| Failure::refused("The voice message could not be sent.");
    let audio = Part::bytes(voice.audio).file_name(NAME);
    let audio = audio.mime_str("audio/ogg").map_err(unmade)?;
    let payload = json!({
        "attachments": [{ "id": 0, "filename": NAME }],
        "allowed_mentions": { "parse": [] },
    });
    let payload = Part::text(payload.to_string());
    let payload = payload.mime_str("application/json").map_err(unmade)?;
    let form = Form::new()
        .part("payload_json", payload)
        .part("files[0]", audio);
    let request = request(source, Method::POST, &["channels", chat, "messages"])?;
    let request = request.multipart(form);
    let inner = source.inner;
    let answer = call_within(&inner.outbound, &*inner.clock, NOUN, request, UPLOAD).await?;
    answer.check(NOUN, answer.response_json().seconds("/retry_after"))
}
