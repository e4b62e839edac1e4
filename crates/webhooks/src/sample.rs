//! Test deliveries: what a vendor would send, with made-up names. Owns their content; must not know how
//! they are signed or sent.

pub(crate) mod alerts;
pub(crate) mod codehost_a;
pub(crate) mod codehost_b;
pub(crate) mod payments;
pub(crate) mod shop;
pub(crate) mod talk;
pub(crate) mod trackers;

use serde_json::{Value, json};

use crate::payload::BodyKind;
use crate::profile::{KeySource, Profile};

/// What a profile's samples are made of.
#[derive(Clone, Copy, Debug)]
pub enum SampleKind {
    /// A small object that is nobody's.
    Generic,
    /// JSON.
    Json(fn(&SampleInput<'_>) -> Value),
    /// The fields of a form, as an object of strings.
    Form(fn(&SampleInput<'_>) -> Value),
}

/// What a sample is to be like.
#[derive(Clone, Copy, Debug)]
pub struct SampleInput<'a> {
    /// The event type; any text, as filters take it.
    pub event: &'a str,
    /// Makes this delivery differ from every other.
    pub id: &'a str,
    /// Milliseconds since 1970; some vendors write the time into the body.
    pub now_ms: i64,
}

/// A delivery as a vendor would send it, before it is signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// As the profile will read it.
    pub event_type: Option<String>,
    /// Event type, delivery id, content type; names in lower case.
    pub headers: Vec<(String, String)>,
    /// The bytes to send.
    pub body: Vec<u8>,
}
