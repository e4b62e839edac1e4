//! Responses to requests that only verify the endpoint.

use super::is_met;
use crate::auth_mode::AuthMode;
use crate::payload::Payload;
use crate::profile::{Echo, Handshake, Profile};
use crate::verify::{VerifyError, hmac_hex, hmac_sha256_hex};
use http::HeaderMap;
use serde_json::Value;
use subtle::ConstantTimeEq as _;

/// Maximum length of an echoed value, in characters.
pub(super) const MAX_ECHO_CHARS: usize = 2_000;
/// The start of a placeholder for an HMAC.
pub(crate) const HMAC: &str = "hmac:";
/// The length of a verify token, in hex digits: 128 bits.
const TOKEN_DIGITS: usize = 32;

/// A verified request that may be a handshake.
#[derive(Clone, Copy)]
pub struct HandshakeInput<'a> {
    pub profile: &'a Profile,
    pub mode: AuthMode,
    pub headers: &'a HeaderMap,
    pub payload: &'a Payload,
    /// The secret that verified the request.
    pub secret: Option<&'a str>,
}

/// The response to a handshake.
#[derive(Clone, Debug, PartialEq)]
pub enum HandshakeReply {
    Json(Value),
    /// Plain text without control characters.
    Text(String),
}

/// Returns whether a request only verifies the endpoint, assuming that it comes from the vendor.
pub fn is_handshake(profile: &Profile, headers: &HeaderMap, payload: &Payload) -> bool {
    match &profile.handshake {
        Some(Handshake::Verified { when, .. }) => is_met(*when, headers, payload.root()),
        Some(Handshake::Hub) | None => false,
    }
}

/// Returns the response to a request that only verifies the endpoint. Call it after verification.
pub fn handshake(input: &HandshakeInput<'_>) -> Option<HandshakeReply> {
    let Handshake::Verified { answer, .. } = input.profile.handshake.as_ref()? else {
        return None;
    };
    if !is_handshake(input.profile, input.headers, input.payload) {
        return None;
    }
    match answer {
        Echo::Text(template) => input.fill(template).map(HandshakeReply::Text),
        Echo::Json(template) => {
            let template: Value = serde_json::from_str(template).ok()?;
            input.fill_json(&template).map(HandshakeReply::Json)
        }
    }
}

impl HandshakeInput<'_> {
    fn fill_json(&self, template: &Value) -> Option<Value> {
        Some(match template {
            Value::String(text) => Value::String(self.fill(text)?),
            Value::Array(items) => items
                .iter()
                .map(|item| self.fill_json(item))
                .collect::<Option<_>>()?,
            Value::Object(members) => {
                let filled = members
                    .iter()
                    .map(|(name, member)| Some((name.clone(), self.fill_json(member)?)));
                Value::Object(filled.collect::<Option<_>>()?)
            }
            other => other.clone(),
        })
    }

    /// Replaces the placeholders. Returns `None` if one has no value.
    fn fill(&self, template: &str) -> Option<String> {
        let mut filled = String::new();
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}')?;
            filled.push_str(before);
            match name.strip_prefix(HMAC) {
                Some(path) => {
                    let text = self.text(path)?;
                    filled.push_str(&hmac_hex(self.mode, self.secret?, text.as_bytes())?);
                }
                None => filled.push_str(&self.text(name)?),
            }
            rest = after;
        }
        filled.push_str(rest);
        Some(filled)
    }

    fn text(&self, path: &str) -> Option<String> {
        let text = self.payload.string(path)?;
        let is_short = text.chars().count() <= MAX_ECHO_CHARS;
        (is_short && !text.chars().any(char::is_control)).then(|| text.into_owned())
    }
}

/// The query of a hub's request.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct HubRequest {
    /// `hub.mode`
    pub mode: Option<String>,
    /// `hub.verify_token`
    pub token: Option<String>,
    /// `hub.challenge`
    pub challenge: Option<String>,
}

/// Omits the token.
impl std::fmt::Debug for HubRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HubRequest").finish_non_exhaustive()
    }
}

impl HubRequest {
    /// Parses the query of a URL. If a name is repeated, its last value is used.
    pub fn parse(query: &str) -> Self {
        let mut request = Self::default();
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            let place = match &*name {
                "hub.mode" => &mut request.mode,
                "hub.verify_token" => &mut request.token,
                "hub.challenge" => &mut request.challenge,
                _ => continue,
            };
            *place = Some(value.into_owned());
        }
        request
    }
}

/// Returns the verify token, which proves to the gateway that the webhook's owner entered the URL at the hub. The
/// token is derived from the secret, so it can be shown. It is different for each webhook.
pub fn verify_token(secret: &str, public_id: &str) -> String {
    let subject = format!("gatehouse verify token\n{public_id}");
    let mut token = hmac_sha256_hex(secret.as_bytes(), subject.as_bytes());
    token.truncate(TOKEN_DIGITS);
    token
}

/// Returns the challenge if the token matches one of the secrets.
pub fn answer_hub(
    request: &HubRequest,
    secrets: &[&str],
    public_id: &str,
) -> Result<String, VerifyError> {
    let token = request.token.as_deref().ok_or(VerifyError::Missing)?;
    if secrets.is_empty() {
        return Err(VerifyError::NoSecret);
    }
    let mut is_right = subtle::Choice::from(0);
    for secret in secrets {
        is_right |= verify_token(secret, public_id)
            .as_bytes()
            .ct_eq(token.as_bytes());
    }
    if !bool::from(is_right) {
        return Err(VerifyError::Wrong);
    }
    let challenge = request.challenge.as_deref().unwrap_or_default();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    if request.mode.as_deref() != Some("subscribe")
        || !(1..=MAX_ECHO_CHARS).contains(&challenge.len())
        || !challenge.bytes().all(is_plain)
    {
        return Err(VerifyError::Malformed);
    }
    Ok(challenge.to_owned())
}

#[cfg(test)]
mod tests;
