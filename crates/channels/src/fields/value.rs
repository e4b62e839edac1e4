//! Parses and checks one value of a caller against its field.

use super::{FieldKind, FieldSpec};
use crate::signature;
use gatehouse_domain::is_connection_header;
use gatehouse_outbound::{AddressSource, Outbound, OutboundError};
use lettre::message::{Mailbox, Mailboxes};
use reqwest::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use serde_json::{Map, Value};
use url::{Host, Url};

const MAX_CHARACTERS: usize = 4096;
const MAX_HEADERS: usize = 32;

/// Returns the value to store, or `None` to remove it. The error is the reason for people.
pub(super) fn read_one(
    spec: &FieldSpec,
    value: &Value,
    outbound: &Outbound,
) -> Result<Option<Value>, String> {
    let text = match value {
        Value::Null => return Ok(None),
        Value::Bool(on) if spec.kind == FieldKind::Switch => {
            return Ok(on.then_some(Value::Bool(true)));
        }
        Value::Object(headers) if spec.kind == FieldKind::Headers => return header_object(headers),
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Array(list) if spec.kind == FieldKind::Mailboxes => joined(list)?,
        _ => return Err("expected a text".to_owned()),
    };
    // A password may begin or end with a space. A line break at its end comes from copying.
    let text = if spec.secret {
        text.trim_end_matches(['\r', '\n'])
    } else {
        text.trim()
    };
    if text.is_empty() {
        return Ok(None);
    }
    if text.chars().count() > MAX_CHARACTERS {
        return Err(format!("at most {MAX_CHARACTERS} characters"));
    }
    if spec.kind == FieldKind::Headers {
        return header_lines(text);
    }
    if spec.kind == FieldKind::Switch {
        return match text {
            "true" => Ok(Some(Value::Bool(true))),
            "false" => Ok(None),
            _ => Err("expected `true` or `false`".to_owned()),
        };
    }
    if text.chars().any(char::is_control) {
        return Err("control characters are not allowed".to_owned());
    }
    check(spec.kind, text, outbound)?;
    if spec.kind == FieldKind::Port {
        return Ok(text.parse::<u16>().ok().map(Value::from));
    }
    Ok(Some(Value::from(text)))
}

fn joined(list: &[Value]) -> Result<String, String> {
    let all: Option<Vec<&str>> = list.iter().map(Value::as_str).collect();
    Ok(all.ok_or("expected a list of texts")?.join(", "))
}

fn check(kind: FieldKind, text: &str, outbound: &Outbound) -> Result<(), String> {
    let require = |good: bool, reason: &str| good.then_some(()).ok_or_else(|| reason.to_owned());
    match kind {
        FieldKind::Text | FieldKind::Headers | FieldKind::Switch => Ok(()),
        FieldKind::OneOf(words) => require(
            words.contains(&text),
            &format!("expected one of {}", words.join(", ")),
        ),
        FieldKind::Port => require(
            text.parse::<u16>().is_ok_and(|port| port > 0),
            "expected a number from 1 to 65535",
        ),
        FieldKind::Host => check_host(text, outbound),
        FieldKind::Url => check_url(text, outbound),
        FieldKind::Mailbox => require(
            text.parse::<Mailbox>().is_ok(),
            "expected an address such as Gatehouse <gatehouse@example.com>",
        ),
        FieldKind::Mailboxes => require(
            text.parse::<Mailboxes>()
                .is_ok_and(|all| all.iter().next().is_some()),
            "expected addresses such as a@example.com, b@example.com",
        ),
        FieldKind::SigningSecret => require(
            signature::key(text).is_some(),
            "after `whsec_` it must be base64",
        ),
    }
}

/// Parses a host for use in certificate checks and name resolution.
pub(crate) fn parse_host(text: &str) -> Option<Host> {
    text.parse::<std::net::Ipv6Addr>()
        .map(Host::Ipv6)
        .or_else(|_| Host::parse(text))
        .ok()
}

fn check_host(text: &str, outbound: &Outbound) -> Result<(), String> {
    let host =
        parse_host(text).ok_or("expected a server's name or address, without a scheme or port")?;
    outbound
        .check_host(AddressSource::Owner, &host)
        .map_err(|error| error.to_string())
}

fn check_url(text: &str, outbound: &Outbound) -> Result<(), String> {
    let url = Url::parse(text).map_err(|_| "expected a URL".to_owned())?;
    if url.fragment().is_some() {
        return Err("must not have a fragment".to_owned());
    }
    outbound
        .check_url(AddressSource::Owner, &url)
        .map_err(|error| match error {
            OutboundError::BadUrl(reason) => reason.to_owned(),
            other => other.to_string(),
        })
}

fn header_lines(text: &str) -> Result<Option<Value>, String> {
    let mut headers = Map::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let (name, value) = line
            .split_once(':')
            .ok_or("expected lines such as `X-Team: ops`")?;
        headers.insert(name.trim().to_owned(), Value::from(value.trim()));
    }
    header_object(&headers)
}

fn header_object(headers: &Map<String, Value>) -> Result<Option<Value>, String> {
    if headers.len() > MAX_HEADERS {
        return Err(format!("at most {MAX_HEADERS} headers"));
    }
    for (name, value) in headers {
        let value = value.as_str().ok_or("each value must be a text")?;
        let lower = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| "a header's name has letters, digits and hyphens".to_owned())?;
        let is_own = lower == CONTENT_TYPE || lower.as_str().starts_with("webhook-");
        if is_own || is_connection_header(lower.as_str()) {
            return Err(format!("the header `{lower}` is set by Gatehouse"));
        }
        if value.len() > MAX_CHARACTERS || HeaderValue::from_str(value).is_err() {
            return Err(format!("the value of `{lower}` cannot stand in a header"));
        }
    }
    if headers.is_empty() {
        return Ok(None);
    }
    // Secrets are strings.
    Ok(Some(Value::from(
        Value::Object(headers.clone()).to_string(),
    )))
}
