//! Ended spans that wait for the collector.

use gatehouse_domain::trace::Span;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The maximum number of waiting spans. The oldest are dropped first.
const MAX_WAITING: usize = 4096;
/// The maximum number of spans in a request.
pub(super) const BATCH: usize = 512;

#[derive(Debug, Default)]
pub(super) struct SpanQueue {
    spans: Mutex<VecDeque<Span>>,
    /// Notified when a whole batch waits.
    pub(super) has_batch: Notify,
}

impl SpanQueue {
    fn lock(&self) -> MutexGuard<'_, VecDeque<Span>> {
        self.spans.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn push(&self, span: Span) {
        let mut spans = self.lock();
        let is_full = spans.len() >= MAX_WAITING;
        if is_full {
            spans.pop_front();
        }
        spans.push_back(span);
        let has_batch = spans.len() >= BATCH;
        drop(spans);
        if is_full {
            count_dropped(1, "queue_full");
        }
        if has_batch {
            self.has_batch.notify_one();
        }
    }

    /// Takes the oldest spans.
    pub(super) fn take(&self) -> Vec<Span> {
        let mut spans = self.lock();
        let count = spans.len().min(BATCH);
        spans.drain(..count).collect()
    }
}

/// Counts spans that are not sent.
pub(super) fn count_dropped(count: u64, reason: &'static str) {
    metrics::counter!("telemetry_spans_dropped_total", "reason" => reason).increment(count);
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_domain::Timestamp;
    use gatehouse_domain::trace::{SpanContext, SpanKind};

    #[test]
    fn a_full_queue_drops_the_oldest_spans() {
        let queue = SpanQueue::default();
        for number in 0..=MAX_WAITING {
            queue.push(Span {
                context: SpanContext::derived_from(&number.to_string()),
                parent: None,
                link: None,
                name: "work",
                kind: SpanKind::Internal,
                started_at: Timestamp::from_millis(0),
                ended_at: Timestamp::from_millis(0),
                attributes: Vec::new(),
                error: None,
            });
        }
        let first = queue.take();
        assert_eq!(first.len(), BATCH);
        assert_eq!(first[0].context, SpanContext::derived_from("1"));
        let rest = std::iter::repeat_with(|| queue.take().len()).take_while(|count| *count > 0);
        assert_eq!(rest.sum::<usize>() + BATCH, MAX_WAITING);
    }
}
