//! The part of decoding that each family implements, and the limits that both families have.

use crate::Limits;
use crate::chat::{Chunk, StopReason, ToolCall};
use crate::progress::Arrived;
use crate::refusal::Refusal;
use crate::think::{Piece, ThinkSplitter};
use gatehouse_outbound::event_stream::{Event, TooLong};
use serde::de::DeserializeOwned;

/// Why an answer cannot be decoded further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// The input is invalid in the family.
    Garbage,
    /// The stream exceeds a limit.
    TooLarge,
    /// The stream stopped before its end.
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
    /// Decodes one event. Returns true after the answer is complete and `End` was pushed.
    fn event(&mut self, event: &Event, out: &mut Vec<Chunk>) -> Result<bool, ReadError>;

    /// Handles the end of a stream without an end marker. Returns true if the answer counts as complete and
    /// `End` was pushed.
    fn end(&mut self, out: &mut Vec<Chunk>) -> Result<bool, ReadError>;

    /// Decodes a whole answer from one document, including its `End`.
    fn document(&mut self, body: &[u8], out: &mut Vec<Chunk>) -> Result<(), ReadError>;

    /// Returns the part that was decoded so far.
    fn arrived(&self) -> Arrived;
}

/// Parses a document. Distinguishes truncated from invalid input.
pub(crate) fn read_document<T: DeserializeOwned>(body: &[u8]) -> Result<T, ReadError> {
    serde_json::from_slice(body).map_err(|error| {
        if error.is_eof() {
            ReadError::Cut
        } else {
            ReadError::Garbage
        }
    })
}

/// The limits for both families: text, number of calls, and size of calls.
#[derive(Debug)]
pub(crate) struct Counter {
    limits: Limits,
    text_bytes: usize,
    reasoning_bytes: usize,
    calls: usize,
    call_bytes: usize,
    /// The size of reasoning that is not shown, in bytes.
    hidden_bytes: usize,
    think: ThinkSplitter,
}

impl Counter {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            text_bytes: 0,
            reasoning_bytes: 0,
            calls: 0,
            call_bytes: 0,
            hidden_bytes: 0,
            think: ThinkSplitter::default(),
        }
    }

    /// Pushes text unless it is empty. Fails if the text exceeds its limit.
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

    /// Pushes reasoning unless it is empty. Fails if it exceeds the limit of text.
    pub(crate) fn reasoning(&mut self, text: &str, out: &mut Vec<Chunk>) -> Result<(), ReadError> {
        self.count_reasoning(text.len())?;
        if !text.is_empty() {
            out.push(Chunk::Reasoning(text.to_owned()));
        }
        Ok(())
    }

    /// Counts reasoning that is not shown, such as a signature.
    pub(crate) const fn hidden(&mut self, bytes: usize) -> Result<(), ReadError> {
        self.hidden_bytes = self.hidden_bytes.saturating_add(bytes);
        self.count_reasoning(bytes)
    }

    const fn count_reasoning(&mut self, bytes: usize) -> Result<(), ReadError> {
        self.reasoning_bytes = self.reasoning_bytes.saturating_add(bytes);
        if self.reasoning_bytes > self.limits.text_bytes {
            return Err(ReadError::TooLarge);
        }
        Ok(())
    }

    /// Returns whether there was text, and the number of calls so far.
    pub(crate) const fn place(&self) -> (bool, usize) {
        (self.text_bytes > 0, self.calls)
    }

    /// Pushes the withheld text. Call it when the text is complete.
    pub(crate) fn end_text(&mut self, out: &mut Vec<Chunk>) {
        out.extend(self.think.finish().map(chunk));
    }

    /// Returns whether there was text, reasoning or a call.
    pub(crate) const fn has_content(&self) -> bool {
        self.text_bytes > 0 || self.reasoning_bytes > 0 || self.calls > 0
    }

    /// Counts a new call. Returns its index.
    pub(crate) fn begin_call(&mut self) -> Result<usize, ReadError> {
        self.calls += 1;
        if self.calls > self.limits.calls {
            return Err(ReadError::TooLarge);
        }
        Ok(self.calls - 1)
    }

    /// Returns the size of text, reasoning and calls in bytes, without parts that are not shown.
    pub(crate) const fn written_bytes(&self) -> usize {
        let reasoning = self.reasoning_bytes.saturating_sub(self.hidden_bytes);
        let written = self.text_bytes.saturating_add(reasoning);
        written.saturating_add(self.call_bytes)
    }

    /// Appends to a part of a call. Fails if the whole call exceeds its limit.
    pub(crate) fn grow(
        &mut self,
        call: &mut ToolCall,
        part: impl FnOnce(&mut ToolCall) -> &mut String,
        more: &str,
    ) -> Result<(), ReadError> {
        let length = call.id.len() + call.name.len() + call.arguments.len();
        if length.saturating_add(more.len()) > self.limits.call_bytes {
            return Err(ReadError::TooLarge);
        }
        self.call_bytes = self.call_bytes.saturating_add(more.len());
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

/// Returns the last call of an answer. If the answer was cut before the arguments of the call, they stay empty. With
/// `{}`, the call would be run with other arguments than the model intended.
pub(crate) fn finished_last(call: ToolCall, stop: Option<StopReason>) -> Chunk {
    if stop == Some(StopReason::Length) {
        Chunk::ToolCall(call)
    } else {
        finished(call)
    }
}

/// Returns a complete call. Empty arguments become `{}`.
pub(crate) fn finished(mut call: ToolCall) -> Chunk {
    if call.arguments.trim().is_empty() {
        "{}".clone_into(&mut call.arguments);
    }
    Chunk::ToolCall(call)
}
