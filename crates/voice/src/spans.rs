//! The spans of requests for speech and transcripts outside other work such as a turn.

use crate::{Voice, VoiceError};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use gatehouse_domain::trace::{self, ActiveSpan, SpanKind};

/// The root span of a request's trace. `None` if the request belongs to other work.
pub(crate) struct RequestSpan(Option<ActiveSpan>);

impl Voice {
    pub(crate) fn begin_request(&self, name: &'static str) -> RequestSpan {
        let tracer = &self.0.tracer;
        let is_first = tracer.is_on() && trace::current().is_none();
        RequestSpan(is_first.then(|| tracer.begin(name, SpanKind::Server, None)))
    }
}

impl RequestSpan {
    /// Runs `work` in this span if there is one, otherwise in the current span.
    pub(crate) async fn run<F: Future>(&self, work: F) -> F::Output {
        match &self.0 {
            Some(span) => span.run(work).await,
            None => work.await,
        }
    }

    /// Ends the span. Returns the result unchanged.
    pub(crate) fn end<T>(mut self, ended: Result<T, VoiceError>) -> Result<T, VoiceError> {
        if let Err(error) = &ended {
            self.fail(error);
        }
        ended
    }

    /// Ends the span when the stream is dropped.
    pub(crate) fn until_end<T: 'static>(
        mut self,
        stream: BoxStream<'static, Result<T, VoiceError>>,
    ) -> BoxStream<'static, Result<T, VoiceError>> {
        if self.0.is_none() {
            return stream;
        }
        let noted = stream.inspect(move |item| {
            if let Err(error) = item {
                self.fail(error);
            }
        });
        noted.boxed()
    }

    fn fail(&mut self, error: &VoiceError) {
        if let Some(span) = &mut self.0 {
            span.fail(error.code().name());
        }
    }
}
