//! The files of messages (<https://spec.matrix.org/latest/client-server-api/#content-repository>).

use super::super::Source;
use super::super::download::download;
use super::{NOUN, request_below, request_media};
use crate::error::Failure;
use reqwest::Method;

/// Fetches a file; `None` if it is larger than `max_bytes`. `file_id` is the server and the media ID.
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
        // Servers before version 1.11 of the specification have only the older address.
        Err(Failure::Refused(_)) => {
            let request = request_media(source, &["download", server, id])?;
            download(source, NOUN, request, max_bytes).await
        }
        found => found,
    }
}
