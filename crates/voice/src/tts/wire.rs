//! What everybody who speaks over HTTP does alike: the address, the key's header, and telling audio from
//! what is none. It knows no vendor.

use super::TtsCall;
use crate::VoiceError;
use crate::means::Means;
use crate::provider::TtsId;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::{RequestBuilder, Response};
use secrecy::ExposeSecret;
use url::Url;

/// Bytes as they come; an error is the last item.
pub(super) type Body = BoxStream<'static, Result<Bytes, VoiceError>>;

/// Where the vendor is.
pub(super) fn base(call: &TtsCall) -> Result<&Url, VoiceError> {
    call.base_url.as_ref().ok_or(VoiceError::Internal(
        "a speaker was called without its address",
    ))
}

/// The key as a header's value, with what stands before it. It is marked as a secret, so that no log of
/// headers shows it. `None` without a key: servers of one's own may want none.
pub(super) fn key(
    id: TtsId,
    call: &TtsCall,
    before: &str,
) -> Result<Option<HeaderValue>, VoiceError> {
    let Some(key) = &call.key else {
        return Ok(None);
    };
    let whole = format!("{before}{}", key.expose_secret());
    let Ok(mut value) = HeaderValue::from_str(&whole) else {
        return Err(VoiceError::not_configured(
            format!("voice.tts.{id}.api_key"),
            format!("The key of {id} has characters that no HTTP header may have."),
        ));
    };
    value.set_sensitive(true);
    Ok(Some(value))
}

/// Sends, and waits until the first bytes of audio are there. What is text or JSON is no audio, whatever
/// its status says: proxies answer so.
pub(super) async fn audio(
    means: &Means,
    id: TtsId,
    request: RequestBuilder,
) -> Result<Body, VoiceError> {
    let response = means.send(id.as_str(), request).await?;
    if is_text(&response) {
        return Err(not_audio(id));
    }
    begun(id, means.pieces(id.as_str(), response)).await
}

/// The same bytes, once the first of them is there: nothing at all is an error that others can still
/// make good.
pub(super) async fn begun(id: TtsId, mut body: Body) -> Result<Body, VoiceError> {
    while let Some(piece) = body.next().await {
        let piece = piece?;
        if !piece.is_empty() {
            let first = stream::once(std::future::ready(Ok(piece)));
            return Ok(first.chain(body).boxed());
        }
    }
    Err(VoiceError::failed(id.as_str(), "gave no audio", true))
}

/// The vendor answered something else.
pub(super) const fn not_audio(id: TtsId) -> VoiceError {
    VoiceError::failed(id.as_str(), "answered what is no audio", false)
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
