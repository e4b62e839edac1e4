//! Input and output of a program, within limits and concurrently.

use super::Job;
use crate::VoiceError;
use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStderr, ChildStdin};

/// How much to read at a time.
const PIECE_BYTES: usize = 64 << 10;
/// Number of bytes at the end of stderr that are kept, if requested.
const TAIL_BYTES: usize = 1 << 20;

/// Output that was read but not sent: at most one chunk.
pub(super) struct Output {
    provider: &'static str,
    left: usize,
    /// Whether more output may follow.
    pub(super) open: bool,
    /// The read buffer. It is replaced when it has no capacity left.
    pub(super) buffer: BytesMut,
}

impl Output {
    pub(super) fn new(job: &Job) -> Self {
        Self {
            provider: job.provider,
            left: job.most_output,
            open: true,
            buffer: BytesMut::with_capacity(PIECE_BYTES),
        }
    }

    pub(super) fn has_some(&self) -> bool {
        !self.buffer.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.buffer.len() >= self.buffer.capacity()
    }

    /// Returns whether to read more. Returns false while a full chunk waits for the reader.
    pub(super) fn has_space(&self) -> bool {
        self.open && !self.is_full()
    }

    /// Records that `read` bytes arrived. 0 means the end of the output.
    pub(super) fn took(&mut self, read: usize) -> Result<(), VoiceError> {
        self.open = read > 0;
        let endless = VoiceError::failed(self.provider, "produced too much output", false);
        self.left = self.left.checked_sub(read).ok_or(endless)?;
        Ok(())
    }

    /// Takes the buffered output.
    pub(super) fn piece(&mut self) -> Bytes {
        // A chunk keeps its whole buffer in memory, so each chunk gets a new buffer of the maximum chunk size.
        let empty = BytesMut::with_capacity(PIECE_BYTES);
        std::mem::replace(&mut self.buffer, empty).freeze()
    }
}

/// Writes the input to the program, which may ignore it.
pub(super) async fn feed(mut stdin: ChildStdin, input: Bytes) {
    if stdin.write_all(&input).await.is_ok() {
        let _ = stdin.shutdown().await;
    }
}

/// The output on stderr.
#[derive(Default)]
pub(super) struct Stderr {
    pub(super) lines: usize,
    /// The end of the output, if it is kept.
    pub(super) tail: Vec<u8>,
}

pub(super) async fn drain(mut stderr: ChildStderr, keep: bool) -> Stderr {
    let mut kept = Stderr::default();
    let mut buffer = BytesMut::with_capacity(PIECE_BYTES);
    while let Ok(1..) = stderr.read_buf(&mut buffer).await {
        let lines = buffer.as_ref().split(|byte: &u8| *byte == b'\n');
        kept.lines += lines.skip(1).count();
        if keep {
            kept.tail.extend_from_slice(&buffer);
            let over = kept.tail.len().saturating_sub(TAIL_BYTES);
            kept.tail.drain(..over);
        }
        buffer.clear();
    }
    kept
}
