//! The photo, document or voice message of a received message, and voice messages and pictures of
//! the bot.

use super::super::Source;
use super::super::download::{UPLOAD, download};
use super::{NOUN, call};
use crate::error::Failure;
use crate::media::{Media, MediaKind};
use crate::receive::ReceivedFile;
use crate::senders::telegram::verdict;
use crate::vendor::{Answer, call_within, join};
use crate::vendor_apis::telegram::BASE_URL;
use gatehouse_outbound::AddressSource;
use reqwest::RequestBuilder;
use reqwest::multipart::{Form, Part};
use serde::Deserialize;
use serde_json::json;

/// The limits of `sendPhoto`: the size, the sum of width and height, and the ratio between them.
const MAX_PHOTO_BYTES: usize = 10_000_000;
const MAX_PHOTO_SIDES: u64 = 10_000;
const MAX_PHOTO_RATIO: u64 = 20;

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

/// Returns the file of a message. For a photo, this is its largest size. It has no name.
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

/// Fetches a file with `getFile` (<https://core.telegram.org/bots/api#getfile>), which refuses files of more than 20
/// MB. Returns `None` if the file is too large.
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
    // The owner's own server with `--local` returns a path in its file system, which must not be
    // requested.
    if segments.iter().any(|it| matches!(*it, "" | "." | "..")) {
        return Err(Failure::refused(
            "Telegram returned no download path for the file.",
        ));
    }
    let bot = format!("bot{}", source.need_secret("bot_token")?);
    let base = source.field("base_url").unwrap_or(BASE_URL);
    let url = join(base, &[&["file", &bot][..], &segments].concat())?;
    Ok(source.inner.outbound.client(AddressSource::Owner).get(url))
}

/// Sends a voice message (<https://core.telegram.org/bots/api#sendvoice>) or a picture.
pub(super) async fn send(
    source: Source<'_>,
    place: (&str, Option<&str>),
    media: &Media,
) -> Result<(), Failure> {
    let form = match media.kind {
        MediaKind::Voice { .. } => ("sendVoice", "voice"),
        MediaKind::Picture { pixels } if is_photo(media, pixels) => {
            let answer = upload(source, place, ("sendPhoto", "photo"), media).await?;
            // A picture that Telegram cannot convert can still be sent as a document.
            if answer.status != 400 {
                return verdict(&answer);
            }
            ("sendDocument", "document")
        }
        MediaKind::Picture { .. } => ("sendDocument", "document"),
    };
    verdict(&upload(source, place, form, media).await?)
}

/// Returns whether a picture is sent with `sendPhoto` (<https://core.telegram.org/bots/api#sendphoto>). A GIF is not,
/// because `sendPhoto` converts an animation to a still picture.
fn is_photo(media: &Media, pixels: Option<(u64, u64)>) -> bool {
    let has_form = pixels.is_none_or(|(width, height)| {
        width.saturating_add(height) <= MAX_PHOTO_SIDES
            && width <= height.saturating_mul(MAX_PHOTO_RATIO)
            && height <= width.saturating_mul(MAX_PHOTO_RATIO)
    });
    has_form && media.data.len() <= MAX_PHOTO_BYTES && media.content_type != "image/gif"
}

/// Uploads a file with `method`. `field` is the form field with the file.
async fn upload(
    source: Source<'_>,
    (chat, thread): (&str, Option<&str>),
    (method, field): (&'static str, &'static str),
    media: &Media,
) -> Result<Answer, Failure> {
    let bot = format!("bot{}", source.need_secret("bot_token")?);
    let base = source.field("base_url").unwrap_or(BASE_URL);
    let url = join(base, &[&bot, method])?;
    let file = Part::stream(media.data.clone()).file_name(media.name.clone());
    let file = file
        .mime_str(media.content_type)
        .map_err(|_| Failure::unsendable_file())?;
    let mut form = Form::new()
        .text("chat_id", chat.to_owned())
        .part(field, file);
    if let Some(thread) = thread {
        form = form.text("message_thread_id", thread.to_owned());
    }
    let outbound = &source.inner.outbound;
    let request = outbound.client(AddressSource::Owner).post(url);
    let request = request.multipart(form);
    call_within(outbound, &*source.inner.clock, NOUN, request, UPLOAD).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::Picture;
    use bytes::Bytes;

    fn picture(bytes: usize, pixels: Option<(u64, u64)>) -> Media {
        let mut data = b"\x89PNG\r\n\x1a\n".to_vec();
        data.resize(bytes, 0);
        Picture::of(data.into(), pixels).unwrap().media(1, "m")
    }

    #[test]
    fn a_photo_is_at_telegrams_limits_and_a_document_one_past_them() {
        let of = |bytes, pixels| is_photo(&picture(bytes, pixels), pixels);
        assert!(of(9, None) && of(9, Some((2, 1))));
        assert!(of(10_000_000, None) && !of(10_000_001, None));
        assert!(of(9, Some((5000, 5000))) && !of(9, Some((5000, 5001))));
        assert!(of(9, Some((20, 1))) && !of(9, Some((21, 1))));
        assert!(of(9, Some((1, 20))) && !of(9, Some((1, 21))));
        let gif = Bytes::from_static(b"GIF89a");
        let gif = Picture::of(gif, None).unwrap().media(1, "m");
        assert!(!is_photo(&gif, None));
    }
}
