//! Parses signature headers into candidate signatures, timestamp and ID. Verifies nothing.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use data_encoding::HEXLOWER_PERMISSIVE;
use http::HeaderMap;

use super::scheme::{Encoding, Scheme, Time};
use super::{MAX_CANDIDATES, MAX_HEADER_BYTES, VerifyError};

/// The proof in a request.
pub(super) struct Claim<'a> {
    /// Signatures of the scheme's length; at least one and at most [`MAX_CANDIDATES`].
    pub candidates: Vec<Vec<u8>>,
    /// The timestamp as sent, if the scheme sends it in a header.
    pub timestamp: &'a str,
    pub id: &'a str,
}

pub(super) fn read<'a>(scheme: &Scheme, headers: &'a HeaderMap) -> Result<Claim<'a>, VerifyError> {
    let values = first_present(headers, scheme.headers)?;
    if values.is_empty() {
        return Err(VerifyError::Missing);
    }
    let mut candidates = Vec::new();
    let mut timestamp = None;
    let mut seen = 0;
    for item in values.iter().flat_map(|value| items(scheme, value)) {
        if let Time::Item(prefix) = scheme.time
            && let Some(time) = item.strip_prefix(prefix)
        {
            // Repeating the same timestamp is harmless. If two timestamps differ, it is unclear which one was
            // signed.
            if timestamp.replace(time).is_some_and(|before| before != time) {
                return Err(VerifyError::Malformed);
            }
        } else if let Some(encoded) = candidate(scheme, item) {
            seen += 1;
            candidates.extend(decode(scheme, encoded));
        }
    }
    if seen > MAX_CANDIDATES {
        return Err(VerifyError::TooMany);
    }
    let timestamp = match scheme.time {
        Time::Item(_) => timestamp.ok_or(VerifyError::MissingTimestamp)?,
        Time::Headers(names) => single(headers, names, VerifyError::MissingTimestamp)?,
        Time::Unsigned | Time::Body(_) => "",
    };
    let id = if scheme.id_headers.is_empty() {
        ""
    } else {
        single(headers, scheme.id_headers, VerifyError::Missing)?
    };
    if candidates.is_empty() {
        return Err(VerifyError::Malformed);
    }
    Ok(Claim {
        candidates,
        timestamp,
        id,
    })
}

/// Returns the values of the first header in `names` that is present; empty if none is.
pub(super) fn first_present<'a>(
    headers: &'a HeaderMap,
    names: &[&str],
) -> Result<Vec<&'a [u8]>, VerifyError> {
    let Some(name) = names.iter().find(|name| headers.contains_key(**name)) else {
        return Ok(Vec::new());
    };
    let values: Vec<&[u8]> = headers
        .get_all(*name)
        .iter()
        .map(http::HeaderValue::as_bytes)
        .collect();
    if values.iter().map(|value| value.len()).sum::<usize>() > MAX_HEADER_BYTES {
        return Err(VerifyError::HeaderTooLarge);
    }
    Ok(values)
}

/// Returns the value of a header that must occur exactly once.
fn single<'a>(
    headers: &'a HeaderMap,
    names: &[&str],
    missing: VerifyError,
) -> Result<&'a str, VerifyError> {
    match first_present(headers, names)?.as_slice() {
        [] => Err(missing),
        [value] => std::str::from_utf8(value).map_err(|_| VerifyError::Malformed),
        _ => Err(VerifyError::Malformed),
    }
}

/// Splits a header value into items. A value that is not UTF-8 is treated as empty.
fn items<'a>(scheme: &Scheme, value: &'a [u8]) -> Vec<&'a str> {
    let text = std::str::from_utf8(value).unwrap_or_default();
    match scheme.separator {
        Some(separator) => text.split(separator).map(str::trim).collect(),
        None => vec![text.trim()],
    }
}

/// Returns the signature in an item. Returns `None` if the item belongs to another scheme (`v0=`, `sha1=`, `v1a,`).
fn candidate<'a>(scheme: &Scheme, item: &'a str) -> Option<&'a str> {
    let behind = scheme
        .prefixes
        .iter()
        .find_map(|prefix| item.strip_prefix(prefix));
    // In hex, `=` is part of another scheme's prefix. In Base64, it is padding.
    let alone = scheme.bare
        && !item.is_empty()
        && (scheme.encoding == Encoding::Base64 || !item.contains('='));
    behind.or_else(|| alone.then_some(item))
}

/// Decodes a signature. Returns `None` if it does not have the scheme's length.
fn decode(scheme: &Scheme, encoded: &str) -> Option<Vec<u8>> {
    let bytes = match scheme.encoding {
        Encoding::Hex => HEXLOWER_PERMISSIVE.decode(encoded.as_bytes()).ok()?,
        Encoding::Base64 => BASE64.decode(encoded).ok()?,
    };
    (bytes.len() == scheme.algorithm.bytes()).then_some(bytes)
}
