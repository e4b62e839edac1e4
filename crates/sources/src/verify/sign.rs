//! Signs deliveries like a sender. `webhooks.test` uses it, so that test deliveries take the same path as real
//! ones.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use data_encoding::HEXLOWER;
use gatehouse_domain::Timestamp;
use http::{HeaderName, HeaderValue};

use super::scheme::{Encoding, Method, Scheme, Time, TimeFormat};
use super::shell::vendor_header;
use super::signed::{self, Subject};
use super::{DEFAULT_STATIC_HEADER, secret};
use crate::auth_mode::AuthMode;

/// The input of a signature.
#[derive(Clone, Copy)]
pub struct SignInput<'a> {
    pub mode: AuthMode,
    /// The header that contains the secret in the mode `static_header`.
    pub header: Option<&'a str>,
    pub secret: &'a str,
    /// The URL that the delivery is sent to.
    pub url: &'a str,
    pub body: &'a [u8],
    /// The current Unix time in milliseconds.
    pub now_ms: i64,
    /// The sender's ID of the delivery.
    pub id: &'a str,
}

/// Returns the headers that a sender would add, with their neutral names. Omits values that a header cannot
/// contain. Returns none in a mode in which only the sender can sign; see [`AuthMode::can_sign`].
pub fn sign(input: &SignInput<'_>) -> Vec<(HeaderName, HeaderValue)> {
    match input.mode.method() {
        Method::Open => Vec::new(),
        Method::Signature(_) if !input.mode.can_sign() => Vec::new(),
        Method::OwnHeader => carry(&[(
            input.header.unwrap_or(DEFAULT_STATIC_HEADER),
            input.secret.to_owned(),
        )]),
        Method::Token(names) => carry(&first(names, input.secret.to_owned())),
        Method::Bearer => carry(&[("authorization", format!("Bearer {}", input.secret))]),
        Method::Signature(scheme) => match secret::key(scheme.key, input.secret) {
            Some(key) => carry(&signature(scheme, &key, input)),
            None => Vec::new(),
        },
    }
}

/// Like [`sign`], but with the vendor's own names, for a program that was written for the vendor.
pub fn sign_as_vendor(input: &SignInput<'_>) -> Vec<(HeaderName, HeaderValue)> {
    let vendor = input.mode.alias().and_then(|alias| alias.split('_').next());
    let lists: Vec<&[&str]> = match input.mode.method() {
        Method::Token(names) => vec![names],
        Method::Signature(scheme) => {
            let times = match scheme.time {
                Time::Headers(names) => names,
                Time::Unsigned | Time::Item(_) | Time::Body(_) => &[],
            };
            vec![scheme.headers, scheme.id_headers, times]
        }
        Method::Open | Method::OwnHeader | Method::Bearer => Vec::new(),
    };
    let named = |name: HeaderName| {
        let list = lists.iter().find(|list| list.contains(&name.as_str()));
        let theirs = list.map(|list| vendor_header(list, vendor));
        theirs
            .and_then(|theirs| theirs.parse().ok())
            .unwrap_or(name)
    };
    sign(input)
        .into_iter()
        .map(|(name, value)| (named(name), value))
        .collect()
}

fn signature(scheme: &Scheme, key: &[u8], input: &SignInput<'_>) -> Vec<(&'static str, String)> {
    let timestamp = match scheme.time_format {
        TimeFormat::Seconds => input.now_ms.div_euclid(1000).to_string(),
        TimeFormat::Milliseconds => input.now_ms.to_string(),
        TimeFormat::Rfc3339 => Timestamp::from_millis(input.now_ms).to_string(),
    };
    let bytes = signed::signature(
        scheme,
        key,
        &Subject {
            id: input.id,
            timestamp: &timestamp,
            url: input.url,
            body: input.body,
        },
    );
    let encoded = match scheme.encoding {
        Encoding::Hex => HEXLOWER.encode(&bytes),
        Encoding::Base64 => BASE64.encode(&bytes),
    };
    let mut value = format!("{}{encoded}", scheme.sends);
    let mut headers = Vec::new();
    match scheme.time {
        Time::Item(name) => {
            let separator = scheme.separator.unwrap_or(',');
            value = format!("{name}{timestamp}{separator}{value}");
        }
        Time::Headers(names) => headers.extend(first(names, timestamp)),
        Time::Unsigned | Time::Body(_) => {}
    }
    headers.extend(first(scheme.id_headers, input.id.to_owned()));
    headers.extend(first(scheme.headers, value));
    headers
}

fn first(names: &[&'static str], value: String) -> Vec<(&'static str, String)> {
    names
        .first()
        .map(|name| (*name, value))
        .into_iter()
        .collect()
}

fn carry(headers: &[(&str, String)]) -> Vec<(HeaderName, HeaderValue)> {
    headers
        .iter()
        .filter_map(|(name, value)| Some((name.parse().ok()?, HeaderValue::from_str(value).ok()?)))
        .collect()
}
