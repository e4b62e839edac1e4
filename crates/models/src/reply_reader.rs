//! Decodes the bytes of an answer into chunks, for either family. Uses neither clock nor network, so a fuzzer
//! can drive it. Limits everything that a provider could send without end.

use crate::chat::{Chunk, ToolCall};
use crate::family::family;
pub use crate::refusal::Refusal;
use crate::think::{Piece, ThinkSplitter};
use crate::{Limits, ProviderKind};
use gatehouse_outbound::event_stream::{Event, EventStream, TooLong};
use serde::de::DeserializeOwned;

/// Why an answer cannot be read further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// Not valid for the family.
    Garbage,
    /// It exceeds a limit.
    TooLarge,
    /// It stopped before its end.
    Cut,
    /// The provider reported a failure within the answer.
    Vendor(Refusal),
}

impl From<TooLong> for ReadError {
    fn from(_: TooLong) -> Self {
        Self::TooLarge
    }
}

/// Decodes the events of one family.
pub(crate) trait Decoder: Send {
    /// Decodes one event. Returns true once the answer is complete and `End` was pushed.
    fn event(&mut self, event: &Event, out: &mut Vec<Chunk>) -> Result<bool, ReadError>;

    /// Handles the end of a stream without an end marker. Returns true if the answer counts as complete and
    /// `End` was pushed.
    fn end(&mut self, out: &mut Vec<Chunk>) -> Result<bool, ReadError>;

    /// Decodes a whole answer from one document, including its `End`.
    fn document(&mut self, body: &[u8], out: &mut Vec<Chunk>) -> Result<(), ReadError>;
}

/// Parses a document, distinguishing truncated from invalid input.
pub(crate) fn read_document<T: DeserializeOwned>(body: &[u8]) -> Result<T, ReadError> {
    serde_json::from_slice(body).map_err(|error| {
        if error.is_eof() {
            ReadError::Cut
        } else {
            ReadError::Garbage
        }
    })
}

/// The state of a partially read answer.
pub struct ReplyReader {
    events: EventStream,
    /// The part of a single-document answer received so far.
    document: Option<Vec<u8>>,
    event_bytes: usize,
    decoder: Box<dyn Decoder>,
    bytes_left: usize,
    complete: bool,
}

impl ReplyReader {
    pub fn new(kind: ProviderKind, limits: Limits) -> Self {
        Self {
            events: EventStream::new(limits.event_bytes),
            document: None,
            event_bytes: limits.event_bytes,
            decoder: family(kind).decoder(limits),
            bytes_left: limits.reply_bytes,
            complete: false,
        }
    }

    /// For an answer in one document, from servers without streaming. Its limit is that of one event.
    pub fn of_document(kind: ProviderKind, limits: Limits) -> Self {
        Self {
            document: Some(Vec::new()),
            ..Self::new(kind, limits)
        }
    }

    /// Whether `End` was pushed. Everything after it is ignored.
    pub const fn is_complete(&self) -> bool {
        self.complete
    }

    /// Takes the next bytes. `out` also receives the chunks that precede an error.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<Chunk>) -> Result<(), ReadError> {
        if self.complete {
            return Ok(());
        }
        if let Some(document) = &mut self.document {
            if document.len().saturating_add(bytes.len()) > self.event_bytes.min(self.bytes_left) {
                return Err(ReadError::TooLarge);
            }
            document.extend_from_slice(bytes);
            return Ok(());
        }
        let mut rest = bytes.get(..self.bytes_left).unwrap_or(bytes);
        let too_large = rest.len() < bytes.len();
        self.bytes_left -= rest.len();
        while let Some(event) = self.events.next(&mut rest)? {
            self.complete = self.decoder.event(&event, out)?;
            if self.complete {
                return Ok(());
            }
        }
        if too_large {
            return Err(ReadError::TooLarge);
        }
        Ok(())
    }

    /// Ends the input. Returns `Cut` unless the answer is complete.
    pub fn end(&mut self, out: &mut Vec<Chunk>) -> Result<(), ReadError> {
        if self.complete {
            return Ok(());
        }
        if let Some(document) = self.document.take() {
            self.decoder.document(&document, out)?;
            self.complete = true;
            return Ok(());
        }
        // A last event without its blank line is either complete or was cut off.
        if let Some(event) = self.events.end()? {
            match self.decoder.event(&event, out) {
                Ok(complete) => self.complete = complete,
                Err(ReadError::Garbage) => return Err(ReadError::Cut),
                Err(error) => return Err(error),
            }
        }
        if self.complete || self.decoder.end(out)? {
            self.complete = true;
            return Ok(());
        }
        Err(ReadError::Cut)
    }
}

