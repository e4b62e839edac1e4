//! Maps a provider's refusal to an error.

use crate::VoiceError;
use reqwest::{Response, header};
use std::time::{Duration, SystemTime};

/// The longest Retry-After accepted from a vendor.
const MAX_RETRY_AFTER: Duration = Duration::from_hours(24);

pub(super) fn refused(provider: &'static str, response: &Response) -> VoiceError {
    let status = response.status();
    let reason = match status.as_u16() {
        401 | 403 => "rejected the key",
        402 => "requires payment",
        404 => "did not find the voice, model or URL",
        413 => "rejected the request as too large",
        429 => "reported too many requests",
        300..=399 => "responded with a redirect",
        400..=499 => "refused the request",
        _ => "returned an error",
    };
    VoiceError::Provider {
        provider,
        reason,
        status: Some(status.as_u16()),
        retryable: status.as_u16() == 429 || status.is_server_error(),
        retry_after_seconds: retry_after(response),
        said: None,
    }
}

/// Parses Retry-After as seconds or as a date (RFC 9110, section 10.2.3).
fn retry_after(response: &Response) -> Option<u64> {
    let value = response
        .headers()
        .get(header::RETRY_AFTER)?
        .to_str()
        .ok()?
        .trim();
    let seconds = if let Ok(seconds) = value.parse::<u64>() {
        seconds
    } else {
        let at = httpdate::parse_http_date(value).ok()?;
        #[expect(
            clippy::disallowed_methods,
            reason = "a vendor's date refers to the wall clock"
        )]
        let now = SystemTime::now();
        at.duration_since(now).ok()?.as_secs()
    };
    Some(seconds.clamp(1, MAX_RETRY_AFTER.as_secs()))
}
