//! The HTTP client of the ACME library. It uses our client with its limits, and stores data that the library does
//! not report.

use crate::retry_after::parse_retry_after;
use bytes::Bytes;
use gatehouse_domain::Clock;
use gatehouse_outbound::{AddressSource, Outbound, read_capped};
use http::header::{RETRY_AFTER, USER_AGENT};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use instant_acme::{BodyWrapper, BytesResponse, Error, HttpClient};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// A certificate chain takes a few kilobytes.
const MAX_BODY_BYTES: usize = 1 << 20;

/// Sends the requests of the ACME library. Clones share their connections and the last `Retry-After`.
#[derive(Clone, Debug)]
pub(super) struct AcmeHttp {
    outbound: Outbound,
    clock: Arc<dyn Clock>,
    /// Whether all URLs must use https, because the directory's URL does.
    is_https: bool,
    retry_after: Arc<Mutex<Option<Duration>>>,
}

impl AcmeHttp {
    pub(super) fn new(outbound: Outbound, clock: Arc<dyn Clock>, is_https: bool) -> Self {
        Self {
            outbound,
            clock,
            is_https,
            retry_after: Arc::default(),
        }
    }

    /// Returns the delay that the authority requested with its last refusal.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        *self
            .retry_after
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    async fn send(&self, request: Request<BodyWrapper<Bytes>>) -> Result<BytesResponse, Error> {
        let (mut parts, body) = request.into_parts();
        if self.is_https && parts.uri.scheme_str() != Some("https") {
            return Err(Error::Str("https in a URL of the certificate authority"));
        }
        // The client's own name is sent instead.
        parts.headers.remove(USER_AGENT);
        let Ok(body) = body.collect().await;
        let request = Request::from_parts(parts, body.to_bytes());
        let mut request = reqwest::Request::try_from(request).map_err(boxed)?;
        *request.timeout_mut() = Some(REQUEST_TIMEOUT);
        let answer = self.outbound.send(AddressSource::Owner, request).await;
        let answer = answer.map_err(boxed)?;
        let (status, headers) = (answer.status(), answer.headers().clone());
        let (body, is_cut) = read_capped(answer, MAX_BODY_BYTES).await.map_err(boxed)?;
        if is_cut {
            return Err(Error::Str("an answer of at most 1 MiB"));
        }
        if matches!(
            status,
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE
        ) {
            let asked = headers.get(RETRY_AFTER).and_then(|text| text.to_str().ok());
            let asked = asked.and_then(|text| parse_retry_after(text, self.clock.now()));
            *self
                .retry_after
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = asked;
        }
        let is_json = serde_json::from_slice::<serde_json::Value>(&body).is_ok();
        if !status.is_success() && !is_json {
            let message = format!("the certificate authority answered with HTTP status {status}");
            return Err(Error::Other(message.into()));
        }
        let mut response = Response::new(Full::new(Bytes::from(body)));
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        Ok(BytesResponse::from(response))
    }
}

fn boxed(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::Other(Box::new(error))
}

impl HttpClient for AcmeHttp {
    fn request(
        &self,
        request: Request<BodyWrapper<Bytes>>,
    ) -> Pin<Box<dyn Future<Output = Result<BytesResponse, Error>> + Send>> {
        let client = self.clone();
        Box::pin(async move { client.send(request).await })
    }
}
