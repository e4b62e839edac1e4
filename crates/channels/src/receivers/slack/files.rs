//! The files of messages, and voice messages and pictures of the bot. Fetching a file needs the bot token
//! (<https://docs.slack.dev/reference/objects/file-object#authentication>).

use super::super::download::{UPLOAD, download, file_url};
use super::super::{MAX_MEDIA, Source, VoiceFormat};
use super::NOUN;
use super::web_api::{ask, refused};
use crate::error::Failure;
use crate::media::{Media, MediaKind};
use crate::vendor::{Answer, Limits, ResponseJson, call_within};
use crate::vendor_apis::slack::BASE_URL;
use gatehouse_outbound::AddressSource;
use reqwest::header::CONTENT_TYPE;
use serde_json::json;
use std::time::Duration;

const HOSTS: [&str; 1] = ["files.slack.com"];
/// The limits of a file description. For a text file, it contains a part of the text.
const LIMITS: Limits = Limits {
    timeout: Duration::from_secs(10),
    bytes: 2 * 1024 * 1024,
};
const NO_SCOPE: &str = "Slack refused a file: the app needs the scope files:read.";
const NO_UPLOADS: &str = "Slack refused an upload: the app needs the scope files:write.";
/// A format that Slack's programs play. They record MPEG-4 audio, which Gatehouse does not encode.
pub(super) const VOICE: VoiceFormat = VoiceFormat {
    name: "mp3",
    file: ("answer.mp3", "audio/mpeg"),
    max_bytes: MAX_MEDIA,
};
const UNKNOWN: &str = "Slack no longer has the file.";

/// Fetches a file. Returns `None` if it is larger than `max_bytes`.
pub(super) async fn fetch(
    source: Source<'_>,
    file_id: &str,
    max_bytes: usize,
) -> Result<Option<Vec<u8>>, Failure> {
    let form = [("file", file_id)];
    let (answer, found) = ask(source, "files.info", "bot_token", &form, LIMITS).await?;
    if !found.is_true("/ok") {
        return Err(match found.text("/error") {
            "missing_scope" | "no_permission" | "not_allowed_token_type" => {
                Failure::refused(NO_SCOPE)
            }
            "file_not_found" | "file_deleted" => Failure::refused(UNKNOWN),
            "ratelimited" => answer.later(NOUN, None),
            _ => Failure::later("Slack refused `files.info`."),
        });
    }
    let size = found.number("/file/size").unwrap_or_default();
    if usize::try_from(size).is_ok_and(|size| size > max_bytes) {
        return Ok(None);
    }
    let url = match found.text("/file/url_private_download") {
        "" => found.text("/file/url_private"),
        url => url,
    };
    let base = source.field("base_url").unwrap_or(BASE_URL);
    let url = file_url(url, &HOSTS, base, NOUN)?;
    let client = source.inner.outbound.client(AddressSource::Owner);
    let request = client
        .get(url)
        .bearer_auth(source.need_secret("bot_token")?);
    download(source, NOUN, request, max_bytes).await
}

/// Sends a voice message or a picture as a file (<https://docs.slack.dev/messaging/working-with-files#upload>).
pub(super) async fn send_media(
    source: Source<'_>,
    chat: &str,
    thread: Option<&str>,
    media: &Media,
) -> Result<(), Failure> {
    let length = media.data.len().to_string();
    let form = [
        ("filename", media.name.as_str()),
        ("length", length.as_str()),
    ];
    let ticket = upload_step(source, "files.getUploadURLExternal", &form).await?;
    let base = source.field("base_url").unwrap_or(BASE_URL);
    // The address is signed. The bot token is not sent to it.
    let url = file_url(ticket.text("/upload_url"), &HOSTS, base, NOUN)?;
    let inner = source.inner;
    let request = inner.outbound.client(AddressSource::Owner).post(url);
    let request = request
        .header(CONTENT_TYPE, "application/octet-stream")
        .body(media.data.clone());
    let answer = call_within(&inner.outbound, &*inner.clock, NOUN, request, UPLOAD).await?;
    answer.check(NOUN, None)?;
    let title = match media.kind {
        MediaKind::Voice { .. } => "Voice message",
        MediaKind::Picture { .. } => media.name.as_str(),
    };
    let files = json!([{ "id": ticket.text("/file_id"), "title": title }]).to_string();
    let mut form = vec![("files", files.as_str()), ("channel_id", chat)];
    form.extend(thread.map(|thread| ("thread_ts", thread)));
    upload_step(source, "files.completeUploadExternal", &form)
        .await
        .map(drop)
}

/// Calls one of the methods of an upload.
async fn upload_step(
    source: Source<'_>,
    method: &str,
    form: &[(&str, &str)],
) -> Result<ResponseJson, Failure> {
    let (answer, body) = ask(source, method, "bot_token", form, LIMITS).await?;
    match refusal(&answer, &body, method) {
        Some(failure) => Err(failure),
        None => Ok(body),
    }
}

fn refusal(answer: &Answer, body: &ResponseJson, method: &str) -> Option<Failure> {
    if body.is_true("/ok") {
        return None;
    }
    Some(match body.text("/error") {
        "missing_scope" | "no_permission" | "not_allowed_token_type" => {
            Failure::refused(NO_UPLOADS)
        }
        "ratelimited" => answer.later(NOUN, None),
        _ => Failure::refused(refused(method)),
    })
}
