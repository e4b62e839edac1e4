//! Computes what a signature should be, and compares.

use std::borrow::Cow;

use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConstantTimeEq as _};
use url::Url;

use super::header::Claim;
use super::scheme::{Algorithm, Part, Scheme, Time};
use super::{TOLERANCE_SECONDS, VerifyError, VerifyInput, secret};
use crate::payload::{Payload, form};

/// Query parameter by which Twilio signs bodies that are not forms.
const BODY_HASH: &str = "bodySHA256";

/// What the parts of a signed text are taken from.
pub(super) struct Subject<'a> {
    pub id: &'a str,
    pub timestamp: &'a str,
    pub url: &'a str,
    pub body: &'a [u8],
}

/// Whether any of the signatures is right under any of the secrets.
pub(super) fn check(
    scheme: &Scheme,
    claim: &Claim<'_>,
    input: &VerifyInput<'_>,
) -> Result<bool, VerifyError> {
    let urls = if scheme.signed.contains(&Part::UrlAndForm) {
        spellings(input.url)
    } else {
        vec![Cow::Borrowed(input.url)]
    };
    let mut right = Choice::from(0);
    let mut keys = 0;
    for key in input
        .secrets
        .iter()
        .filter_map(|secret| secret::key(scheme.key, secret))
    {
        keys += 1;
        for url in &urls {
            let expected = signature(
                scheme,
                &key,
                &Subject {
                    id: claim.id,
                    timestamp: claim.timestamp,
                    url,
                    body: input.body,
                },
            );
            // Every candidate, also behind the right one.
            for candidate in &claim.candidates {
                right |= expected.as_slice().ct_eq(candidate);
            }
        }
    }
    if keys == 0 {
        return Err(VerifyError::NoSecret);
    }
    Ok(bool::from(right))
}

/// The signature of a delivery; empty, which equals nothing, if it cannot have one.
pub(super) fn signature(scheme: &Scheme, key: &[u8], subject: &Subject<'_>) -> Vec<u8> {
    let Some(parts) = parts(scheme, subject) else {
        return Vec::new();
    };
    match scheme.algorithm {
        Algorithm::Sha256 => mac::<Hmac<Sha256>>(key, &parts),
        Algorithm::Sha1 => mac::<Hmac<Sha1>>(key, &parts),
    }
}

/// What is signed, one behind the other; none if the delivery cannot have a signature.
pub(super) fn parts<'a>(scheme: &Scheme, subject: &Subject<'a>) -> Option<Vec<Cow<'a, [u8]>>> {
    let mut parts: Vec<Cow<'_, [u8]>> = Vec::new();
    for part in scheme.signed {
        match part {
            Part::Text(text) => parts.push(Cow::Borrowed(text.as_bytes())),
            Part::Id => parts.push(Cow::Borrowed(subject.id.as_bytes())),
            Part::Timestamp => parts.push(Cow::Borrowed(subject.timestamp.as_bytes())),
            Part::Body => parts.push(Cow::Borrowed(subject.body)),
            Part::UrlAndForm => parts.extend(url_and_form(subject.url, subject.body)?),
        }
    }
    Some(parts)
}

