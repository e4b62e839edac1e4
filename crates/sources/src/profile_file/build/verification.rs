//! The verification mode of a profile: an existing mode, or one that the file defines.

mod words;

use super::super::check::{
    MAX_LINE, TOLERANCES, at_most, header, leak, leak_all, placeholders, texts,
};
use super::super::raw::{
    RawAlgorithm, RawEncoding, RawKey, RawTimeFormat, RawTimestamp, RawVerify,
};
use super::super::{Mistake, mistake};
use super::MAX_PLACES;
use crate::auth_mode::{AuthMode, Mode};
use crate::verify::scheme::{
    Algorithm, BODY, Encoding, Key, Method, Part, Scheme, Time, TimeFormat,
};
use crate::verify::shell::vendor_header;
use words::words;

type Defined = (AuthMode, Option<&'static Mode>);

pub(super) fn mode(id: &str, name: &str, raw: &RawVerify) -> Result<Defined, Mistake> {
    if let Some(known) = &raw.mode {
        if !raw.headers.is_empty() || raw.algorithm.is_some() || raw.signs.is_some() {
            return mistake("verify.mode", "excludes all other members");
        }
        let found = AuthMode::built_in(known).filter(|mode| mode.needs_secret());
        return match found {
            Some(mode) => Ok((mode, None)),
            None => mistake(
                "verify.mode",
                "expected a mode that verifies, such as `bearer`, `static_header` or `standard_webhooks`",
            ),
        };
    }
    let Some(algorithm) = raw.algorithm else {
        return mistake("verify", "expected `mode`, or `algorithm` and `headers`");
    };
    at_most("verify.headers", &raw.headers, MAX_PLACES)?;
    if raw.headers.is_empty() {
        return mistake("verify", "`headers` is missing");
    }
    let headers = leak_all(texts("verify.headers", &raw.headers, header)?);
    let mode = if algorithm == RawAlgorithm::Token {
        token(id, name, headers, raw)?
    } else {
        signature(id, name, headers, raw, algorithm)?
    };
    let mode: &'static Mode = Box::leak(Box::new(mode));
    Ok((AuthMode::of(mode), Some(mode)))
}

fn token(
    id: &str,
    name: &str,
    headers: &'static [&'static str],
    raw: &RawVerify,
) -> Result<Mode, Mistake> {
    if raw.signs.is_some() || raw.timestamp.is_some() || !raw.id_headers.is_empty() {
        return mistake("verify", "a token signs nothing");
    }
    let shown = vendor_header(headers, None);
    Ok(Mode {
        name: leak(format!("{id}_token")),
        alias: None,
        label: leak(format!("{name} token")),
        description: leak(format!("`{shown}`: the secret itself.")),
        proof: leak(format!(
            "Each request carries the header {shown}: {{secret}}"
        )),
        secret_from_sender: raw.secret_from_sender,
        method: Method::Token(headers),
    })
}