/// The limits that both families share: text, calls and call size.
#[derive(Debug)]
pub(crate) struct Counter {
    limits: Limits,
    text_bytes: usize,
    reasoning_bytes: usize,
    calls: usize,
    think: ThinkSplitter,
}

impl Counter {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            text_bytes: 0,
            reasoning_bytes: 0,
            calls: 0,
            think: ThinkSplitter::default(),
        }
    }

    /// Pushes text unless it is empty; fails when the text exceeds its limit.
    pub(crate) fn text(&mut self, text: &str, out: &mut Vec<Chunk>) -> Result<(), ReadError> {
        self.text_bytes = self.text_bytes.saturating_add(text.len());
        if self.text_bytes > self.limits.text_bytes {
            return Err(ReadError::TooLarge);
        }
        if !text.is_empty() {
            out.extend(self.think.push(text).into_iter().map(chunk));
        }
        Ok(())
    }

    /// Pushes reasoning unless it is empty; fails when it exceeds the limit of text.
    pub(crate) fn reasoning(&mut self, text: &str, out: &mut Vec<Chunk>) -> Result<(), ReadError> {
        self.hidden(text.len())?;
        if !text.is_empty() {
            out.push(Chunk::Reasoning(text.to_owned()));
        }
        Ok(())
    }

    /// Counts reasoning that is not shown, such as a signature.
    pub(crate) const fn hidden(&mut self, bytes: usize) -> Result<(), ReadError> {
        self.reasoning_bytes = self.reasoning_bytes.saturating_add(bytes);
        if self.reasoning_bytes > self.limits.text_bytes {
            return Err(ReadError::TooLarge);
        }
        Ok(())
    }

    /// Whether there was text, and the number of calls so far.
    pub(crate) const fn place(&self) -> (bool, usize) {
        (self.text_bytes > 0, self.calls)
    }

    /// Pushes the text that was held back. To be called once the text is complete.
    pub(crate) fn end_text(&mut self, out: &mut Vec<Chunk>) {
        out.extend(self.think.finish().map(chunk));
    }

    /// Whether there was text, reasoning or a call.
    pub(crate) const fn has_content(&self) -> bool {
        self.text_bytes > 0 || self.reasoning_bytes > 0 || self.calls > 0
    }

    /// Counts a new call; returns its index.
    pub(crate) fn begin_call(&mut self) -> Result<usize, ReadError> {
        self.calls += 1;
        if self.calls > self.limits.calls {
            return Err(ReadError::TooLarge);
        }
        Ok(self.calls - 1)
    }

    /// Appends to a part of a call while the whole call stays within its limit.
    pub(crate) fn grow(
        &self,
        call: &mut ToolCall,
        part: impl FnOnce(&mut ToolCall) -> &mut String,
        more: &str,
    ) -> Result<(), ReadError> {
        let length = call.id.len() + call.name.len() + call.arguments.len();
        if length.saturating_add(more.len()) > self.limits.call_bytes {
            return Err(ReadError::TooLarge);
        }
        part(call).push_str(more);
        Ok(())
    }
}

fn chunk(piece: Piece) -> Chunk {
    match piece {
        Piece::Text(text) => Chunk::Text(text),
        Piece::Reasoning(text) => Chunk::Reasoning(text),
    }
}

/// A complete call; empty arguments become `{}`.
pub(crate) fn finished(mut call: ToolCall) -> Chunk {
    if call.arguments.trim().is_empty() {
        "{}".clone_into(&mut call.arguments);
    }
    Chunk::ToolCall(call)
}

#[cfg(test)]
mod tests;