fn mac<M: Mac + KeyInit>(key: &[u8], parts: &[Cow<'_, [u8]>]) -> Vec<u8> {
    // A key of any length will do.
    let Ok(mut mac) = <M as KeyInit>::new_from_slice(key) else {
        return Vec::new();
    };
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().to_vec()
}

/// The address and then the form's names and values, by name; of a name that is there twice its
/// different values, sorted. If the address has the body's hash in it, the address alone.
fn url_and_form<'a>(url: &'a str, body: &'a [u8]) -> Option<Vec<Cow<'a, [u8]>>> {
    let mut parts = vec![Cow::Borrowed(url.as_bytes())];
    if let Some(claimed) = body_hash(url) {
        let hash = data_encoding::HEXLOWER.encode(&Sha256::digest(body));
        return (hash == claimed).then_some(parts);
    }
    let mut fields: Vec<_> = form::pairs(body)
        .map(|(name, value)| (form::decode_bytes(name), form::decode_bytes(value)))
        .collect();
    fields.sort();
    fields.dedup();
    for (name, value) in fields {
        parts.push(name);
        parts.push(value);
    }
    Some(parts)
}

fn body_hash(url: &str) -> Option<String> {
    let (_, query) = url.split_once('?')?;
    form::pairs(query.as_bytes())
        .find(|(name, _)| *name == BODY_HASH.as_bytes())
        .and_then(|(_, hash)| String::from_utf8(hash.to_vec()).ok())
}

/// The address as it is, and with and without the port that its scheme means anyway: Twilio signs now
/// the one, now the other.
fn spellings(url: &str) -> Vec<Cow<'_, str>> {
    let mut all = vec![Cow::Borrowed(url)];
    let parsed = Url::parse(url).ok();
    let Some((parsed, host_end)) = parsed.as_ref().and_then(|parsed| {
        let start = url.find("://")? + 3;
        let length = url.get(start..)?.find(['/', '?', '#']);
        Some((parsed, length.map_or(url.len(), |length| start + length)))
    }) else {
        return all;
    };
    // `port()` is none for the scheme's own, also where it is written.
    if parsed.port().is_some() {
        return all;
    }
    let Some(port) = parsed.port_or_known_default() else {
        return all;
    };
    let Some((authority, rest)) = url.split_at_checked(host_end) else {
        return all;
    };
    let suffix = format!(":{port}");
    all.push(Cow::Owned(match authority.strip_suffix(&suffix) {
        Some(without) => format!("{without}{rest}"),
        None => format!("{authority}{suffix}{rest}"),
    }));
    all
}

/// One spelling for all of [`spellings`]: the shortest, without the port that the scheme means anyway.
pub(super) fn canonical(url: &str) -> Cow<'_, str> {
    let all = spellings(url).into_iter();
    all.min_by_key(|spelling| spelling.len())
        .unwrap_or(Cow::Borrowed(url))
}

/// Whether the time that was signed is near enough to ours.
pub(super) fn check_time(
    scheme: &Scheme,
    claim: &Claim<'_>,
    input: &VerifyInput<'_>,
) -> Result<(), VerifyError> {
    match scheme.time {
        Time::Unsigned => Ok(()),
        Time::Item(_) | Time::Headers(_) => {
            // The sender's time has whole seconds, so ours has, too.
            let then = seconds(claim.timestamp).ok_or(VerifyError::Malformed)?;
            near(then, input.now_ms.div_euclid(1000), TOLERANCE_SECONDS)
        }
        Time::Body(field) => match body_time(field, input.body)? {
            None => Ok(()),
            Some(then) => near(
                then,
                input.now_ms,
                input.tracker_tolerance_seconds.saturating_mul(1000),
            ),
        },
    }
}

fn near(then: i64, now: i64, tolerance: i64) -> Result<(), VerifyError> {
    let (then, now, tolerance) = (i128::from(then), i128::from(now), i128::from(tolerance));
    if now - then > tolerance {
        Err(VerifyError::Stale)
    } else if then - now > tolerance {
        Err(VerifyError::FromFuture)
    } else {
        Ok(())
    }
}

/// Digits, and nothing else.
fn seconds(text: &str) -> Option<i64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

/// The field's milliseconds; none where it is not present. A body that is not JSON is for the next step
/// to refuse.
fn body_time(field: &str, body: &[u8]) -> Result<Option<i64>, VerifyError> {
    let Some(payload) = std::str::from_utf8(body)
        .ok()
        .and_then(|text| Payload::from_json(text).ok())
    else {
        return Ok(None);
    };
    match payload.get(field) {
        None => Ok(None),
        Some(node) if node.is_null() => Ok(None),
        Some(node) => node.as_i64().map(Some).ok_or(VerifyError::Malformed),
    }
}
