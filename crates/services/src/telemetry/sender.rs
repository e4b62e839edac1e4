//! Sends requests to the collector. A request is retried as the OTLP/HTTP specification requires: after a 429, 502, 503
//! or 504, and after a failed connection. A `Retry-After` header sets the delay.

use super::health::{Health, Signal, State};
use crate::retry_after::parse_retry_after;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use gatehouse_domain::{Clock, Random};
use gatehouse_outbound::{AddressSource, Outbound, OutboundError, read_capped};
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::Value;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use url::Url;

const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of attempts per request.
const TRIES: u32 = 5;
/// The delay before the first retry. It doubles with each retry, and a random part is subtracted as jitter.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The longest delay that a collector can request.
const MAX_WAIT: Duration = Duration::from_mins(10);
const MAX_ANSWER_BYTES: usize = 64 * 1024;
/// The longest message of a collector that is logged, in characters.
const MAX_MESSAGE_CHARS: usize = 200;

pub(super) struct Sender {
    pub(super) outbound: Outbound,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) random: Arc<dyn Random>,
    pub(super) shutdown: CancellationToken,
}

/// The collector's response about data that it accepted (`partial_success` in OTLP).
#[derive(Debug, Default)]
pub(super) struct Accepted {
    /// The number of spans or points that the collector rejected.
    pub(super) rejected: u64,
    pub(super) message: String,
}

/// Why a request was refused.
enum Refused {
    /// The request may be retried, after this delay if the collector requested one.
    ForNow(Option<Duration>, String),
    Finally(String),
}

impl Sender {
    /// Sends a body. The error is the reason why it was not accepted.
    pub(super) async fn send(
        &self,
        endpoint: &Url,
        signal: Signal,
        body: &Value,
        health: &Health,
    ) -> Result<Accepted, String> {
        let url = url_of(endpoint, signal);
        let body = compressed(body.to_string().as_bytes());
        let mut wait = FIRST_WAIT;
        let mut tries = 1;
        loop {
            let (asked, reason) = match self.try_once(&url, body.clone()).await {
                Ok(accepted) => return Ok(accepted),
                Err(Refused::Finally(reason)) => return Err(reason),
                Err(Refused::ForNow(asked, reason)) => (asked, reason),
            };
            if tries == TRIES || self.shutdown.is_cancelled() {
                return Err(reason);
            }
            health.note(signal, State::Refused(reason));
            let pause = asked.map_or_else(|| self.shortened(wait), |asked| asked.min(MAX_WAIT));
            self.shutdown
                .run_until_cancelled(tokio::time::sleep(pause))
                .await;
            wait *= 2;
            tries += 1;
        }
    }

    /// Subtracts up to half of the delay, so that nodes do not retry at the same time.
    fn shortened(&self, wait: Duration) -> Duration {
        let half = u32::try_from(wait.as_millis() / 2).unwrap_or(u32::MAX);
        wait.saturating_sub(Duration::from_millis(u64::from(self.random.below(half))))
    }

    async fn try_once(&self, url: &Url, body: Bytes) -> Result<Accepted, Refused> {
        let mut request = reqwest::Request::new(Method::POST, url.clone());
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        *request.body_mut() = Some(body.into());
        *request.timeout_mut() = Some(REQUEST_TIMEOUT);
        let answer = self.outbound.send(AddressSource::Owner, request).await;
        let answer = answer.map_err(|error| match error {
            OutboundError::BadUrl(_) | OutboundError::RefusedAddress => {
                Refused::Finally(error.to_string())
            }
            error => Refused::ForNow(None, error.to_string()),
        })?;
        let status = answer.status();
        let asked = self.asked_wait(answer.headers());
        match status {
            status if status.is_success() => {
                let body = read_capped(answer, MAX_ANSWER_BYTES).await;
                Ok(accepted(&body.map(|(body, _)| body).unwrap_or_default()))
            }
            StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT => {
                Err(Refused::ForNow(asked, format!("HTTP status {status}")))
            }
            status => Err(Refused::Finally(format!("HTTP status {status}"))),
        }
    }

    fn asked_wait(&self, headers: &HeaderMap) -> Option<Duration> {
        let text = headers.get(RETRY_AFTER)?.to_str().ok()?;
        parse_retry_after(text, self.clock.now())
    }
}

/// Returns the URL of a signal: `/v1/traces` or `/v1/metrics` below the endpoint.
fn url_of(endpoint: &Url, signal: Signal) -> Url {
    let mut url = endpoint.clone();
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(["v1", signal.as_str()]);
    }
    url
}

fn compressed(text: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    // Writing to memory does not fail.
    drop(encoder.write_all(text));
    encoder.finish().unwrap_or_default().into()
}

/// Parses the answer of a collector. 64-bit numbers may be texts.
fn accepted(body: &[u8]) -> Accepted {
    let answer: Value = serde_json::from_slice(body).unwrap_or_default();
    let Some(partial) = answer.get("partialSuccess") else {
        return Accepted::default();
    };
    let rejected = partial
        .get("rejectedSpans")
        .or_else(|| partial.get("rejectedDataPoints"));
    let rejected =
        rejected.and_then(|count| count.as_u64().or_else(|| count.as_str()?.parse().ok()));
    let message = partial.get("errorMessage").and_then(Value::as_str);
    let message = message.unwrap_or_default().chars();
    Accepted {
        rejected: rejected.unwrap_or_default(),
        message: message
            .filter(|c| !c.is_control())
            .take(MAX_MESSAGE_CHARS)
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_below_the_endpoint() {
        for (endpoint, expected) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
            (
                "https://otel.example/a/",
                "https://otel.example/a/v1/traces",
            ),
        ] {
            let endpoint = Url::parse(endpoint).unwrap();
            assert_eq!(url_of(&endpoint, Signal::Traces).as_str(), expected);
        }
    }

    #[test]
    fn a_partial_success_is_read() {
        let body = br#"{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too\nold"}}"#;
        let partial = accepted(body);
        assert_eq!((partial.rejected, partial.message.as_str()), (3, "tooold"));
        for whole in ["{}", "", "{\"partialSuccess\":{}}"] {
            let whole = accepted(whole.as_bytes());
            assert!(whole.rejected == 0 && whole.message.is_empty());
        }
    }
}
