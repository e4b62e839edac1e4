//! Sends batches to the collector, one after the other, and repeats what may be repeated.

use super::otlp::Resource;
use super::spans::Span;
use super::{dropped, exposition, signal_url};
use crate::Services;
use gatehouse_domain::Timestamp;
use gatehouse_outbound::{AddressSource, Outbound, read_capped};
use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{Method, StatusCode};
use serde_json::Value;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use url::Url;

const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// The timeout of a request after the shutdown began.
const LAST_TIMEOUT: Duration = Duration::from_secs(3);
/// How often a batch is sent at most, and the first wait, which doubles.
const TRIES: u32 = 4;
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The longest wait that a collector may ask for.
const MAX_WAIT: Duration = Duration::from_secs(30);
const MAX_ANSWER_BYTES: usize = 64 * 1024;

/// A request body for a signal.
#[derive(Debug)]
pub(super) struct Batch {
    path: &'static str,
    body: Value,
    /// How many spans it contains.
    spans: u64,
}

impl Batch {
    pub(super) fn spans(services: &Services, spans: &[Span]) -> Self {
        Self {
            path: "/v1/traces",
            body: resource(services).traces(spans),
            spans: u64::try_from(spans.len()).unwrap_or(u64::MAX),
        }
    }

    pub(super) fn metrics(services: &Services, text: &str, started_at_ms: i64) -> Self {
        let families = exposition::read(text);
        let started = Timestamp::from_millis(started_at_ms);
        Self {
            path: "/v1/metrics",
            body: resource(services).metrics(&families, started, services.clock.now()),
            spans: 0,
        }
    }
}

fn resource(services: &Services) -> Resource {
    Resource {
        version: services.build.version,
        instance: services.instance.clone(),
    }
}

pub(super) struct Sender {
    outbound: Outbound,
    endpoint: Url,
    shutdown: CancellationToken,
    is_down: bool,
}

/// Why a batch was not taken.
enum Refused {
    /// It may be sent again, after this wait if the collector asked for one.
    Retry(Option<Duration>, String),
    Final(String),
}

impl Sender {
    pub(super) fn new(services: &Services, endpoint: &Url, shutdown: CancellationToken) -> Self {
        Self {
            outbound: services.outbound.clone(),
            endpoint: endpoint.clone(),
            shutdown,
            is_down: false,
        }
    }

    /// Sends until the queue is closed and empty.
    pub(super) async fn run(mut self, mut queue: mpsc::Receiver<Batch>) {
        while let Some(batch) = queue.recv().await {
            let outcome = self.deliver(&batch).await;
            let was_down = std::mem::replace(&mut self.is_down, outcome.is_err());
            match outcome {
                Ok(()) if was_down => {
                    tracing::info!("the telemetry collector accepts data again");
                }
                Ok(()) => {}
                Err(reason) => {
                    dropped(batch.spans);
                    if !was_down {
                        tracing::warn!(reason, "the telemetry collector accepts no data");
                    }
                }
            }
        }
    }

    async fn deliver(&self, batch: &Batch) -> Result<(), String> {
        let mut wait = FIRST_WAIT;
        for attempt in 1..=TRIES {
            let (asked, reason) = match self.send(batch).await {
                Ok(()) => return Ok(()),
                Err(Refused::Final(reason)) => return Err(reason),
                Err(Refused::Retry(asked, reason)) => (asked, reason),
            };
            if attempt == TRIES || self.shutdown.is_cancelled() {
                return Err(reason);
            }
            let pause = tokio::time::sleep(asked.unwrap_or(wait).min(MAX_WAIT));
            if self.shutdown.run_until_cancelled(pause).await.is_none() {
                continue;
            }
            wait *= 2;
        }
        Err("it did not answer".to_owned())
    }

    async fn send(&self, batch: &Batch) -> Result<(), Refused> {
        let url = signal_url(&self.endpoint, batch.path);
        let url = Url::parse(&url).map_err(|error| Refused::Final(error.to_string()))?;
        let mut request = reqwest::Request::new(Method::POST, url);
        request
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        *request.body_mut() = Some(batch.body.to_string().into());
        *request.timeout_mut() = Some(if self.shutdown.is_cancelled() {
            LAST_TIMEOUT
        } else {
            REQUEST_TIMEOUT
        });
        let answer = self.outbound.send(AddressSource::Owner, request).await;
        let answer = answer.map_err(|error| Refused::Retry(None, error.to_string()))?;
        let status = answer.status();
        let asked = answer
            .headers()
            .get(RETRY_AFTER)
            .and_then(|value| value.to_str().ok());
        let asked = asked
            .and_then(|text| text.parse().ok())
            .map(Duration::from_secs);
        let body = read_capped(answer, MAX_ANSWER_BYTES).await;
        match status {
            status if status.is_success() => {
                let body = body.map(|(body, _)| body).unwrap_or_default();
                note_partial_success(&body);
                Ok(())
            }
            // The specification of OTLP/HTTP names these as the only ones to repeat.
            StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT => {
                Err(Refused::Retry(asked, format!("HTTP status {status}")))
            }
            status => Err(Refused::Final(format!("HTTP status {status}"))),
        }
    }
}

/// A collector that accepts a request may still reject some of its spans.
fn note_partial_success(body: &[u8]) {
    let answer: Value = serde_json::from_slice(body).unwrap_or_default();
    let partial = answer.get("partialSuccess");
    let count = partial.and_then(|it| it.get("rejectedSpans"));
    let count = count.and_then(|it| it.as_u64().or_else(|| it.as_str()?.parse().ok()));
    if let Some(count) = count.filter(|count| *count > 0) {
        dropped(count);
        let reason = partial
            .and_then(|it| it.get("errorMessage"))
            .and_then(Value::as_str);
        tracing::warn!(count, reason, "the telemetry collector rejected spans");
    }
}
