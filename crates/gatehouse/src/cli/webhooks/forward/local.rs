//! The program on this machine: sends it a request and reports its response.

use crate::cli::client::is_loopback;
use crate::cli::output::{plain, warn};
use crate::cli::usage;
use anyhow::{Context, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Url, redirect};
use serde_json::Value;
use std::error::Error;
use std::time::Duration;
use tokio::time::Instant;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The timeout of a request. It is longer than vendors wait.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The local destination of deliveries.
pub(super) struct Local {
    http: reqwest::Client,
    to: Url,
}

/// The outcome of a request.
pub(super) enum Outcome {
    Sent(Sent),
    /// There was no connection, so no program has read the request. Contains the reason.
    NotReached(String),
}

/// A request that the program may have read.
pub(super) struct Sent {
    pub status: Option<u16>,
    pub duration_ms: u128,
    pub error: Option<String>,
}

impl Sent {
    pub(super) fn failed(error: &str) -> Self {
        Self {
            status: None,
            duration_ms: 0,
            error: Some(error.to_owned()),
        }
    }
}

impl Local {
    pub(super) fn new(to: &Url) -> Result<Self> {
        let is_web = matches!(to.scheme(), "http" | "https") && to.has_host();
        let expected = || format!("{to}: expected a URL such as http://localhost:3000/path");
        usage::ensure(is_web, &expected())?;
        if !is_loopback(to) {
            warn(format!(
                "the headers of deliveries, with their secrets and signatures, are sent to {to}"
            ));
        }
        let mut builder = reqwest::Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(TIMEOUT)
            .redirect(redirect::Policy::none())
            .no_gzip()
            .no_brotli();
        if is_loopback(to) {
            builder = builder.no_proxy();
        }
        Ok(Self {
            http: builder.build().context("cannot set up the HTTP client")?,
            to: to.clone(),
        })
    }

    /// Returns the address, for messages.
    fn shown(&self) -> String {
        plain(self.to.as_str())
    }

    fn why_not_reached(&self, error: &reqwest::Error) -> String {
        let to = self.shown();
        if error.is_timeout() {
            return format!("{to} does not accept connections");
        }
        let root = root(error);
        let io = root.downcast_ref::<std::io::Error>();
        if io.is_some_and(|io| io.kind() == std::io::ErrorKind::ConnectionRefused) {
            return format!("no program listens at {to}");
        }
        plain(&format!("{to} cannot be reached: {root}"))
    }

    /// Sends a `webhooks.delivery.request`.
    pub(super) async fn send(&self, request: &Value) -> Outcome {
        let mut to = self.to.clone();
        let query = request.get("query").and_then(Value::as_str);
        if to.query().is_none() {
            to.set_query(query);
        }
        let body = request.get("body").and_then(Value::as_str);
        let body = BASE64.decode(body.unwrap_or_default());
        let started = Instant::now();
        let sending = self.http.post(to).headers(headers(request));
        let answer = sending.body(body.unwrap_or_default()).send().await;
        let duration_ms = started.elapsed().as_millis();
        match answer {
            Ok(answer) => Outcome::Sent(Sent {
                status: Some(answer.status().as_u16()),
                duration_ms,
                error: None,
            }),
            Err(error) if error.is_connect() => Outcome::NotReached(self.why_not_reached(&error)),
            Err(error) => Outcome::Sent(Sent {
                status: None,
                duration_ms,
                error: Some(why(&error)),
            }),
        }
    }
}

fn headers(request: &Value) -> HeaderMap {
    let listed = request.get("headers").and_then(Value::as_array);
    let header = |header: &Value| {
        let name = header.get("name")?.as_str()?;
        let value = match header.get("value_base64").and_then(Value::as_str) {
            Some(encoded) => HeaderValue::from_bytes(&BASE64.decode(encoded).ok()?).ok()?,
            None => HeaderValue::from_str(header.get("value")?.as_str()?).ok()?,
        };
        Some((name.parse::<HeaderName>().ok()?, value))
    };
    let mut headers = HeaderMap::new();
    for (name, value) in listed.into_iter().flatten().filter_map(header) {
        headers.append(name, value);
    }
    headers
}

/// Returns the innermost error.
fn root<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause
}

fn why(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return format!("no answer within {} seconds", TIMEOUT.as_secs());
    }
    plain(&format!("no answer: {}", root(error)))
}
