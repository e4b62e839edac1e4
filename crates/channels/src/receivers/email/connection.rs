//! The bytes of an IMAP connection (RFC 9051, section 2.2): commands out, complete responses in.

use super::error::ImapError;
use gatehouse_outbound::{Outbound, Stream};
use imap_proto::Response;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// How long the server may take for each part of an answer.
const TIMEOUT: Duration = Duration::from_secs(20);
/// The longest line, without literals, in bytes. RFC 7162, section 4, recommends 8192 for commands; lists of UIDs in answers
/// may be longer.
const MAX_LINE: usize = 1024 * 1024;
const READ: usize = 16 * 1024;

pub(super) struct Connection {
    stream: Stream,
    /// What was read and not processed.
    buffer: Vec<u8>,
}

/// How much of the buffer a response takes.
enum Framed {
    Complete(usize),
    Partial,
    TooLong,
}

impl Connection {
    pub(super) fn new(stream: Stream) -> Self {
        Self {
            stream,
            buffer: Vec::new(),
        }
    }

    /// Whether the server is on this machine.
    pub(super) fn is_local(&self) -> bool {
        self.stream.address.to_canonical().is_loopback()
    }

    /// Begins TLS. Fails if the server sent anything before it, because that could be another's.
    pub(super) async fn secure(self, outbound: &Outbound, host: &str) -> Result<Self, ImapError> {
        if !self.buffer.is_empty() {
            return Err(ImapError::later(
                "The mail server sent data before TLS began.",
            ));
        }
        let stream = outbound.secure(self.stream, host).await;
        Ok(Self::new(stream.map_err(ImapError::of_outbound)?))
    }

    pub(super) async fn write(&mut self, line: &str) -> Result<(), ImapError> {
        let bytes = format!("{line}\r\n");
        let io = &mut self.stream.io;
        let sent = async {
            io.write_all(bytes.as_bytes()).await?;
            io.flush().await
        };
        match tokio::time::timeout(TIMEOUT, sent).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(ImapError::Ended),
            Err(_) => Err(ImapError::silent()),
        }
    }

    /// Reads one response. Its literals may have `max` bytes together. Nothing is lost if the future is dropped.
    pub(super) async fn read(&mut self, max: usize) -> Result<Vec<u8>, ImapError> {
        loop {
            match frame(&self.buffer, max) {
                Framed::Complete(end) => {
                    let rest = self.buffer.split_off(end);
                    return Ok(std::mem::replace(&mut self.buffer, rest));
                }
                Framed::TooLong => {
                    let why = "The mail server sent more than was asked for.";
                    return Err(ImapError::later(why));
                }
                Framed::Partial => {}
            }
            if !self.wait(TIMEOUT).await? {
                return Err(ImapError::silent());
            }
        }
    }

    /// Waits until the server sends more. Returns `false` if it does not in time.
    pub(super) async fn wait(&mut self, time: Duration) -> Result<bool, ImapError> {
        self.buffer.reserve(READ);
        let more = self.stream.io.read_buf(&mut self.buffer);
        match tokio::time::timeout(time, more).await {
            Ok(Ok(1..)) => Ok(true),
            Ok(_) => Err(ImapError::Ended),
            Err(_) => Ok(false),
        }
    }

    /// Whether something was read and not processed.
    pub(super) fn has_more(&self) -> bool {
        !self.buffer.is_empty()
    }
}

/// Finds the end of the first response: a line that does not end with the size of a literal.
fn frame(buffer: &[u8], max: usize) -> Framed {
    let (mut at, mut literals) = (0_usize, 0_usize);
    loop {
        let rest = buffer.get(at..).unwrap_or_default();
        let Some(end) = rest.iter().position(|byte| *byte == b'\n') else {
            return if rest.len() > MAX_LINE {
                Framed::TooLong
            } else {
                Framed::Partial
            };
        };
        let line = rest.get(..end).unwrap_or_default();
        if line.len() > MAX_LINE {
            return Framed::TooLong;
        }
        at = at.saturating_add(end).saturating_add(1);
        let Some(size) = literal_size(line) else {
            return Framed::Complete(at);
        };
        literals = literals.saturating_add(size);
        if literals > max {
            return Framed::TooLong;
        }
        at = at.saturating_add(size);
        if at > buffer.len() {
            return Framed::Partial;
        }
    }
}

/// The size of the literal that follows a line.
fn literal_size(line: &[u8]) -> Option<usize> {
    let line = line.strip_suffix(b"\r")?.strip_suffix(b"}")?;
    let start = line.iter().rposition(|byte| *byte == b'{')?;
    let digits = line.get(start..)?.strip_prefix(b"{")?;
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let digits = std::str::from_utf8(digits).ok().filter(|_| is_number)?;
    Some(digits.parse().unwrap_or(usize::MAX))
}

/// Whether a response is about a mail.
pub(super) fn is_fetch(bytes: &[u8]) -> bool {
    let start = bytes.get(..bytes.len().min(24)).unwrap_or_default();
    start.starts_with(b"* ")
        && start
            .windows(7)
            .any(|part| part.eq_ignore_ascii_case(b" FETCH "))
}

/// Parses a response; `None` for one of an unknown form.
pub(super) fn parse(bytes: &[u8]) -> Option<Response<'_>> {
    // The parser takes the byte after a response code for a space.
    let cuts_letter = |pair: &[u8]| matches!(pair, [b']', after] if !after.is_ascii());
    if !is_fetch(bytes) && bytes.windows(2).any(cuts_letter) {
        return None;
    }
    match Response::parse(bytes) {
        Ok((_, response)) => Some(response),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(text: &str, max: usize) -> Option<usize> {
        match frame(text.as_bytes(), max) {
            Framed::Complete(end) => Some(end),
            Framed::Partial => None,
            Framed::TooLong => Some(usize::MAX),
        }
    }

    #[test]
    fn a_response_ends_with_the_line_after_its_last_literal() {
        assert_eq!(framed("* OK hi\r\n* BYE\r\n", 0), Some(9));
        assert_eq!(framed("* OK hi", 0), None);
        let fetch = "* 1 FETCH (BODY[] {5}\r\na\r\nb{ UID 7)\r\n";
        assert_eq!(framed(fetch, 5), Some(fetch.len()));
        assert_eq!(framed(fetch, 4), Some(usize::MAX), "one past the limit");
        for cut in 0..fetch.len() {
            assert_eq!(framed(&fetch[..cut], 5), None, "{cut}");
        }
        // Not the size of a literal.
        for line in ["a {}\r\n", "a {x}\r\n", "a {5}\n", "a 5}\r\n", "{5} \r\n"] {
            assert_eq!(framed(line, 5), Some(line.len()), "{line}");
        }
        let huge = "* 1 FETCH (BODY[] {99999999999999999999999}\r\n";
        assert_eq!(framed(huge, 5), Some(usize::MAX));
        assert_eq!(framed(&"x".repeat(MAX_LINE), 5), None);
        assert_eq!(framed(&"x".repeat(MAX_LINE + 1), 5), Some(usize::MAX));
    }

    #[test]
    fn odd_responses_are_no_responses() {
        assert!(parse(b"* OK [UIDNEXT 5] next\r\n").is_some());
        for odd in ["* OK [UIDNEXT 5]\u{e4}\r\n", "", "*", "* 1 FETCH (\r\n"] {
            assert!(parse(odd.as_bytes()).is_none(), "{odd}");
        }
    }
}
