//! Voice messages and pictures of the bot.
//!
//! They are attachments of messages without a text. The voice messages do not have the flag of a recording. A message
//! with that flag must describe the sound wave, and in servers it needs a separate permission. Discord's programs play
//! attached voice messages without the flag.

use super::super::download::UPLOAD;
use super::super::{Source, VoiceFormat};
use super::{NOUN, request};
use crate::error::Failure;
use crate::media::Media;
use crate::vendor::call_within;
use reqwest::Method;
use reqwest::multipart::{Form, Part};
use serde_json::json;

/// Discord accepts files of at most 10 MiB from bots
/// (<https://docs.discord.com/developers/reference#uploading-files>).
pub(super) const MAX_BYTES: usize = 10 * 1024 * 1024;
pub(super) const FORMAT: VoiceFormat = VoiceFormat::opus(MAX_BYTES);

pub(super) async fn send(source: Source<'_>, chat: &str, media: &Media) -> Result<(), Failure> {
    let unmade = |_| Failure::unsendable_file();
    let file = Part::stream(media.data.clone()).file_name(media.name.clone());
    let file = file.mime_str(media.content_type).map_err(unmade)?;
    let payload = json!({
        "attachments": [{ "id": 0, "filename": media.name }],
        "allowed_mentions": { "parse": [] },
        "nonce": media.id,
        "enforce_nonce": true,
    });
    let payload = Part::text(payload.to_string());
    let payload = payload.mime_str("application/json").map_err(unmade)?;
    let form = Form::new()
        .part("payload_json", payload)
        .part("files[0]", file);
    let request = request(source, Method::POST, &["channels", chat, "messages"])?;
    let request = request.multipart(form);
    let inner = source.inner;
    let answer = call_within(&inner.outbound, &*inner.clock, NOUN, request, UPLOAD).await?;
    answer.check(NOUN, answer.response_json().seconds("/retry_after"))
}
