//! An answer in progress: reads the connection, feeds the decoder, and limits every wait.

use crate::call_error::{outbound_error, vendor_error};
use crate::chat::Chunk;
use crate::progress::CallProgress;
use crate::refusal::Refusal;
use crate::reply_reader::{ReadError, ReplyReader};
use crate::{ModelError, ProviderKind, Tuning};
use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt};
use gatehouse_outbound::OutboundError;
use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// A failed attempt, and whether a retry may help.
pub(crate) struct Failure {
    pub(crate) error: ModelError,
    pub(crate) again: bool,
    /// The wait that the provider requests.
    pub(crate) wait: Option<Duration>,
    pub(crate) refusal: Option<Refusal>,
}

impl Failure {
    const fn new(error: ModelError, again: bool) -> Self {
        Self {
            error,
            again,
            wait: None,
            refusal: None,
        }
    }

    /// Returns a failure that is not retried, because the request has already used up its own time
    /// limit.
    pub(crate) fn timeout(provider: &str) -> Self {
        let provider = provider.to_owned();
        Self::new(ModelError::Timeout { provider }, false)
    }

    pub(crate) fn outbound(provider: &str, error: OutboundError) -> Self {
        Self::new(outbound_error(provider, error), error.is_retryable())
    }

    fn read(provider: &str, error: ReadError) -> Self {
        let failed = |retryable| ModelError::failed(provider.to_owned(), retryable);
        match error {
            ReadError::Garbage | ReadError::TooLarge => Self::new(failed(false), false),
            ReadError::Cut => Self::new(failed(true), true),
            ReadError::Vendor(refusal) => Self::new(
                vendor_error(provider, refusal, None),
                refusal.is_worth_a_retry(),
            ),
        }
    }
}

/// The format of a response, from its content type.
#[derive(Debug, PartialEq, Eq)]
enum Shape {
    /// A stream of events. Also assumed without a content type, because a stream was requested.
    Events,
    /// One JSON document. The server does not support streams.
    Document,
    /// Anything else.
    Other,
}

impl Shape {
    fn of(headers: &HeaderMap) -> Self {
        let Some(value) = headers.get(CONTENT_TYPE) else {
            return Self::Events;
        };
        let value = String::from_utf8_lossy(value.as_bytes());
        let essence = value.split(';').next().unwrap_or_default().trim();
        let is = |name: &str| essence.eq_ignore_ascii_case(name);
        if is("application/json") {
            Self::Document
        } else if is("text/html") || is("application/xhtml+xml") {
            Self::Other
        } else {
            // Some local servers label their events as text/plain.
            Self::Events
        }
    }
}

/// An answer in progress.
pub(crate) struct Reply {
    provider: String,
    body: BoxStream<'static, reqwest::Result<Bytes>>,
    reader: ReplyReader,
    ready: VecDeque<Chunk>,
    failure: Option<Failure>,
    is_over: bool,
    idle: Duration,
    deadline: Instant,
    progress: CallProgress,
}

impl Reply {
    /// Creates an answer. Fails for a response that is neither a stream nor a document, such as a
    /// proxy's error page.
    pub(crate) fn new(
        response: Response,
        provider: String,
        kind: ProviderKind,
        tuning: &Tuning,
        (deadline, progress): (Instant, &CallProgress),
    ) -> Result<Self, Failure> {
        let reader = match Shape::of(response.headers()) {
            Shape::Events => ReplyReader::new(kind, tuning.limits),
            Shape::Document => ReplyReader::of_document(kind, tuning.limits),
            Shape::Other => return Err(Failure::read(&provider, ReadError::Garbage)),
        };
        Ok(Self {
            provider,
            body: response.bytes_stream().boxed(),
            reader,
            ready: VecDeque::new(),
            failure: None,
            is_over: false,
            idle: tuning.timeouts.idle,
            deadline,
            progress: progress.clone(),
        })
    }

    /// Waits for the first chunk.
    pub(crate) async fn await_first(&mut self, timeouts: Duration) -> Result<(), Failure> {
        while self.ready.is_empty() && !self.is_over {
            self.read_on(timeouts).await;
        }
        match self.failure.take() {
            Some(failure) if self.ready.is_empty() => Err(failure),
            failure => {
                self.failure = failure;
                Ok(())
            }
        }
    }

    pub(crate) fn into_stream(self) -> BoxStream<'static, Result<Chunk, ModelError>> {
        stream::unfold(self, |mut reply| async move {
            let item = reply.next().await?;
            Some((item, reply))
        })
        .boxed()
    }

    async fn next(&mut self) -> Option<Result<Chunk, ModelError>> {
        while self.ready.is_empty() && !self.is_over {
            self.read_on(self.idle).await;
        }
        match self.ready.pop_front() {
            Some(chunk) => Some(Ok(chunk)),
            None => self.failure.take().map(|failure| Err(failure.error)),
        }
    }

    /// Reads the next bytes from the connection.
    async fn read_on(&mut self, timeouts: Duration) {
        let until = self.deadline.min(Instant::now() + timeouts);
        let mut out = Vec::new();
        let failure = match timeout_at(until, self.body.next()).await {
            Err(_) => Some(Failure::timeout(&self.provider)),
            Ok(Some(Ok(bytes))) => self.read_error(|reader| reader.push(&bytes, &mut out)),
            // The client reports a broken connection as a decoding error. Within an answer, any such error
            // means it was cut off.
            Ok(Some(Err(_))) => Some(Failure::read(&self.provider, ReadError::Cut)),
            Ok(None) => self.read_error(|reader| reader.end(&mut out)),
        };
        self.progress.set(Some(self.reader.arrived()));
        self.ready.extend(out);
        if failure.is_some() || self.reader.is_complete() {
            self.failure = failure;
            self.is_over = true;
            // The connection is closed immediately, even if the caller keeps the stream.
            self.body = stream::empty().boxed();
        }
    }

    fn read_error(
        &mut self,
        read: impl FnOnce(&mut ReplyReader) -> Result<(), ReadError>,
    ) -> Option<Failure> {
        let error = read(&mut self.reader).err()?;
        Some(Failure::read(&self.provider, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shape_of_an_answer() {
        for (value, shape) in [
            ("", Shape::Events),
            ("text/event-stream", Shape::Events),
            ("Text/Event-Stream; charset=utf-8", Shape::Events),
            ("application/json", Shape::Document),
            ("application/json ; charset=utf-8", Shape::Document),
            ("text/html", Shape::Other),
            ("text/plain", Shape::Events),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, value.parse().unwrap());
            assert_eq!(Shape::of(&headers), shape, "{value}");
        }
        assert_eq!(Shape::of(&HeaderMap::new()), Shape::Events);
    }
}
