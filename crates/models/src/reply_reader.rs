//! Decodes the bytes of an answer into chunks, for either family. Uses neither clock nor network, so a fuzzer can drive
//! it. Limits all data that a provider could send endlessly.

use crate::chat::Chunk;
use crate::decoder::Decoder;
pub use crate::decoder::ReadError;
use crate::family_of_kind::family;
use crate::progress::Arrived;
pub use crate::refusal::Refusal;
use crate::{Limits, ProviderKind};
use gatehouse_outbound::event_stream::EventStream;

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

    /// Creates a reader for an answer in one document, from servers without streaming. The document has the size limit
    /// of one event.
    pub fn of_document(kind: ProviderKind, limits: Limits) -> Self {
        Self {
            document: Some(Vec::new()),
            ..Self::new(kind, limits)
        }
    }

    /// Returns whether `End` was pushed. Everything after it is ignored.
    pub const fn is_complete(&self) -> bool {
        self.complete
    }

    /// Returns the part that was decoded so far. An answer in one document is decoded only at its
    /// end.
    pub(crate) fn arrived(&self) -> Arrived {
        self.decoder.arrived()
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

#[cfg(test)]
mod tests;
