//! Answers calls whose answer is too large. The MCP library discards such an answer, and the call would wait until its
//! time limit.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, ReadBuf};

/// The number of bytes per read.
const READ_BYTES: usize = 8 * 1024;
/// The longest text that is kept of a member (a name or an ID), in bytes.
const MAX_TOKEN_BYTES: usize = 256;

/// Returns the error message of a call whose answer is too large.
pub(super) fn too_large(max_bytes: usize) -> String {
    format!("The answer is larger than {} MiB.", max_bytes >> 20)
}

/// Lines of JSON-RPC messages. A line over the limit becomes an error response to the same call. If it is not a
/// response, it is dropped.
pub(super) struct Limited<R> {
    inner: R,
    max_bytes: usize,
    line: Vec<u8>,
    /// Set while the rest of a line over the limit is being read.
    scan: Option<Scan>,
    ready: Vec<u8>,
    /// The number of bytes of `ready` that were delivered.
    delivered: usize,
}

impl<R> Limited<R> {
    pub(super) const fn new(inner: R, max_bytes: usize) -> Self {
        Self {
            inner,
            max_bytes,
            line: Vec::new(),
            scan: None,
            ready: Vec::new(),
            delivered: 0,
        }
    }

    fn take_in(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if let Some(scan) = &mut self.scan {
                scan.feed(piece);
            } else if self.line.len() + piece.len() > self.max_bytes {
                let mut scan = Scan::default();
                scan.feed(&std::mem::take(&mut self.line));
                scan.feed(piece);
                self.scan = Some(scan);
            } else {
                self.line.extend_from_slice(piece);
            }
            if piece.ends_with(b"\n") {
                match self.scan.take() {
                    Some(scan) => self.ready.extend(scan.refusal(self.max_bytes)),
                    None => self.ready.append(&mut self.line),
                }
            }
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Limited<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        loop {
            let rest = this.ready.get(this.delivered..).unwrap_or_default();
            if !rest.is_empty() {
                let count = rest.len().min(into.remaining());
                into.put_slice(rest.get(..count).unwrap_or_default());
                this.delivered += count;
                return Poll::Ready(Ok(()));
            }
            this.ready.clear();
            this.delivered = 0;
            let mut bytes = [0; READ_BYTES];
            let mut read = ReadBuf::new(&mut bytes);
            ready!(Pin::new(&mut this.inner).poll_read(context, &mut read))?;
            if read.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            this.take_in(read.filled());
        }
    }
}

/// The position of the scan.
#[derive(Default, PartialEq, Eq)]
enum Position {
    #[default]
    BetweenStrings,
    InString,
    /// After a backslash in a string.
    Escaped,
}

/// Finds the ID of a JSON-RPC message without storing the message.
#[derive(Default)]
struct Scan {
    depth: usize,
    position: Position,
    /// The name or scalar at the top level that is being read.
    token: Vec<u8>,
    is_id: bool,
    id: Option<Vec<u8>>,
    has_method: bool,
}

impl Scan {
    fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.step(*byte);
        }
    }

    fn step(&mut self, byte: u8) {
        if self.position != Position::BetweenStrings {
            self.keep(byte);
            self.position = match byte {
                _ if self.position == Position::Escaped => Position::InString,
                b'\\' => Position::Escaped,
                b'"' => Position::BetweenStrings,
                _ => Position::InString,
            };
            return;
        }
        match byte {
            b'"' => {
                self.position = Position::InString;
                self.keep(byte);
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                if self.depth == 1 {
                    self.end_member();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if self.depth == 1 => {
                self.is_id = self.token == b"\"id\"";
                self.has_method |= self.token == b"\"method\"";
                self.token.clear();
            }
            b',' if self.depth == 1 => self.end_member(),
            byte if byte.is_ascii_whitespace() => {}
            byte => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.token.len() < MAX_TOKEN_BYTES {
            self.token.push(byte);
        }
    }

    fn end_member(&mut self) {
        let token = std::mem::take(&mut self.token);
        if std::mem::take(&mut self.is_id) {
            self.id = Some(token);
        }
    }

    /// Returns the error response to the call, as a line.
    fn refusal(self, max_bytes: usize) -> Vec<u8> {
        let id = self.id.filter(|_| !self.has_method);
        let id: Option<serde_json::Value> = id.and_then(|id| serde_json::from_slice(&id).ok());
        let Some(id) = id.filter(|id| id.is_number() || id.is_string()) else {
            return Vec::new();
        };
        let error = serde_json::json!({ "code": -32000, "message": too_large(max_bytes) });
        let response = serde_json::json!({ "jsonrpc": "2.0", "id": id, "error": error });
        format!("{response}\n").into_bytes()
    }
}

#[cfg(test)]
mod tests;
