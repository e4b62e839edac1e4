//! The spans of deliveries. The IDs of a delivery's first span derive from the delivery's ID, so that attempts
//! after a restart and on other nodes belong to the same trace.
//!
//! A webhook that verifies its sender continues the sender's trace: `traceparent` is recorded with the headers. A
//! webhook that does not verify its sender starts its own trace with a link to the sender's trace, because an
//! unauthenticated caller must not add spans to other traces.

use crate::handle::Inner;
use crate::ingest::outcome::{IngestError, Ingested};
use crate::live::LiveWebhook;
use crate::metrics::event_label;
use crate::run::outcome::{Outcome, Trace};
use gatehouse_domain::trace::{ActiveSpan, SpanContext, SpanKind, TRACEPARENT};
use gatehouse_domain::{DeliveryId, Timestamp};
use gatehouse_store::DeliveryRow;
use http::HeaderMap;
use std::collections::BTreeMap;

/// Returns the sender's span. Returns `None` for a request with several or invalid `traceparent` headers (W3C Trace
/// Context, section 3.2.1).
pub(crate) fn sender_of(headers: &HeaderMap) -> Option<SpanContext> {
    let mut values = headers.get_all(TRACEPARENT).iter();
    let (only, more) = (values.next()?, values.next());
    more.is_none()
        .then(|| SpanContext::parse(only.to_str().ok()?))?
}

/// Returns the sender's `traceparent`, if its trace is continued.
pub(crate) fn recorded(webhook: &LiveWebhook, headers: &HeaderMap) -> Option<(String, String)> {
    if !webhook.auth.mode.needs_secret() {
        return None;
    }
    sender_of(headers)?;
    let text = headers.get(TRACEPARENT)?.to_str().ok()?;
    Some((TRACEPARENT.to_owned(), text.to_owned()))
}

/// Returns the first span of a delivery. `sender` is the span that it continues.
fn first_span(id: &DeliveryId, sender: Option<SpanContext>) -> SpanContext {
    let own = SpanContext::derived_from(id.as_str());
    SpanContext {
        trace_id: sender.map_or(own.trace_id, |sender| sender.trace_id),
        ..own
    }
}

/// Returns the sender's span from the recorded headers.
fn recorded_sender(row: &DeliveryRow) -> Option<SpanContext> {
    let headers: BTreeMap<String, String> = serde_json::from_str(&row.headers).ok()?;
    SpanContext::parse(headers.get(TRACEPARENT)?)
}

/// When the verification of the request started and ended.
pub(crate) type VerifiedAt = Option<(Timestamp, Timestamp)>;

/// Records that a request was accepted, filtered or recognized as a duplicate.
pub(crate) fn received(
    inner: &Inner,
    webhook: &LiveWebhook,
    headers: &HeaderMap,
    (received_at, verified_at): (Timestamp, VerifiedAt),
    outcome: &Result<Ingested, IngestError>,
) {
    let (id, outcome) = match outcome.as_ref().map(Ingested::without_reply) {
        Ok(Ingested::Accepted(id)) => (id, "accepted"),
        Ok(Ingested::Filtered(id)) => (id, "filtered"),
        Ok(Ingested::Deduplicated(id)) => (id, "duplicate"),
        Ok(Ingested::Handshake(_) | Ingested::Answered(..)) | Err(_) => return,
    };
    let sender = sender_of(headers);
    let continued = sender.filter(|_| webhook.auth.mode.needs_secret());
    let (name, kind) = ("webhook.receive", SpanKind::Server);
    let own = first_span(id, continued);
    let is_duplicate = outcome == "duplicate";
    let mut span = if is_duplicate {
        inner.tracer.begin(name, kind, continued)
    } else {
        let parent = continued.map(|sender| sender.span_id);
        inner.tracer.begin_as(name, kind, own, parent)
    };
    span.started_at(received_at);
    if is_duplicate {
        // The first delivery may belong to a different trace, so only its ID connects the two.
        span.set("gatehouse.delivery.duplicate_of", id.as_str());
    } else {
        span.set("gatehouse.delivery.id", id.as_str());
        span.link(sender.filter(|_| continued.is_none()));
    }
    span.set("gatehouse.webhook.id", webhook.id.as_str());
    span.set("gatehouse.webhook.profile", webhook.profile.name);
    span.set("gatehouse.delivery.outcome", outcome);
    if let Some((began, ended)) = verified_at {
        let parent = span.context();
        let verify = inner
            .tracer
            .begin("webhook.verify", SpanKind::Internal, parent);
        verify.lasted(began, ended);
    }
}

