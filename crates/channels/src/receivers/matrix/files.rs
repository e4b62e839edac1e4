//! The files of messages, and voice messages and pictures of the bot
//! (<https://spec.matrix.org/latest/client-server-api/#content-repository>).

use super::super::Source;
use super::super::download::{UPLOAD, download};
use super::NOUN;
use super::client_api::{not_matrix, request, request_below, request_media, send};
use crate::error::Failure;
use crate::media::{Media, MediaKind};
use crate::senders::matrix::verdict;
use crate::vendor::call_within;
use reqwest::Method;
use reqwest::header::CONTENT_TYPE;
use serde_json::{Value, json};

/// Fetches a file. Returns `None` if it is larger than `max_bytes`. `file_id` is the server and the media ID.
pub(super) async fn fetch(
    source: Source<'_>,
    file_id: &str,
    max_bytes: usize,
) -> Result<Option<Vec<u8>>, Failure> {
    let Some((server, id)) = file_id.split_once('/') else {
        return Err(Failure::refused("Matrix has no such file."));
    };
    let path = ["media", "download", server, id];
    let request = request_below(source, "v1", Method::GET, &path)?;
    match download(source, NOUN, request, max_bytes).await {
        // Servers before version 1.11 of the specification support only the older address.
        Err(Failure::Refused(_)) => {
            let request = request_media(source, Method::GET, &["download", server, id])?;
            download(source, NOUN, request, max_bytes).await
        }
        found => found,
    }
}

/// Uploads a file and sends its event. If the event is sent again, the server ignores it because of its ID.
pub(super) async fn send_media(
    source: Source<'_>,
    room: &str,
    media: &Media,
) -> Result<(), Failure> {
    let upload = request_media(source, Method::POST, &["upload"])?;
    let upload = upload
        .query(&[("filename", media.name.as_str())])
        .header(CONTENT_TYPE, media.content_type)
        .body(media.data.clone());
    let inner = source.inner;
    let answer = call_within(&inner.outbound, &*inner.clock, NOUN, upload, UPLOAD).await?;
    verdict(&answer)?;
    let stored = answer.response_json();
    let url = stored.text("/content_uri");
    if !url.starts_with("mxc://") {
        return Err(not_matrix());
    }
    let path = ["rooms", room, "send", "m.room.message", &media.id];
    let request = request(source, Method::PUT, &path)?;
    verdict(&send(source, request.json(&event(media, url))).await?)
}

/// Returns the event. A voice message is an `m.audio` event with a field that makes Matrix clients show it as a
/// recording (<https://github.com/matrix-org/matrix-spec-proposals/pull/3245>). A picture is an `m.image` event
/// (<https://spec.matrix.org/latest/client-server-api/#mimage>).
fn event(media: &Media, url: &str) -> Value {
    let (name, kind, size) = (&media.name, media.content_type, media.data.len());
    match media.kind {
        MediaKind::Voice { duration } => {
            let duration = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
            json!({
                "msgtype": "m.audio",
                "body": name,
                "url": url,
                "info": { "mimetype": kind, "size": size, "duration": duration },
                "m.mentions": {},
                // Some programs show a recording only with this field. The wave form is optional.
                "org.matrix.msc1767.audio": { "duration": duration },
                "org.matrix.msc3245.voice": {},
            })
        }
        MediaKind::Picture { pixels } => {
            let info = match pixels {
                Some((width, height)) => {
                    json!({ "mimetype": kind, "size": size, "w": width, "h": height })
                }
                None => json!({ "mimetype": kind, "size": size }),
            };
            json!({
                "msgtype": "m.image",
                "body": name,
                "url": url,
                "info": info,
                "m.mentions": {},
            })
        }
    }
}
