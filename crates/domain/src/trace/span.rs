//! A span that has ended.

use super::{SpanContext, SpanId};
use crate::Timestamp;

/// The longest text of an attribute, in characters.
const MAX_TEXT_CHARS: usize = 256;

/// The role of a span: `SpanKind` of OTLP, with its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// Work within the process.
    Internal = 1,
    /// Answers a request.
    Server = 2,
    /// Makes a request.
    Client = 3,
    /// Works on a message that was queued.
    Consumer = 5,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttributeValue {
    /// At most 256 characters.
    Text(String),
    Number(i64),
}

impl From<&str> for AttributeValue {
    fn from(text: &str) -> Self {
        Self::Text(text.chars().take(MAX_TEXT_CHARS).collect())
    }
}

impl From<i64> for AttributeValue {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<u64> for AttributeValue {
    fn from(number: u64) -> Self {
        Self::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<usize> for AttributeValue {
    fn from(number: usize) -> Self {
        Self::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

/// A span that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    pub context: SpanContext,
    pub parent: Option<SpanId>,
    /// A span of another trace.
    pub link: Option<SpanContext>,
    pub name: &'static str,
    pub kind: SpanKind,
    pub started_at: Timestamp,
    /// Never before the start.
    pub ended_at: Timestamp,
    pub attributes: Vec<(&'static str, AttributeValue)>,
    /// Why the work failed, as one word.
    pub error: Option<&'static str>,
}
