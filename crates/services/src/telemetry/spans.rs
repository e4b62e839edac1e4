//! The spans of a delivery: one when it was accepted, one for each attempt. All ids are derived from the delivery's
//! id, so spans of other nodes and of later starts belong to the same trace.

use gatehouse_domain::{DeliveryId, DeliveryStatus, Timestamp};
use gatehouse_webhooks::{Delivery, ResponseAction};
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// The most attempts that are remembered at once.
const MAX_RUNNING: usize = 10_000;
/// The header of the sender's trace (W3C Trace Context).
const TRACEPARENT: &str = "traceparent";

/// `SpanKind` of OTLP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpanKind {
    Internal = 1,
    Server = 2,
    Client = 3,
}

/// A span of another trace, in lower-case hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) trace_id: String,
    pub(super) span_id: String,
}

/// A finished span.
#[derive(Clone, Debug)]
pub(super) struct Span {
    pub(super) trace_id: String,
    pub(super) span_id: String,
    pub(super) parent: Option<String>,
    pub(super) name: &'static str,
    pub(super) kind: SpanKind,
    pub(super) started_at: Timestamp,
    pub(super) ended_at: Timestamp,
    pub(super) texts: Vec<(&'static str, String)>,
    pub(super) numbers: Vec<(&'static str, i64)>,
    pub(super) tool_calls: Vec<ResponseAction>,
    pub(super) link: Option<Link>,
    /// Why it failed.
    pub(super) error: Option<String>,
}

/// What is known of deliveries that are being worked on.
#[derive(Debug, Default)]
pub(super) struct Spans {
    /// When the running attempt of each delivery began, and whether it is a send.
    running: HashMap<DeliveryId, (Timestamp, bool)>,
}

fn hash(parts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part.as_bytes());
        hasher.update([0]);
    }
    let digest = hasher.finalize();
    digest
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect::<Vec<_>>()
        .concat()
}

fn id(length: usize, parts: &[&str]) -> String {
    let mut id = hash(parts);
    id.truncate(length);
    id
}

impl Spans {
    /// Returns the spans that ended with a change of a delivery.
    pub(super) fn of(&mut self, delivery: &Delivery, now: Timestamp) -> Option<Span> {
        let is_send = delivery
            .target
            .as_deref()
            .is_some_and(|target| !target.is_empty());
        if delivery.status == DeliveryStatus::Processing {
            if self.running.len() < MAX_RUNNING {
                let began = delivery.started_at.unwrap_or(now);
                self.running.insert(delivery.id.clone(), (began, is_send));
            }
            return None;
        }
        match self.running.remove(&delivery.id) {
            Some((began, was_send)) => Some(attempt(delivery, began, was_send, now)),
            None if delivery.attempts == 0 && delivery.started_at.is_none() => {
                Some(accepted(delivery, now))
            }
            None => None,
        }
    }
}

fn base(delivery: &Delivery, name: &'static str, kind: SpanKind) -> Span {
    let id_text = delivery.id.as_str();
    let mut texts = vec![
        ("gatehouse.delivery.id", id_text.to_owned()),
        (
            "gatehouse.webhook.id",
            delivery.webhook_id.as_str().to_owned(),
        ),
        (
            "gatehouse.delivery.status",
            delivery.status.as_str().to_owned(),
        ),
    ];
    texts.extend(
        delivery
            .event_type
            .clone()
            .map(|event| ("gatehouse.event_type", event)),
    );
    Span {
        trace_id: id(32, &["trace", id_text]),
        span_id: id(16, &["span", id_text, "accepted"]),
        parent: None,
        name,
        kind,
        started_at: delivery.received_at,
        ended_at: delivery.received_at,
        texts,
        numbers: Vec::new(),
        tool_calls: Vec::new(),
        link: None,
        error: None,
    }
}

fn accepted(delivery: &Delivery, now: Timestamp) -> Span {
    let header = delivery.headers.get(TRACEPARENT);
    let is_refused = delivery.status == DeliveryStatus::Rejected;
    Span {
        ended_at: now.max(delivery.received_at),
        numbers: vec![("gatehouse.body_size", delivery.body_size)],
        link: header.and_then(|text| parse_traceparent(text)),
        error: delivery.error.clone().filter(|_| is_refused),
        ..base(delivery, "webhook.receive", SpanKind::Server)
    }
}

fn attempt(delivery: &Delivery, began: Timestamp, is_send: bool, now: Timestamp) -> Span {
    let (name, kind) = if is_send {
        ("channel.send", SpanKind::Client)
    } else {
        ("agent.turn", SpanKind::Internal)
    };
    let base = base(delivery, name, kind);
    let began_text = began.as_millis().to_string();
    let ended_at = delivery.finished_at.unwrap_or(now).max(began);
    let is_failed = delivery.status == DeliveryStatus::Failed;
    let is_repeated = delivery.status == DeliveryStatus::Queued && delivery.error.is_some();
    let mut numbers = vec![("gatehouse.attempt", delivery.attempts)];
    let mut texts = base.texts;
    if is_send {
        let channel = delivery.target.as_deref().unwrap_or_default();
        let channel = channel.split(':').next().unwrap_or_default();
        texts.push(("gatehouse.channel.type", channel.to_owned()));
    } else {
        let tokens = [
            ("gen_ai.usage.input_tokens", delivery.input_tokens),
            ("gen_ai.usage.output_tokens", delivery.output_tokens),
        ];
        numbers.extend(
            tokens
                .into_iter()
                .filter_map(|(name, count)| Some((name, count?))),
        );
    }
    let is_ours = |action: &&ResponseAction| action.at >= began && action.at <= ended_at;
    Span {
        span_id: id(16, &["span", delivery.id.as_str(), &began_text]),
        parent: Some(base.span_id),
        started_at: began,
        ended_at,
        numbers,
        texts,
        tool_calls: delivery
            .response_actions
            .iter()
            .filter(is_ours)
            .cloned()
            .collect(),
        error: delivery.error.clone().filter(|_| is_failed || is_repeated),
        ..base
    }
}

/// Reads `traceparent` (W3C Trace Context, section 3.2): version, trace id, parent id, flags. Not all zeros.
fn parse_traceparent(text: &str) -> Option<Link> {
    let mut parts = text.trim().split('-');
    let (version, trace_id, span_id, flags) =
        (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let is_hex = |text: &str, length: usize| {
        text.len() == length
            && text
                .bytes()
                .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    };
    let is_set = |text: &str| text.bytes().any(|b| b != b'0');
    let is_right = is_hex(version, 2)
        && version != "ff"
        && (version != "00" || parts.next().is_none())
        && is_hex(trace_id, 32)
        && is_set(trace_id)
        && is_hex(span_id, 16)
        && is_set(span_id)
        && is_hex(flags, 2);
    is_right.then(|| Link {
        trace_id: trace_id.to_owned(),
        span_id: span_id.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_traceparent_is_read_strictly() {
        let right = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let link = parse_traceparent(right).unwrap();
        assert_eq!(link.trace_id, "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(link.span_id, "00f067aa0ba902b7");
        assert!(
            parse_traceparent(&right.replace("00-4", "01-4").replace("-01", "-01-more")).is_some()
        );
        for text in [
            "",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
        ] {
            assert_eq!(parse_traceparent(text), None, "{text}");
        }
    }
}
