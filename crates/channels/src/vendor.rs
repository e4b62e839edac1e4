//! HTTP calls to vendors and the interpretation of their responses. Errors contain neither the response text nor the
//! URL, because both may contain a token. Only recognized values are returned. [`crate::response`] alone has the text
//! of a response to a message.

mod response_json;

use crate::error::Failure;
use bytes::Bytes;
use gatehouse_domain::{Clock, Timestamp};
use gatehouse_outbound::{AddressSource, Outbound, OutboundError, read_capped};
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{RequestBuilder, StatusCode};
pub(crate) use response_json::ResponseJson;
use std::time::Duration;
use url::Url;

const TIMEOUT: Duration = Duration::from_secs(30);
const MAX_ANSWER_BYTES: usize = 64 * 1024;
/// The longest wait. Longer waits that a vendor requests are shortened.
const LONGEST_WAIT: Duration = Duration::from_hours(24);

/// A vendor's response.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
    /// Whether the body was read. Otherwise the connection broke, and the body is empty.
    is_read: bool,
    at: Timestamp,
}

/// Sends a request to the vendor. `vendor` is the vendor's name in errors, as used within a
/// sentence.
pub(crate) async fn call(
    outbound: &Outbound,
    clock: &dyn Clock,
    vendor: &str,
    request: RequestBuilder,
) -> Result<Answer, Failure> {
    let limits = Limits {
        timeout: TIMEOUT,
        bytes: MAX_ANSWER_BYTES,
    };
    call_within(outbound, clock, vendor, request, limits).await
}

/// The time limit for a response, and the maximum number of bytes to read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) timeout: Duration,
    pub(crate) bytes: usize,
}

/// Does the same as [`call`], with other limits.
pub(crate) async fn call_within(
    outbound: &Outbound,
    clock: &dyn Clock,
    vendor: &str,
    request: RequestBuilder,
    limits: Limits,
) -> Result<Answer, Failure> {
    let request = request
        .timeout(limits.timeout)
        .build()
        .map_err(|_| Failure::refused(format!("The request to {vendor} could not be created.")))?;
    let failed = |error| of_outbound(vendor, error);
    let response = outbound
        .send(AddressSource::Owner, request)
        .await
        .map_err(failed)?;
    let (status, headers) = (response.status(), response.headers().clone());
    let (body, is_read) = match read_capped(response, limits.bytes).await {
        Ok((body, _)) => (body, true),
        // The vendor accepted the message, so the response body is not needed.
        Err(_) if status.is_success() => (Vec::new(), false),
        Err(error) => return Err(failed(error)),
    };
    Ok(Answer {
        status,
        headers,
        body: body.into(),
        is_read,
        at: clock.now(),
    })
}

/// Returns the vendor's name as the beginning of a sentence.
fn at_the_beginning(vendor: &str) -> String {
    vendor
        .strip_prefix("the ")
        .map_or_else(|| vendor.to_owned(), |rest| format!("The {rest}"))
}

/// Maps an error of the HTTP client to a failure.
pub(crate) fn of_outbound(vendor: &str, error: OutboundError) -> Failure {
    let first = at_the_beginning(vendor);
    let why = match error {
        OutboundError::RefusedAddress => {
            format!("Requests to the address of {vendor} are not allowed.")
        }
        OutboundError::Timeout => format!("{first} did not respond in time."),
        OutboundError::Connect | OutboundError::Tls => format!("{first} could not be reached."),
        other => format!("Calling {vendor} failed: {other}."),
    };
    if error.is_retryable() {
        Failure::unreachable(why)
    } else {
        Failure::Refused(why)
    }
}

impl Answer {
    /// Returns whether the body arrived. If not, the body is empty.
    pub(crate) const fn is_read(&self) -> bool {
        self.is_read
    }

    pub(crate) fn into_body(self) -> Vec<u8> {
        self.body.into()
    }

    pub(crate) const fn body(&self) -> &Bytes {
        &self.body
    }

    /// Parses the body into a type. Returns `None` if the body has a different form.
    pub(crate) fn parse<T: serde::de::DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_slice(&self.body).ok()
    }

    /// Parses the body as JSON. If the body is not JSON, all values are absent.
    pub(crate) fn response_json(&self) -> ResponseJson {
        ResponseJson(serde_json::from_slice(&self.body).unwrap_or_default())
    }

    /// Maps the status to a result. `after` is the wait that the body specifies, for vendors that report it there.
    pub(crate) fn check(&self, vendor: &str, after: Option<Duration>) -> Result<(), Failure> {
        let (status, first) = (self.status.as_u16(), at_the_beginning(vendor));
        let why = match status {
            200..=299 => return Ok(()),
            300..=399 => {
                format!("{first} answered with a redirect ({status}), which is not followed.")
            }
            408 | 425 | 429 | 500..=599 => return Err(self.later(vendor, after)),
            401 | 403 => format!("{first} refused the credentials ({status})."),
            404 | 410 => format!("{first} did not find this address or recipient ({status})."),
            413 => format!("{first} refused the message as too large (413)."),
            _ => format!("{first} refused the message ({status})."),
        };
        Err(Failure::Refused(why))
    }

    /// Returns a retryable failure with the wait from the body or from `Retry-After`.
    pub(crate) fn later(&self, vendor: &str, after: Option<Duration>) -> Failure {
        let (status, first) = (self.status.as_u16(), at_the_beginning(vendor));
        let why = if status == 429 || self.status.is_success() {
            format!("{first} is rate limiting this account ({status}).")
        } else {
            format!("{first} cannot take messages right now ({status}).")
        };
        let after = after
            .or_else(|| self.retry_after())
            .map(|wait| wait.min(LONGEST_WAIT));
        Failure::Later { after, why }
    }

    /// Reads `Retry-After`: seconds or a date (RFC 9110, section 10.2.3).
    fn retry_after(&self) -> Option<Duration> {
        let text = self.headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
        if let Ok(seconds) = text.parse::<f64>() {
            return Duration::try_from_secs_f64(seconds).ok();
        }
        let date = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
        Some(self.at.until(Timestamp::from_millis(date.as_millisecond())))
    }
}

fn no_url() -> Failure {
    Failure::refused("The address of this channel is not a URL.")
}

/// Parses the owner's URL without changing it.
pub(crate) fn address(url: &str) -> Result<Url, Failure> {
    Url::parse(url).map_err(|_| no_url())
}

/// Appends path segments to a base URL. Each is encoded and stays a single segment.
pub(crate) fn join(base: &str, segments: &[&str]) -> Result<Url, Failure> {
    let mut url = address(base)?;
    url.path_segments_mut()
        .map_err(|()| no_url())?
        .pop_if_empty()
        .extend(segments);
    Ok(url)
}

/// Joins like [`join`], but uses the vendor's default path if the base has none.
pub(crate) fn join_default(
    base: &str,
    default_path: &[&str],
    segments: &[&str],
) -> Result<Url, Failure> {
    let has_path = Url::parse(base).is_ok_and(|url| url.path() != "/");
    let path = if has_path { &[] } else { default_path };
    join(base, &[path, segments].concat())
}

#[cfg(test)]
mod tests;
