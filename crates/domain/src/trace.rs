//! Spans of traces, in the terms of OpenTelemetry: the operations of a request, with their times and outcomes. The
//! current span belongs to the task, so that functions in between need no parameter for it.
//!
//! A [`Tracer`] that is off records and allocates nothing. Spans must contain no text of senders, people or models,
//! no secret, and no public ID of a webhook.

mod active;
mod context;
mod span;

pub use context::{SpanContext, SpanId, TRACEPARENT, TraceId};
pub use span::{AttributeValue, Span, SpanKind};

use crate::{Clock, Random};
pub use active::ActiveSpan;
use std::fmt;
use std::sync::Arc;

tokio::task_local! {
    static CURRENT: Option<CurrentSpan>;
}

/// Work with its current span, see [`within`].
pub type Traced<F> = tokio::task::futures::TaskLocalFuture<Option<CurrentSpan>, F>;

/// The dependencies of spans, and the destination of ended spans.
struct Recorder {
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    sink: Box<dyn Fn(Span) + Send + Sync>,
}

/// Records spans. The default tracer is off and records nothing.
#[derive(Clone, Default)]
pub struct Tracer(Option<Arc<Recorder>>);

impl fmt::Debug for Tracer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tracer").field(&self.is_on()).finish()
    }
}

impl Tracer {
    /// Creates a tracer that calls `sink` with each ended span. `sink` must not block.
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

    /// Begins a span under `parent`. Without a parent, begins the first span of a new trace.
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

    /// Begins a span with known IDs, for spans that other processes refer to.
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

/// The span in which a task works.
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

/// Runs `work` in a span. Used for work in another task.
pub fn within<F: Future>(span: Option<CurrentSpan>, work: F) -> Traced<F> {
    CURRENT.scope(span, work)
}

/// Begins a span under the current one. Without a current span, records nothing.
pub fn child(name: &'static str, kind: SpanKind) -> ActiveSpan {
    let Some(current) = current() else {
        return ActiveSpan(None);
    };
    Tracer(Some(current.recorder)).begin(name, kind, Some(current.context))
}

#[cfg(test)]
mod tests;
