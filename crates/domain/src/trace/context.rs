//! The IDs of traces and spans, and the header `traceparent` (W3C Trace Context).

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use std::fmt;

/// The header with the sender's span (W3C Trace Context, section 3.2).
pub const TRACEPARENT: &str = "traceparent";
/// The number of characters of version, trace ID, span ID, flags and three hyphens.
const TRACEPARENT_CHARS: usize = 55;

/// The ID of a trace; shown in hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TraceId(pub [u8; 16]);

/// The ID of a span; shown in hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SpanId(pub [u8; 8]);

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&HEXLOWER.encode(&self.0))
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&HEXLOWER.encode(&self.0))
    }
}

/// A span and its trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SpanContext {
    pub trace_id: TraceId,
    pub span_id: SpanId,
}

impl SpanContext {
    /// Returns the IDs that derive from the ID of a record. They are the same in each process and after each start.
    pub fn derived_from(id: &str) -> Self {
        let digest = Sha256::digest(format!("gatehouse trace {id}"));
        let (mut trace_id, mut span_id) = ([0; 16], [0; 8]);
        let (first, rest) = digest.split_at(trace_id.len());
        trace_id.copy_from_slice(first);
        let (second, _) = rest.split_at(span_id.len());
        span_id.copy_from_slice(second);
        Self {
            trace_id: TraceId(trace_id),
            span_id: SpanId(span_id),
        }
    }

    /// Parses `traceparent`: version, trace ID, span ID and flags in lower-case hexadecimal. IDs that are all zeros and
    /// the version `ff` are invalid. A later version may have more fields.
    pub fn parse(text: &str) -> Option<Self> {
        let (known, more) = text.split_at_checked(TRACEPARENT_CHARS)?;
        let mut parts = known.split('-');
        let mut part = || HEXLOWER.decode(parts.next()?.as_bytes()).ok();
        let (version, trace_id, span_id, flags) = (part()?, part()?, part()?, part()?);
        let is_set = |id: &[u8]| id.iter().any(|byte| *byte != 0);
        let is_whole = match version.as_slice() {
            [0] => more.is_empty(),
            [0xff] => false,
            [_] => more.is_empty() || more.starts_with('-'),
            _ => false,
        };
        let is_valid = is_whole && flags.len() == 1 && is_set(&trace_id) && is_set(&span_id);
        is_valid.then_some(Self {
            trace_id: TraceId(trace_id.try_into().ok()?),
            span_id: SpanId(span_id.try_into().ok()?),
        })
    }
}