/// Records a delivery that the gateway created: a replay or a run of a schedule.
pub(crate) fn made(inner: &Inner, row: &DeliveryRow) {
    if !inner.tracer.is_on() {
        return;
    }
    let sender = recorded_sender(row);
    let mut span = inner.tracer.begin_as(
        "webhook.make",
        SpanKind::Internal,
        first_span(&row.id, sender),
        sender.map(|sender| sender.span_id),
    );
    span.started_at(row.received_at);
    set_ids(&mut span, row);
    if let Some(original) = &row.replay_of {
        span.set("gatehouse.delivery.replay_of", original.as_str());
        span.link(Some(first_span(original, sender)));
    }
}

fn set_ids(span: &mut ActiveSpan, row: &DeliveryRow) {
    span.set("gatehouse.delivery.id", row.id.as_str());
    span.set("gatehouse.webhook.id", row.webhook_id.as_str());
    let event = event_label(row.event_type.as_deref());
    span.set("gatehouse.event_type", event);
}

/// Begins the span of an attempt. The first attempt also records how long the delivery waited.
pub(crate) fn attempt(inner: &Inner, row: &DeliveryRow) -> ActiveSpan {
    if !inner.tracer.is_on() {
        return ActiveSpan::default();
    }
    let first = first_span(&row.id, recorded_sender(row));
    // The attempt that sends an agent's answer has the same number as the attempt of the agent's turn.
    let is_first = row.attempts <= 1 && row.session_id.is_none();
    if is_first {
        let mut queue = inner
            .tracer
            .begin("webhook.queue", SpanKind::Internal, Some(first));
        queue.started_at(row.received_at);
        set_ids(&mut queue, row);
    }
    let mut span = inner
        .tracer
        .begin("webhook.attempt", SpanKind::Consumer, Some(first));
    set_ids(&mut span, row);
    span.set("gatehouse.delivery.attempt", row.attempts);
    span
}

/// Ends the span of an attempt.
pub(crate) fn ended(mut span: ActiveSpan, outcome: &Outcome) {
    let (word, is_failure) = match outcome {
        Outcome::Completed(Trace {
            is_delivered: true, ..
        }) => ("sent", false),
        Outcome::Completed(_) => ("completed", false),
        Outcome::Answered { .. } => ("answered", false),
        Outcome::Failed(..) => ("failed", true),
        Outcome::Retry(..) => ("retry", true),
        Outcome::Wait(..) => ("provider_busy", true),
        Outcome::Unreachable(_) => ("unreachable", true),
        Outcome::Disabled(_) => ("channel_disabled", true),
        Outcome::Sealed(_) => ("vault_sealed", true),
        Outcome::Exhausted(..) => ("budget_exhausted", true),
        Outcome::WithoutLease => ("without_lease", true),
        Outcome::Interrupted { .. } => ("interrupted", true),
    };
    span.set("gatehouse.attempt.outcome", word);
    if is_failure {
        span.fail(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn a_request_has_one_sender_or_none() {
        const SENDER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
        let mut headers = HeaderMap::new();
        assert_eq!(sender_of(&headers), None);
        headers.append(TRACEPARENT, HeaderValue::from_static(SENDER));
        assert_eq!(sender_of(&headers), SpanContext::parse(SENDER));
        headers.append(TRACEPARENT, HeaderValue::from_static(SENDER));
        assert_eq!(sender_of(&headers), None);
    }
}
