//! A span that is open.

use super::{
    AttributeValue, CurrentSpan, Recorder, Span, SpanContext, SpanId, SpanKind, Traced, within,
};
use crate::Timestamp;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A span that has begun. It ends when it is dropped. All methods do nothing if the span is not recorded.
#[derive(Default)]
#[must_use = "a span ends when it is dropped"]
pub struct ActiveSpan(pub(super) Option<Box<Open>>);

pub(super) struct Open {
    recorder: Arc<Recorder>,
    span: Span,
    begun_ms: u64,
    /// How long before `begun_ms` the span started.
    earlier: Duration,
}

impl fmt::Debug for ActiveSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let span = self.0.as_ref().map(|open| &open.span);
        f.debug_tuple("ActiveSpan").field(&span).finish()
    }
}

impl ActiveSpan {
    pub(super) fn begin(
        recorder: &Arc<Recorder>,
        name: &'static str,
        kind: SpanKind,
        own: SpanContext,
        parent: Option<SpanId>,
    ) -> Self {
        let now = recorder.clock.now();
        Self(Some(Box::new(Open {
            begun_ms: recorder.clock.monotonic_ms(),
            earlier: Duration::ZERO,
            recorder: Arc::clone(recorder),
            span: Span {
                context: own,
                parent,
                link: None,
                name,
                kind,
                started_at: now,
                ended_at: now,
                attributes: Vec::new(),
                error: None,
            },
        })))
    }

    pub const fn is_recorded(&self) -> bool {
        self.0.is_some()
    }

    /// Sets the start to an earlier time.
    pub fn started_at(&mut self, at: Timestamp) {
        if let Some(open) = &mut self.0 {
            open.earlier += at.until(open.span.started_at);
            open.span.started_at = at.min(open.span.started_at);
        }
    }

    /// Ends the span with these start and end times.
    pub fn lasted(mut self, from: Timestamp, until: Timestamp) {
        if let Some(open) = self.0.take() {
            (open.recorder.sink)(Span {
                started_at: from,
                ended_at: until.max(from),
                ..open.span
            });
        }
    }

    pub fn context(&self) -> Option<SpanContext> {
        self.0.as_ref().map(|open| open.span.context)
    }

    /// Adds an attribute.
    pub fn set(&mut self, key: &'static str, value: impl Into<AttributeValue>) {
        if let Some(open) = &mut self.0 {
            open.span.attributes.push((key, value.into()));
        }
    }

    /// Links this span to a span of another trace.
    pub fn link(&mut self, other: Option<SpanContext>) {
        if let Some(open) = &mut self.0 {
            open.span.link = other;
        }
    }

    /// Marks the span as failed. `reason` is one of a few words.
    pub fn fail(&mut self, reason: &'static str) {
        if let Some(open) = &mut self.0 {
            open.span.error = Some(reason);
        }
    }

    /// Runs `work` in this span.
    pub fn run<F: Future>(&self, work: F) -> Traced<F> {
        let current = self.0.as_ref().map(|open| CurrentSpan {
            recorder: Arc::clone(&open.recorder),
            context: open.span.context,
        });
        within(current, work)
    }
}

impl Drop for ActiveSpan {
    fn drop(&mut self) {
        let Some(open) = self.0.take() else { return };
        let Open {
            recorder,
            mut span,
            begun_ms,
            earlier,
        } = *open;
        // The duration is monotonic, because the wall clock may have been set back in the meantime.
        let took = recorder.clock.monotonic_ms().saturating_sub(begun_ms);
        let took = earlier + Duration::from_millis(took);
        span.ended_at = span.started_at.after(took);
        (recorder.sink)(span);
    }
}