fn signature(
    id: &str,
    name: &str,
    headers: &'static [&'static str],
    raw: &RawVerify,
    algorithm: RawAlgorithm,
) -> Result<Mode, Mistake> {
    let algorithm = match algorithm {
        RawAlgorithm::Sha1 => Algorithm::Sha1,
        RawAlgorithm::Sha512 => Algorithm::Sha512,
        RawAlgorithm::Ed25519 => Algorithm::Ed25519,
        RawAlgorithm::Sha256 | RawAlgorithm::Token => Algorithm::Sha256,
    };
    let is_key_pair = algorithm == Algorithm::Ed25519;
    if raw.prefix.len() > 32 || raw.prefix.chars().any(|letter| !letter.is_ascii_graphic()) {
        return mistake(
            "verify.prefix",
            "expected at most 32 visible ASCII characters",
        );
    }
    let prefix = leak(raw.prefix.clone());
    let tolerance = raw.tolerance_seconds.unwrap_or(BODY.tolerance);
    if !TOLERANCES.contains(&tolerance) {
        return mistake("verify.tolerance_seconds", "expected 1 to 3600");
    }
    at_most("verify.id_headers", &raw.id_headers, MAX_PLACES)?;
    let template = raw.signs.as_deref().unwrap_or("{body}");
    let signed = parts(template, raw)?;
    let (time, time_format) = time(raw)?;
    let scheme = Scheme {
        headers,
        algorithm,
        encoding: match raw.encoding {
            RawEncoding::Hex => Encoding::Hex,
            RawEncoding::Base64 => Encoding::Base64,
        },
        prefixes: if prefix.is_empty() {
            &[]
        } else {
            leak_all(vec![prefix])
        },
        bare: prefix.is_empty(),
        sends: prefix,
        separator: raw.separator,
        key: match (raw.key, is_key_pair) {
            (RawKey::Text, false) => Key::Text,
            (RawKey::Base64, _) => Key::Whsec,
            (RawKey::Hex, _) | (RawKey::Text, true) => Key::Hex,
        },
        signed: leak_all(signed),
        id_headers: leak_all(texts("verify.id_headers", &raw.id_headers, header)?),
        time,
        time_format,
        tolerance,
    };
    let (description, proof) = words(&scheme, template);
    Ok(Mode {
        name: leak(format!("{id}_signature")),
        alias: None,
        label: leak(format!("{name} signature")),
        description: leak(description),
        proof: leak(proof),
        secret_from_sender: raw.secret_from_sender || is_key_pair,
        method: Method::Signature(Box::leak(Box::new(scheme))),
    })
}

/// Parses `signs`.
fn parts(template: &str, raw: &RawVerify) -> Result<Vec<Part>, Mistake> {
    let path = "verify.signs";
    if template.chars().count() > MAX_LINE {
        return mistake(path, format!("expected at most {MAX_LINE} characters"));
    }
    let names = placeholders(path, template)?;
    let has = |name: &str| names.contains(&name);
    if !has("body") {
        return mistake(path, "expected {body}: what is not signed is not verified");
    }
    if has("timestamp") != raw.timestamp.is_some() {
        return mistake(
            path,
            "{timestamp} and the table `timestamp` need each other",
        );
    }
    if has("id") == raw.id_headers.is_empty() {
        return mistake(path, "{id} and `id_headers` need each other");
    }
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        if !before.is_empty() {
            parts.push(Part::Text(leak(before)));
        }
        let (name, after) = after.split_once('}').unwrap_or((after, ""));
        parts.push(match name {
            "body" => Part::Body,
            "timestamp" => Part::Timestamp,
            "id" => Part::Id,
            "url" => Part::Url,
            _ => {
                let message =
                    format!("`{{{name}}}`: expected {{body}}, {{timestamp}}, {{id}} or {{url}}");
                return mistake(path, message);
            }
        });
        rest = after;
    }
    if !rest.is_empty() {
        parts.push(Part::Text(leak(rest)));
    }
    Ok(parts)
}

fn time(raw: &RawVerify) -> Result<(Time, TimeFormat), Mistake> {
    let path = "verify.timestamp";
    let Some(RawTimestamp {
        headers,
        item,
        format,
    }) = &raw.timestamp
    else {
        return Ok((Time::Unsigned, TimeFormat::Seconds));
    };
    at_most("verify.timestamp.headers", headers, MAX_PLACES)?;
    let time = match (&headers[..], item) {
        ([_, ..], None) => {
            let headers = texts("verify.timestamp.headers", headers, header)?;
            Time::Headers(leak_all(headers))
        }
        ([], Some(item)) if !item.is_empty() && raw.separator.is_some() => {
            Time::Item(leak(item.clone()))
        }
        ([], Some(_)) => return mistake(path, "an `item` needs `separator` and a text"),
        _ => return mistake(path, "expected either `headers` or `item`"),
    };
    let format = match format {
        RawTimeFormat::Seconds => TimeFormat::Seconds,
        RawTimeFormat::Milliseconds => TimeFormat::Milliseconds,
        RawTimeFormat::Rfc3339 => TimeFormat::Rfc3339,
    };
    Ok((time, format))
}
