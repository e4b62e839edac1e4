//! The members of a profile's file, as written. `build` checks them.

use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Raw {
    pub id: String,
    pub name: String,
    pub about: String,
    #[serde(default)]
    pub body: RawBody,
    pub guide: Option<String>,
    pub verify: RawVerify,
    #[serde(default)]
    pub event: RawEvent,
    #[serde(default)]
    pub delivery: RawDelivery,
    #[serde(default)]
    pub entities: Vec<RawEntity>,
    /// Pairs of name and description.
    #[serde(default)]
    pub events: Vec<(String, String)>,
    #[serde(default)]
    pub more_events: Vec<(String, String)>,
    #[serde(default)]
    pub test_events: Vec<String>,
    pub handshake: Option<RawHandshake>,
    #[serde(default)]
    pub replies: Vec<RawReply>,
    #[serde(default)]
    pub summary: RawSummary,
    pub sample: Option<Value>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RawBody {
    #[default]
    Json,
    JsonOrFormPayload,
    Form,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawVerify {
    /// An existing mode. Excludes all other members.
    pub mode: Option<String>,
    #[serde(default)]
    pub headers: Vec<String>,
    pub algorithm: Option<RawAlgorithm>,
    #[serde(default)]
    pub encoding: RawEncoding,
    #[serde(default)]
    pub prefix: String,
    pub separator: Option<char>,
    #[serde(default)]
    pub key: RawKey,
    pub signs: Option<String>,
    #[serde(default)]
    pub id_headers: Vec<String>,
    pub timestamp: Option<RawTimestamp>,
    pub tolerance_seconds: Option<i64>,
    #[serde(default)]
    pub secret_from_sender: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(super) enum RawAlgorithm {
    #[serde(rename = "hmac-sha256")]
    Sha256,
    #[serde(rename = "hmac-sha1")]
    Sha1,
    #[serde(rename = "hmac-sha512")]
    Sha512,
    #[serde(rename = "ed25519")]
    Ed25519,
    /// The header contains the secret itself.
    #[serde(rename = "token")]
    Token,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RawEncoding {
    #[default]
    Hex,
    Base64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RawKey {
    #[default]
    Text,
    Hex,
    Base64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTimestamp {
    #[serde(default)]
    pub headers: Vec<String>,
    /// The prefix of an item of the signature header.
    pub item: Option<String>,
    #[serde(default)]
    pub format: RawTimeFormat,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RawTimeFormat {
    #[default]
    Seconds,
    Milliseconds,
    Rfc3339,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawEvent {
    #[serde(default)]
    pub headers: Vec<String>,
    #[serde(default)]
    pub body: Vec<String>,
    /// Paths. The first one with text is appended after a dot.
    #[serde(default)]
    pub detail: Vec<String>,
    /// Pairs of the sender's name and ours.
    #[serde(default)]
    pub names: Vec<(String, String)>,
    #[serde(default)]
    pub notices: Vec<RawNotice>,
}

/// A message about the subscription.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawNotice {
    pub header: Option<String>,
    pub body: Option<String>,
    pub is: String,
    pub event: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawDelivery {
    #[serde(default)]
    pub headers: Vec<String>,
    #[serde(default)]
    pub body: Vec<String>,
    #[serde(default)]
    pub body_hash: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawEntity {
    /// An event type or a family of event types.
    pub event: Option<String>,
    pub key: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawHandshake {
    /// `hub`: a GET request with `hub.challenge`. Excludes all other members.
    pub get: Option<String>,
    pub header: Option<String>,
    pub body: Option<String>,
    pub is: Option<String>,
    pub text: Option<String>,
    pub json: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawReply {
    pub event: String,
    pub json: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSummary {
    #[serde(default)]
    pub titles: Vec<String>,
    /// Pairs of event type and sentence.
    #[serde(default)]
    pub sentences: Vec<(String, String)>,
    #[serde(default)]
    pub fields: Vec<RawField>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawField {
    pub label: String,
    #[serde(default)]
    pub line: Vec<String>,
    pub text: Option<String>,
    #[serde(default)]
    pub block: Vec<String>,
    pub list: Option<String>,
    /// The member of each element of `list`.
    #[serde(default)]
    pub of: String,
}
