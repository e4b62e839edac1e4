//! Downloads files that came with messages, and limits uploads.

use super::Source;
use crate::error::Failure;
use crate::vendor::{Limits, address, call_within};
use reqwest::RequestBuilder;
use std::time::Duration;
use url::Url;

/// The time limit for fetching a file.
const FILE_TIME: Duration = Duration::from_mins(2);

/// The limits of a request with a voice message or a picture.
pub(super) const UPLOAD: Limits = Limits {
    timeout: FILE_TIME,
    bytes: 64 * 1024,
};

/// Sends the request and returns the file, which may be empty. Returns `None` if it is larger than `max_bytes`. `noun`
/// is the vendor's name in errors.
pub(super) async fn download(
    source: Source<'_>,
    noun: &str,
    request: RequestBuilder,
    max_bytes: usize,
) -> Result<Option<Vec<u8>>, Failure> {
    let limits = Limits {
        timeout: FILE_TIME,
        bytes: max_bytes.saturating_add(1),
    };
    let inner = source.inner;
    let answer = call_within(&inner.outbound, &*inner.clock, noun, request, limits).await?;
    answer.check(noun, None)?;
    if !answer.is_read() {
        let why = format!("The connection to {noun} broke before the file arrived.");
        return Err(Failure::unreachable(why));
    }
    let data = answer.into_body();
    Ok((data.len() <= max_bytes).then_some(data))
}

/// Parses the URL of a file. It must be at one of the vendor's hosts, or at the origin of the account's own server.
pub(super) fn file_url(url: &str, hosts: &[&str], base: &str, noun: &str) -> Result<Url, Failure> {
    let refused = || Failure::refused(format!("{noun} named a file at an unknown server."));
    let url = Url::parse(url).map_err(|_| refused())?;
    let host = url.host_str().unwrap_or_default();
    let is_vendor = url.scheme() == "https" && url.port().is_none() && hosts.contains(&host);
    if is_vendor || address(base)?.origin() == url.origin() {
        return Ok(url);
    }
    Err(refused())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_at_the_vendor_or_at_the_own_server() {
        let of = |url, base| file_url(url, &["files.example.com"], base, "Vendor").is_ok();
        let base = "https://api.example.com/v1";
        assert!(of("https://files.example.com/a?b", base));
        assert!(of("http://localhost:81/a", "http://localhost:81/api"));
        for bad in [
            "",
            "http://files.example.com/a",
            "https://files.example.com:444/a",
            "https://files.example.com.evil.example/a",
            "https://evil.example/files.example.com",
            "https://files.example.com@evil.example/a",
            "file:///etc/passwd",
        ] {
            assert!(!of(bad, base), "{bad}");
        }
    }
}
