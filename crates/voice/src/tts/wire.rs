//! Shared code of providers called over HTTP: the address, the key header, and the detection of responses
//! without audio.

use super::TtsCall;
use crate::VoiceError;
use crate::endpoint::Endpoint;
use crate::resources::{Resources, join};
use crate::speech::OfferedVoice;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use reqwest::header::CONTENT_TYPE;
use reqwest::{RequestBuilder, Response};
use serde::Deserialize;
use url::Url;

/// Bytes as they arrive; an error is the last item.
pub(super) type Body = BoxStream<'static, Result<Bytes, VoiceError>>;

/// Returns the vendor's address.
pub(super) fn base(call: &TtsCall) -> Result<&Url, VoiceError> {
    call.base_url.as_ref().ok_or(VoiceError::Internal(
        "a provider was called without its URL",
    ))
}

/// Returns an address of the vendor for a request other than speech.
pub(super) fn of_endpoint(endpoint: &Endpoint, path: &str) -> Result<Url, VoiceError> {
    let base = endpoint.base_url.as_ref();
    let missing = VoiceError::Internal("a provider was called without its URL");
    Ok(join(base.ok_or(missing)?, path))
}

/// A list of voices. The field names differ between vendors.
#[derive(Deserialize)]
struct Listed {
    voices: Vec<ListedVoice>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ListedVoice {
    Name(String),
    Voice {
        id: Option<String>,
        voice_id: Option<String>,
        name: Option<String>,
    },
}

impl ListedVoice {
    fn offered(self) -> Option<OfferedVoice> {
        match self {
            Self::Name(name) => Some(OfferedVoice::named(&name)),
            Self::Voice { id, voice_id, name } => {
                let id = id.or(voice_id).or_else(|| name.clone())?;
                let name = name.unwrap_or_else(|| id.clone());
                Some(OfferedVoice { id, name })
            }
        }
    }
}

/// Requests a list of voices.
pub(super) async fn voices(
    resources: &Resources,
    id: &'static str,
    request: RequestBuilder,
) -> Result<Vec<OfferedVoice>, VoiceError> {
    let response = resources.send(id, request).await?;
    let answer = resources.text(id, response).await?;
    let listed: Listed = serde_json::from_slice(&answer)
        .map_err(|_| VoiceError::failed(id, "returned an invalid response", false))?;
    let offered = listed.voices.into_iter().filter_map(ListedVoice::offered);
    Ok(offered.collect())
}

/// Sends a request and waits for the first bytes of audio. Text and JSON are rejected even with a success status,
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

/// Waits for the first non-empty chunk. An empty response is an error before any audio was sent, so a fallback can
/// still be tried.
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

/// Returns the error for a response without audio.
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
