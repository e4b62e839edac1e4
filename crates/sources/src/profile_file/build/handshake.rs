//! Handshakes and their replies.

use super::EITHER;
use crate::auth_mode::AuthMode;
use crate::event::HMAC;
use crate::profile::{Echo, Handshake, Reply, When};
use crate::profile_file::check::{self, body_path, leak, line, placeholders};
use crate::profile_file::raw::{RawHandshake, RawReply};
use crate::profile_file::{Mistake, mistake};
use crate::verify::scheme::Method;
use serde_json::Value;

pub(super) fn handshake(mode: AuthMode, raw: &RawHandshake) -> Result<Handshake, Mistake> {
    let path = "handshake";
    let is_signed = matches!(mode.method(), Method::Signature(_));
    if let Some(get) = &raw.get {
        let others = raw.header.is_some()
            || raw.body.is_some()
            || raw.is.is_some()
            || raw.text.is_some()
            || raw.json.is_some();
        if get != "hub" || others {
            return mistake("handshake.get", "expected `hub` and no other member");
        }
        if !mode.needs_secret() {
            return mistake("handshake.get", "needs a mode with a secret");
        }
        return Ok(Handshake::Hub);
    }
    let Some(is) = &raw.is else {
        return mistake(path, "`is` is missing");
    };
    let is = line("handshake.is", is)?;
    let when = match (&raw.header, &raw.body) {
        (Some(header), None) => When::Header(check::header("handshake.header", header)?, is),
        (None, Some(body)) => When::Body(body_path("handshake.body", body)?, is),
        _ => return mistake(path, EITHER),
    };
    let answer = match (&raw.text, &raw.json) {
        (Some(text), None) => Echo::Text(line("handshake.text", text)?),
        (None, Some(json @ Value::Object(_))) => Echo::Json(leak(json.to_string())),
        _ => return mistake(path, "expected either `text` or a table `json`"),
    };
    let mut texts = Vec::new();
    match &raw.json {
        Some(json) => strings(json, &mut texts),
        None => texts.extend(raw.text.as_deref()),
    }
    for text in texts {
        for name in placeholders(path, text)? {
            if name.starts_with(HMAC) && !(is_signed && mode.can_sign()) {
                return mistake(path, format!("`{{{name}}}` needs a mode with an HMAC"));
            }
        }
    }
    Ok(Handshake::Verified { when, answer })
}

/// Adds all strings in a value to `found`.
fn strings<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        Value::Object(members) => members.values().for_each(|member| strings(member, found)),
        _ => {}
    }
}

pub(super) fn reply(path: &str, raw: &RawReply) -> Result<Reply, Mistake> {
    if !raw.json.is_object() {
        return mistake(format!("{path}.json"), "expected a table");
    }
    Ok(Reply {
        event: line(&format!("{path}.event"), &raw.event)?,
        json: leak(raw.json.to_string()),
    })
}
