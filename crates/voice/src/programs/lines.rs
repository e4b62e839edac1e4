//! Lines of a program's output, within limits.

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt};

/// The longest line that is kept whole. Only the end of longer lines is kept.
const MAX_LINE_BYTES: usize = 16 << 10;

/// Reads lines from an output of a program.
pub(super) struct Lines<R> {
    source: R,
    buffer: BytesMut,
    pub(super) is_open: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(source: R) -> Self {
        Self {
            source,
            buffer: BytesMut::new(),
            is_open: true,
        }
    }

    /// The next line with its line break; `None` at the end. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(at) = self.buffer.iter().position(|byte| *byte == b'\n') {
                return Some(self.buffer.split_to(at + 1).freeze());
            }
            if self.buffer.len() >= MAX_LINE_BYTES {
                self.buffer.clear();
            }
            if !matches!(self.source.read_buf(&mut self.buffer).await, Ok(1..)) {
                self.is_open = false;
                return None;
            }
        }
    }
}
