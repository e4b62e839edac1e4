//! Shared resources of the providers: the HTTP client, local programs and timeouts.

mod refusal;

use crate::VoiceError;
use crate::cpu::CpuPermits;
use crate::last_use::LastUses;
use crate::programs::Programs;
use crate::settings::Timeouts;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use gatehouse_domain::Random;
use gatehouse_outbound::{AddressSource, Outbound, OutboundError, read_capped, vendor_sentence};
use refusal::refused;
use reqwest::header::{HeaderName, HeaderValue};
use reqwest::{RequestBuilder, Response};
use secrecy::{ExposeSecret, SecretString};
use std::sync::Arc;
use url::Url;

/// The maximum size of a vendor's response: about an hour of speech.
pub(crate) const MAX_ANSWER_BYTES: usize = 128 << 20;
/// The maximum size of a text response.
pub(crate) const MAX_TEXT_ANSWER_BYTES: usize = 16 << 20;
/// The maximum number of bytes read from a refusal.
const MAX_REFUSAL_BYTES: usize = 64 << 10;

/// Shared resources of the providers.
#[derive(Clone, Debug)]
pub(crate) struct Resources {
    pub(crate) outbound: Outbound,
    pub(crate) cpu: CpuPermits,
    pub(crate) programs: Programs,
    pub(crate) timeouts: Timeouts,
    pub(crate) random: Arc<dyn Random>,
    pub(crate) last_uses: LastUses,
    /// Whether the calls test a provider. In a test, each call is made once and the vendor's own error text is kept,
    /// because the gateway chose the spoken text.
    pub(crate) is_test: bool,
    /// A key that is tested instead of the provider's stored key. Set only in a test.
    pub(crate) unsaved_key: Option<SecretString>,
}

impl Resources {
    /// Returns a POST request for [`Self::send`].
    pub(crate) fn post(&self, url: Url) -> RequestBuilder {
        self.outbound.client(AddressSource::Owner).post(url)
    }

    /// Returns a GET request for [`Self::send`].
    pub(crate) fn get(&self, url: Url) -> RequestBuilder {
        self.outbound.client(AddressSource::Owner).get(url)
    }

    /// Sends a request and returns the response only if its status is a success. Dropping the future cancels
    /// the call.
    pub(crate) async fn send(
        &self,
        provider: &'static str,
        request: RequestBuilder,
    ) -> Result<Response, VoiceError> {
        let request = request
            .build()
            .map_err(|error| of_outbound(provider, error.into()))?;
        let keys: Vec<HeaderValue> = if self.is_test {
            let headers = request.headers().values();
            headers.filter(|it| it.is_sensitive()).cloned().collect()
        } else {
            Vec::new()
        };
        let sent = self.outbound.send(AddressSource::Owner, request);
        let response = tokio::time::timeout(self.timeouts.answer, sent)
            .await
            .map_err(|_elapsed| VoiceError::Timeout { provider })?
            .map_err(|error| of_outbound(provider, error))?;
        if response.status().is_success() {
            Ok(response)
        } else {
            let error = refused(provider, &response);
            if !self.is_test {
                return Err(error);
            }
            Err(error.saying(self.sentence(response, &keys).await))
        }
    }

    /// Returns the vendor's sentence in a refusal. Returns `None` if the vendor rejects the key, because such a
    /// sentence may repeat parts of the key.
    async fn sentence(&self, response: Response, keys: &[HeaderValue]) -> Option<String> {
        if matches!(response.status().as_u16(), 401 | 403) {
            return None;
        }
        let read = read_capped(response, MAX_REFUSAL_BYTES);
        let (body, _) = tokio::time::timeout(self.timeouts.idle, read)
            .await
            .ok()?
            .ok()?;
        // The header's value is the key alone, or a scheme and the key.
        let keys: Vec<&str> = keys.iter().filter_map(|key| key.to_str().ok()).collect();
        let keys = keys
            .into_iter()
            .filter_map(|key| key.split(' ').next_back());
        vendor_sentence(&body, &keys.collect::<Vec<_>>())
    }

