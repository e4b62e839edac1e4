//! Spans of traces, in the terms of OpenTelemetry: the operations of a request, with their times and outcomes. The
//! current span belongs to the task, so that functions in between need no parameter for it.
//!
//! A [`Tracer`] that is off records and allocates nothing. Spans must contain no text of senders, people or models, no
//! secret, and no public ID of a webhook.

mod context;
mod span;

pub use context::{SpanContext, SpanId, TRACEPARENT, TraceId};
pub use span::{AttributeValue, Span, SpanKind};

use crate::{Clock, Random, Timestamp};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

tokio::task_local! {
    static CURRENT: Option<CurrentSpan>;
}

/// Work with its current span, see [`within`].
pub type Traced<F> = tokio::task::futures::TaskLocalFuture<Option<CurrentSpan>, F>;

/// Dependencies of spans, and the destination of ended ones.
struct Recorder {
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    sink: Box<dyn Fn(Span) + Send + Sync>,
}

/// Records spans, or nothing. Cheap to clone; the default is off.
#[derive(Clone, Default)]
pub struct Tracer(Option<Arc<Recorder>>);

impl fmt::Debug for Tracer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tracer").field(&self.is_on()).finish()
    }
}

impl Tracer {
    /// Calls `sink` with each span that has ended. It must not block.
    pub fn new(
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
        sink: impl Fn(Span) + Send + Sync + 'static,
    ) -> Self {
        Self(Some(Arc::new(Recorder {
            clock,
            random,
            sink: Box::new(sink),
        })))
    }

    pub const fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Begins a span under `parent`; without one, the first span of a new trace.
    pub fn begin(
        &self,
        name: &'static str,
        kind: SpanKind,
        parent: Option<SpanContext>,
    ) -> ActiveSpan {
        let Some(recorder) = &self.0 else {
            return ActiveSpan(None);
        };
        let own = SpanContext {
            trace_id: parent.map_or_else(
                || TraceId(recorder.random.bytes()),
                |parent| parent.trace_id,
            ),
            span_id: SpanId(recorder.random.bytes()),
        };
        ActiveSpan::begin(recorder, name, kind, own, parent.map(|it| it.span_id))
    }

    /// Begins a span whose IDs are known, for spans that other processes refer to.
    pub fn begin_as(
        &self,
        name: &'static str,
        kind: SpanKind,
        own: SpanContext,
        parent: Option<SpanId>,
    ) -> ActiveSpan {
        match &self.0 {
            None => ActiveSpan(None),
            Some(recorder) => ActiveSpan::begin(recorder, name, kind, own, parent),
        }
    }
}

/// A span in which a task works.
#[derive(Clone)]
pub struct CurrentSpan {
    recorder: Arc<Recorder>,
    context: SpanContext,
}

impl fmt::Debug for CurrentSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CurrentSpan").field(&self.context).finish()
    }
}

impl CurrentSpan {
    pub const fn context(&self) -> SpanContext {
        self.context
    }
}

/// Returns the span in which the calling task works.
pub fn current() -> Option<CurrentSpan> {
    CURRENT.try_with(Clone::clone).ok().flatten()
}

/// Runs `work` in a span, for work that another task does.
pub fn within<F: Future>(span: Option<CurrentSpan>, work: F) -> Traced<F> {
    CURRENT.scope(span, work)
}

/// Begins a span under the current one; without one, nothing is recorded.
pub fn child(name: &'static str, kind: SpanKind) -> ActiveSpan {
    let Some(current) = current() else {
        return ActiveSpan(None);
    };
    Tracer(Some(current.recorder)).begin(name, kind, Some(current.context))
}

/// A span that has begun. It ends when it is dropped. All methods do nothing if the span is not recorded.
#[derive(Default)]
#[must_use = "a span ends when it is dropped"]
pub struct ActiveSpan(Option<Box<Open>>);

struct Open {
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
    fn begin(
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

    /// Ends the span with these times.
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

    /// Links a span of another trace.
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
        // The wall clock may have been set back since.
        let took = recorder.clock.monotonic_ms().saturating_sub(begun_ms);
        let took = earlier + Duration::from_millis(took);
        span.ended_at = span.started_at.after(took);
        (recorder.sink)(span);
    }
}

#[cfg(test)]
mod tests;
