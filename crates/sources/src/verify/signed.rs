//! Computes the expected signature and compares it with the candidates.

use std::borrow::Cow;

use ed25519_dalek::{Signature, VerifyingKey};
use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha512};
use subtle::{Choice, ConstantTimeEq as _};
use url::Url;

use super::header::Claim;
use super::scheme::{Algorithm, Part, Scheme};
use super::{VerifyError, VerifyInput, secret};
use crate::payload::form;

/// The query parameter that Twilio uses to sign bodies that are not forms.
const BODY_HASH: &str = "bodySHA256";

pub(super) struct Subject<'a> {
    pub id: &'a str,
    pub timestamp: &'a str,
    pub url: &'a str,
    pub body: &'a [u8],
}

/// Returns whether any candidate is valid for any secret.
pub(super) fn check(
    scheme: &Scheme,
    claim: &Claim<'_>,
    input: &VerifyInput<'_>,
) -> Result<bool, VerifyError> {
    let urls = if scheme.signs_url() {
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
        if scheme.algorithm == Algorithm::Ed25519 {
            right |= is_signed_with(scheme, &key, claim, input);
            continue;
        }
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
            // Compares every candidate, even after a match, to keep the time constant.
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

/// Returns the expected signature. If the delivery cannot be signed, returns an empty signature, which matches
/// nothing.
pub(super) fn signature(scheme: &Scheme, key: &[u8], subject: &Subject<'_>) -> Vec<u8> {
    let Some(parts) = parts(scheme, subject) else {
        return Vec::new();
    };
    match scheme.algorithm {
        Algorithm::Sha256 => mac::<Hmac<Sha256>>(key, &parts),
        Algorithm::Sha1 => mac::<Hmac<Sha1>>(key, &parts),
        Algorithm::Sha512 => mac::<Hmac<Sha512>>(key, &parts),
        Algorithm::Ed25519 => Vec::new(),
    }
}

/// Returns whether a candidate is a signature with the private key of this public key (RFC 8032). The inputs are
/// not secret.
fn is_signed_with(
    scheme: &Scheme,
    key: &[u8],
    claim: &Claim<'_>,
    input: &VerifyInput<'_>,
) -> Choice {
    let subject = Subject {
        id: claim.id,
        timestamp: claim.timestamp,
        url: input.url,
        body: input.body,
    };
    let key = <&[u8; 32]>::try_from(key).ok();
    let key = key.and_then(|key| VerifyingKey::from_bytes(key).ok());
    let (Some(key), Some(parts)) = (key, parts(scheme, &subject)) else {
        return Choice::from(0);
    };
    let message = parts.concat();
    let is_valid = claim.candidates.iter().any(|candidate| {
        Signature::from_slice(candidate)
            .is_ok_and(|signature| key.verify_strict(&message, &signature).is_ok())
    });
    Choice::from(u8::from(is_valid))
}

/// Returns the signed parts in order. Returns `None` if the delivery cannot be signed.
pub(super) fn parts<'a>(scheme: &Scheme, subject: &Subject<'a>) -> Option<Vec<Cow<'a, [u8]>>> {
    let mut parts: Vec<Cow<'_, [u8]>> = Vec::new();
    for part in scheme.signed {
        match part {
            Part::Text(text) => parts.push(Cow::Borrowed(text.as_bytes())),
            Part::Id => parts.push(Cow::Borrowed(subject.id.as_bytes())),
            Part::Timestamp => parts.push(Cow::Borrowed(subject.timestamp.as_bytes())),
            Part::Body => parts.push(Cow::Borrowed(subject.body)),
            Part::Url => parts.push(Cow::Borrowed(subject.url.as_bytes())),
            Part::UrlAndForm => parts.extend(url_and_form(subject.url, subject.body)?),
        }
    }
    Some(parts)
}

fn mac<M: Mac + KeyInit>(key: &[u8], parts: &[Cow<'_, [u8]>]) -> Vec<u8> {
    // HMAC accepts a key of any length.
    let Ok(mut mac) = <M as KeyInit>::new_from_slice(key) else {
        return Vec::new();
    };
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().to_vec()
}

/// Returns the URL, followed by the form's names and values, sorted by name. A repeated name has its distinct
/// values in order. If the URL contains the hash of the body, returns only the URL.
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

/// Returns the URL unchanged. If its port is the default one, also returns the URL with or without the port. Twilio
/// signs either spelling, and other senders can be configured with either.
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
    // `port()` is `None` for the default port, even if the URL contains it.
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

/// Returns one form for all [`spellings`] of a URL: the shortest one, without the default port.
pub(super) fn canonical(url: &str) -> Cow<'_, str> {
    let all = spellings(url).into_iter();
    all.min_by_key(|spelling| spelling.len())
        .unwrap_or(Cow::Borrowed(url))
}