    /// Streams the response body. An idle timeout, a broken connection and an excessive size are errors. The stream
    /// ends after an error.
    pub(crate) fn pieces(
        &self,
        provider: &'static str,
        response: Response,
    ) -> BoxStream<'static, Result<Bytes, VoiceError>> {
        let idle = self.timeouts.idle;
        let state = (Some(response), 0_usize);
        let pieces = futures_util::stream::unfold(state, move |(response, read)| async move {
            let mut response = response?;
            let chunk = match tokio::time::timeout(idle, response.chunk()).await {
                Err(_elapsed) => Err(VoiceError::Timeout { provider }),
                Ok(Err(error)) => Err(cut(provider, error.into())),
                Ok(Ok(None)) => return None,
                Ok(Ok(Some(chunk))) if chunk.len() > MAX_ANSWER_BYTES - read => Err(
                    VoiceError::failed(provider, "returned a response that is too large", false),
                ),
                Ok(Ok(Some(chunk))) => Ok(chunk),
            };
            Some(match chunk {
                Ok(chunk) => {
                    let read = read + chunk.len();
                    (Ok(chunk), (Some(response), read))
                }
                Err(error) => (Err(error), (None, read)),
            })
        });
        pieces.boxed()
    }

    /// Reads a whole text response.
    pub(crate) async fn text(
        &self,
        provider: &'static str,
        response: Response,
    ) -> Result<Bytes, VoiceError> {
        let mut pieces = self.pieces(provider, response);
        let mut whole = Vec::new();
        while let Some(piece) = pieces.next().await {
            let piece = piece?;
            if piece.len() > MAX_TEXT_ANSWER_BYTES - whole.len() {
                return Err(VoiceError::failed(
                    provider,
                    "returned a response that is too large",
                    false,
                ));
            }
            whole.extend_from_slice(&piece);
        }
        Ok(whole.into())
    }
}

/// Adds a header whose value is `before` followed by the key. The header is marked as sensitive, which keeps it out of
/// logs. Self-hosted servers may need no key. Without a key, the request is unchanged.
pub(crate) fn with_key(
    request: RequestBuilder,
    header: HeaderName,
    (section, id): (&str, &str),
    key: Option<&SecretString>,
    before: &str,
) -> Result<RequestBuilder, VoiceError> {
    let Some(key) = key else {
        return Ok(request);
    };
    let value = HeaderValue::from_str(&format!("{before}{}", key.expose_secret()));
    let mut value = value.map_err(|_| {
        VoiceError::not_configured(
            format!("voice.{section}.{id}.api_key"),
            format!("The key of {id} contains characters that are not allowed in an HTTP header."),
        )
    })?;
    value.set_sensitive(true);
    Ok(request.header(header, value))
}

/// Appends a path to a base URL and removes the query.
pub(crate) fn join(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    let whole = format!("{}/{path}", base.path().trim_end_matches('/'));
    url.set_path(&whole);
    url.set_query(None);
    url
}

/// Converts an error of a connection.
pub(crate) fn of_outbound(provider: &'static str, error: OutboundError) -> VoiceError {
    let reason = match error {
        OutboundError::Timeout => return VoiceError::Timeout { provider },
        OutboundError::RefusedAddress => "has an address that is not allowed",
        OutboundError::BadUrl(_) => "has an invalid URL",
        OutboundError::Connect | OutboundError::Tls => "could not be reached",
        OutboundError::Interrupted => "closed the connection early",
        OutboundError::BadResponse => "returned an invalid response",
        OutboundError::LeaseExpired | OutboundError::Other(_) => "could not be called",
    };
    VoiceError::failed(provider, reason, error.is_retryable())
}

/// Maps an error in the middle of a response. The client also reports a broken connection as an undecodable
/// body.
fn cut(provider: &'static str, error: OutboundError) -> VoiceError {
    match error {
        OutboundError::BadResponse => of_outbound(provider, OutboundError::Interrupted),
        error => of_outbound(provider, error),
    }
}
