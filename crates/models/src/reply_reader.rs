//! Turns the bytes of an answer into its pieces, for either family: no clock, no network, so that a fuzzer
//! can drive it. Everything that a provider could make endless has a bound here.

use crate::chat::{Chunk, ToolCall};
use crate::event_stream::{Event, EventStream, TooLong};
use crate::family::family;
pub use crate::refusal::Refusal;
use crate::{Limits, ProviderKind};
use serde::de::DeserializeOwned;

/// Why an answer cannot be read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// It is not what the family speaks.
    Garbage,
    /// It is over a limit.
    TooLarge,
    /// It stopped before its end.
    Cut,
    /// The provider says in the midst of it that it failed.
    Vendor(Refusal),
}

impl From<TooLong> for ReadError {
    fn from(_: TooLong) -> Self {
        Self::TooLarge
    }
}

/// What a family makes of its events.
pub(crate) trait Decoder: Send {
    /// Takes one event; true when the answer is complete and `End` was given.
    fn event(&mut self, event: &Event, out: &mut Vec<Chunk>) -> Result<bool, ReadError>;

    /// The stream has ended without saying so. True when that is good enough and `End` was given.
    fn end(&mut self, out: &mut Vec<Chunk>) -> Result<bool, ReadError>;

    /// Takes a whole answer that came as one document; gives its `End`, too.
    fn document(&mut self, body: &[u8], out: &mut Vec<Chunk>) -> Result<(), ReadError>;
}

/// Reads a document: one that breaks off is not the same as one that is something else.
pub(crate) fn read_document<T: DeserializeOwned>(body: &[u8]) -> Result<T, ReadError> {
    serde_json::from_slice(body).map_err(|error| {
        if error.is_eof() {
            ReadError::Cut
        } else {
            ReadError::Garbage
        }
    })
}

/// An answer in the middle of its way.
pub struct ReplyReader {
    events: EventStream,
    /// What has come of an answer that is one document.
    document: Option<Vec<u8>>,
    event_bytes: usize,
    decoder: Box<dyn Decoder>,
    bytes_left: usize,
    complete: bool,
}

impl ReplyReader {
    /// For an answer of this family.
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

    /// For an answer that comes as one document, because the server knows no streams. It may be as long as
    /// an event.
    pub fn of_document(kind: ProviderKind, limits: Limits) -> Self {
        Self {
            document: Some(Vec::new()),
            ..Self::new(kind, limits)
        }
    }

    /// Whether `End` was given. What comes after it is not looked at.
    pub const fn is_complete(&self) -> bool {
        self.complete
    }

    /// Takes the next bytes. What was read before an error is in `out` all the same.
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

    /// The bytes have ended. `Cut` unless the answer is complete.
    pub fn end(&mut self, out: &mut Vec<Chunk>) -> Result<(), ReadError> {
        if self.complete {
            return Ok(());
        }
        if let Some(document) = self.document.take() {
            self.decoder.document(&document, out)?;
            self.complete = true;
            return Ok(());
        }
        // A last event without its blank line may be whole, or may be where the connection broke.
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

/// A tool call in the making, and the text so far: what both families count.
#[derive(Debug)]
pub(crate) struct Counter {
    limits: Limits,
    text_bytes: usize,
    calls: usize,
}

impl Counter {
    pub(crate) const fn new(limits: Limits) -> Self {
        Self {
            limits,
            text_bytes: 0,
            calls: 0,
        }
    }

    /// Gives text on, unless there is none or too much of it.
    pub(crate) fn text(&mut self, text: &str, out: &mut Vec<Chunk>) -> Result<(), ReadError> {
        self.text_bytes = self.text_bytes.saturating_add(text.len());
        if self.text_bytes > self.limits.text_bytes {
            return Err(ReadError::TooLarge);
        }
        if !text.is_empty() {
            out.push(Chunk::Text(text.to_owned()));
        }
        Ok(())
    }

    /// Whether there was text or a call.
    pub(crate) const fn has_content(&self) -> bool {
        self.text_bytes > 0 || self.calls > 0
    }

    /// One more call; its number.
    pub(crate) fn begin_call(&mut self) -> Result<usize, ReadError> {
        self.calls += 1;
        if self.calls > self.limits.calls {
            return Err(ReadError::TooLarge);
        }
        Ok(self.calls - 1)
    }

    /// Adds to a part of a call, as long as the whole call stays below its limit.
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

/// A call whose arguments are complete.
pub(crate) fn finished(mut call: ToolCall) -> Chunk {
    if call.arguments.trim().is_empty() {
        "{}".clone_into(&mut call.arguments);
    }
    Chunk::ToolCall(call)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Read = (Vec<Chunk>, Result<bool, ReadError>);

    fn read<'a>(
        kind: ProviderKind,
        limits: Limits,
        pieces: impl IntoIterator<Item = &'a [u8]>,
    ) -> Read {
        let mut reader = ReplyReader::new(kind, limits);
        let mut out = Vec::new();
        for piece in pieces {
            if let Err(error) = reader.push(piece, &mut out) {
                return (out, Err(error));
            }
        }
        let ended = reader.end(&mut out).map(|()| reader.is_complete());
        (out, ended)
    }

    const FRAMES: &[&str] = &[
        r#"{"choices":[{"index":0,"delta":{"content":"ä"}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"t","arguments":"{"}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}}]}"#,
        r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
        r#"{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}"#,
        "[DONE]",
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"t"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ö"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"message_stop"}"#,
        r#"{"type":"ping"}"#,
        "garbage",
    ];

    proptest! {
        #[test]
        fn however_it_is_split(
            picks in proptest::collection::vec((0..FRAMES.len(), 0_usize..4), 0..8),
            cuts in proptest::collection::vec(0_usize..1000, 0..8),
            total in 0_usize..1500,
            event in 60_usize..200,
            is_openai: bool,
        ) {
            let mut text = String::new();
            for (pick, ending) in picks {
                text.push_str("data: ");
                text.push_str(FRAMES[pick]);
                text.push_str(["\n\n", "\r\n\r\n", "\r\r", "\n"][ending]);
            }
            let kind = if is_openai { ProviderKind::Openai } else { ProviderKind::Anthropic };
            let limits = Limits { reply_bytes: total, event_bytes: event, ..Limits::default() };
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
            let whole = read(kind, limits, [bytes]);
            prop_assert_eq!(&read(kind, limits, pieces), &whole);
            let ends = whole.0.iter().filter(|chunk| matches!(chunk, Chunk::End { .. })).count();
            prop_assert_eq!(ends == 1, whole.1.is_ok());
            prop_assert!(ends <= 1);
        }
    }
}
