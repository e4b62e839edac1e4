//! Shared code of providers called over HTTP: the address, the key header, and the detection of responses
//! without audio.

use super::TtsCall;
use crate::VoiceError;
use crate::resources::Resources;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use reqwest::header::CONTENT_TYPE;
use reqwest::{RequestBuilder, Response};
use url::Url;

/// Bytes as they arrive; an error is the last item.
pub(super) type Body = BoxStream<'static, Result<Bytes, VoiceError>>;

/// The vendor's address.
pub(super) fn base(call: &TtsCall) -> Result<&Url, VoiceError> {
    call.base_url.as_ref().ok_or(VoiceError::Internal(
        "a provider was called without its URL",
    ))
}

/// Sends a request and waits for the first bytes of audio. Text and JSON are rejected whatever the status,
/// because some proxies respond that way.
pub(super) async fn audio(
    resources: &Resources,
    id: &'static str,
    request: RequestBuilder,
) -> Result<Body, VoiceError> {
    let response = resources.send(id, request).await?;
    if is_text(&response) {
        return Err(not_audio(id));
    }
    begun(id, resources.pieces(id, response)).await
}

/// Waits for the first non-empty chunk. An empty response is an error, so that a fallback can still be tried.
pub(super) async fn begun(id: &'static str, mut body: Body) -> Result<Body, VoiceError> {
    while let Some(piece) = body.next().await {
        let piece = piece?;
        if !piece.is_empty() {
            let first = stream::once(std::future::ready(Ok(piece)));
            return Ok(first.chain(body).boxed());
        }
    }
    Err(VoiceError::failed(id, "returned no audio", true))
}

/// The error for a response without audio.
pub(super) const fn not_audio(id: &'static str) -> VoiceError {
    VoiceError::failed(id, "returned something other than audio", false)
}

fn is_text(response: &Response) -> bool {
    let media = response.headers().get(CONTENT_TYPE);
    let media = media.and_then(|value| value.to_str().ok()).unwrap_or("");
    let essence = media.split(';').next().unwrap_or("").trim();
    let essence = essence.to_ascii_lowercase();
    essence.starts_with("text/")
        || ["json", "xml", "html"]
            .iter()
            .any(|end| essence.ends_with(end))
}
