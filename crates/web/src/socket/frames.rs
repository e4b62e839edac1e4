//! Reads and writes frames of RFC 6455 on the server side. The decoder is a state machine without I/O: it
//! accepts bytes as they arrive, charges a message's memory while it grows, and keeps nothing of a
//! completed message.

mod header;
mod incoming;

use gatehouse_rpc::memory_budget::{ByteBudget, Holder, Share};
pub(super) use header::{Kind, header_of};
use header::{header, unmask};
pub(super) use incoming::{Broken, Incoming};

const CONTINUATION: u8 = 0x0;
const TEXT: u8 = 0x1;
const BINARY: u8 = 0x2;
const CLOSE: u8 = 0x8;
const PING: u8 = 0x9;
const PONG: u8 = 0xA;

/// The maximum payload of a control frame (section 5.5).
const MAX_CONTROL_BYTES: usize = 125;
/// The maximum header size of a client's frame (section 5.2).
const MAX_HEADER_BYTES: usize = 14;

/// The frame whose payload is being read.
#[derive(Clone, Copy, Debug)]
struct Frame {
    opcode: u8,
    is_last: bool,
    mask: [u8; 4],
    /// The number of payload bytes read so far, and the total.
    read: usize,
    length: usize,
}

impl Frame {
    const fn is_control(&self) -> bool {
        self.opcode & 0x8 != 0
    }
}

/// A decoder for client frames.
#[derive(Debug)]
pub(super) struct Decoder {
    budget: ByteBudget,
    header: [u8; MAX_HEADER_BYTES],
    header_bytes: usize,
    frame: Option<Frame>,
    /// The incomplete message and its charge.
    message: Option<(Vec<u8>, Share)>,
    /// Whether the incomplete message is binary.
    is_binary: bool,
    /// Whether binary messages are accepted.
    takes_binary: bool,
    control: Vec<u8>,
    /// Whether messages are discarded.
    is_closing: bool,
}

impl Decoder {
    pub(super) const fn new(budget: ByteBudget) -> Self {
        Self {
            budget,
            header: [0; MAX_HEADER_BYTES],
            header_bytes: 0,
            frame: None,
            message: None,
            is_binary: false,
            takes_binary: false,
            control: Vec::new(),
            is_closing: false,
        }
    }

    /// Makes the decoder accept binary messages too.
    #[cfg(feature = "voice")]
    pub(super) fn with_binary(mut self) -> Self {
        self.takes_binary = true;
        self
    }

    /// Discards all later messages. Only the closing handshake is still processed.
    pub(super) fn close(&mut self) {
        self.is_closing = true;
        if let Some((bytes, share)) = &mut self.message {
            *bytes = Vec::new();
            share.shrink_to(0);
        }
    }

    /// Reads from the front of `input` up to the end of a message or of the input. A message may have up to
    /// `max_bytes`. Its memory is charged to `holder`.
    pub(super) fn read(
        &mut self,
        input: &mut &[u8],
        max_bytes: usize,
        holder: &Holder,
    ) -> Result<Option<Incoming>, Broken> {
        loop {
            let frame = if let Some(frame) = self.frame {
                frame
            } else {
                let Some(frame) = self.read_header(input)? else {
                    return Ok(None);
                };
                // A refused frame is read to its end as well, because the closing handshake must
                // still be recognized.
                self.frame = Some(frame);
                self.begin(&frame, max_bytes, holder)?;
                if frame.opcode == BINARY && !self.takes_binary && !self.is_closing {
                    return Ok(Some(Incoming::Binary));
                }
                frame
            };
            let left = frame.length.saturating_sub(frame.read);
            let (part, rest) = input.split_at(left.min(input.len()));
            *input = rest;
            let read = frame.read + part.len();
            self.frame = (read < frame.length).then_some(Frame { read, ..frame });
            self.take(&frame, part)?;
            if self.frame.is_some() {
                return Ok(None);
            }
            if let Some(incoming) = self.end(&frame)? {
                return Ok(Some(incoming));
            }
        }
    }

    fn read_header(&mut self, input: &mut &[u8]) -> Result<Option<Frame>, Broken> {
        loop {
            if let Some(frame) = header(self.header.get(..self.header_bytes).unwrap_or_default())? {
                self.header_bytes = 0;
                return Ok(Some(frame));
            }
            let Some((first, rest)) = input.split_first() else {
                return Ok(None);
            };
            *input = rest;
            if let Some(slot) = self.header.get_mut(self.header_bytes) {
                *slot = *first;
            }
            self.header_bytes += 1;
        }
    }

    /// Validates a frame in the context of the preceding frames.
    fn begin(&mut self, frame: &Frame, max_bytes: usize, holder: &Holder) -> Result<(), Broken> {
        if frame.is_control() {
            self.control.clear();
            return Ok(());
        }
        if self.message.is_some() != (frame.opcode == CONTINUATION) {
            return Err(Broken::Protocol);
        }
        if frame.opcode != CONTINUATION {
            self.is_binary = frame.opcode == BINARY;
        }
        let budget = &self.budget;
        let (bytes, _) = self
            .message
            .get_or_insert_with(|| (Vec::new(), budget.share(holder.clone())));
        let is_too_long = frame.length > max_bytes.saturating_sub(bytes.len());
        if is_too_long && !self.is_closing {
            return Err(Broken::TooLong);
        }
        Ok(())
    }

    /// Processes a part of a payload.
    fn take(&mut self, frame: &Frame, part: &[u8]) -> Result<(), Broken> {
        let into = if frame.is_control() {
            &mut self.control
        } else if let Some((bytes, share)) = &mut self.message
            && !self.is_closing
        {
            let left = frame.length.saturating_sub(frame.read);
            let most = bytes.len().saturating_add(left);
            if !share.reserve(bytes, part.len(), most) {
                return Err(Broken::NoRoom);
            }
            bytes
        } else {
            return Ok(());
        };
        let start = into.len();
        into.extend_from_slice(part);
        unmask(
            into.get_mut(start..).unwrap_or_default(),
            frame.mask,
            frame.read,
        );
        Ok(())
    }

    /// Completes a frame and returns its result.
    fn end(&mut self, frame: &Frame) -> Result<Option<Incoming>, Broken> {
        match frame.opcode {
            PING => Ok(Some(Incoming::Ping(std::mem::take(&mut self.control)))),
            PONG => Ok(Some(Incoming::Pong)),
            // A status code has two bytes (section 5.5.1).
            CLOSE if frame.length == 1 => Err(Broken::Protocol),
            CLOSE => Ok(Some(Incoming::Close(close_answer(&self.control)))),
            _ if !frame.is_last => Ok(None),
            _ => {
                let Some((bytes, share)) = self.message.take().filter(|_| !self.is_closing) else {
                    return Ok(None);
                };
                if self.is_binary {
                    return Ok(self.takes_binary.then_some(Incoming::Bytes(bytes, share)));
                }
                let text = String::from_utf8(bytes).map_err(|_| Broken::NotText)?;
                Ok(Some(Incoming::Text(text, share)))
            }
        }
    }
}

/// Returns the payload of the answer to a close frame: the client's status code (section 5.5.1). It is empty if there
/// is no code, or if the code must not be sent (section 7.4).
fn close_answer(payload: &[u8]) -> Vec<u8> {
    let code = payload.first_chunk().copied().map(u16::from_be_bytes);
    match code {
        Some(code @ (1000..=1003 | 1007..=1014 | 3000..=4999)) => code.to_be_bytes().to_vec(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
