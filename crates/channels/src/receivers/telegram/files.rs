//! The photo or document of a message.

use super::super::Source;
use super::{NOUN, call};
use crate::error::Failure;
use crate::receive::ReceivedFile;
use crate::senders::telegram::BASE_URL;
use crate::vendor::{Limits, call_within, join};
use gatehouse_outbound::AddressSource;
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;

/// How long fetching a file may take.
const FILE_TIME: Duration = Duration::from_mins(2);

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

/// The document, or the largest size of the photo, which has no name.
pub(super) fn file_of(document: Option<Document>, photo: Vec<PhotoSize>) -> Option<ReceivedFile> {
    if let Some(document) = document {
        return Some(ReceivedFile {
            id: document.file_id,
            name: document.file_name.unwrap_or_default(),
        });
    }
    let sizes = photo.into_iter();
    let photo = sizes.max_by_key(|photo| photo.width.saturating_mul(photo.height))?;
    Some(ReceivedFile {
        id: photo.file_id,
        name: "photo.jpg".to_owned(),
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
    let data = download(source, file.text("/result/file_path"), max_bytes).await?;
    Ok((data.len() <= max_bytes).then_some(data))
}

/// Reads one byte more than `max_bytes` of a larger file.
async fn download(source: Source<'_>, path: &str, max_bytes: usize) -> Result<Vec<u8>, Failure> {
    let segments: Vec<&str> = path.split('/').collect();
    // A server of the owner's with `--local` answers with a path of its own file system.
    if segments.iter().any(|it| matches!(*it, "" | "." | "..")) {
        return Err(Failure::refused("Telegram's server offers no download."));
    }
    let bot = format!("bot{}", source.need_secret("bot_token")?);
    let base = source.field("base_url").unwrap_or(BASE_URL);
    let url = join(base, &[&["file", &bot][..], &segments].concat())?;
    let outbound = &source.inner.outbound;
    let request = outbound.client(AddressSource::Owner).get(url);
    let limits = Limits {
        timeout: FILE_TIME,
        bytes: max_bytes.saturating_add(1),
    };
    let answer = call_within(outbound, &*source.inner.clock, NOUN, request, limits).await?;
    answer.check(NOUN, None)?;
    let data = answer.into_body();
    // Also if the connection broke.
    if data.is_empty() {
        return Err(Failure::later("Telegram sent an empty file."));
    }
    Ok(data)
}
