//! What goes into a program and what comes out of it: within limits, and all at once.

use super::Job;
use crate::VoiceError;
use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStderr, ChildStdin};

/// How much is read at a time.
const PIECE_BYTES: usize = 64 << 10;
/// How much of the end of standard error is kept, for those who want it.
const TAIL_BYTES: usize = 1 << 20;

/// What was read and not yet sent: at most one piece.
pub(super) struct Output {
    provider: &'static str,
    left: usize,
    /// Whether more may come.
    pub(super) open: bool,
    /// Where what is read goes, while there is room.
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

    /// Whether more is to be read: not while the reader leaves a whole piece waiting.
    pub(super) fn has_room(&self) -> bool {
        self.open && !self.is_full()
    }

    /// So much was read; nothing is the end.
    pub(super) fn took(&mut self, read: usize) -> Result<(), VoiceError> {
        self.open = read > 0;
        let endless = VoiceError::failed(self.provider, "answered without end", false);
        self.left = self.left.checked_sub(read).ok_or(endless)?;
        Ok(())
    }

    /// Takes out what is there.
    pub(super) fn piece(&mut self) -> Bytes {
        // A piece keeps all of its buffer in memory: that one is never larger than a piece may be.
        let empty = BytesMut::with_capacity(PIECE_BYTES);
        std::mem::replace(&mut self.buffer, empty).freeze()
    }
}

/// Tells the program what it should know. It may not want to.
pub(super) async fn feed(mut stdin: ChildStdin, input: Bytes) {
    if stdin.write_all(&input).await.is_ok() {
        let _ = stdin.shutdown().await;
    }
}

/// What was said on standard error.
#[derive(Default)]
pub(super) struct Said {
    pub(super) lines: usize,
    /// The end of it, if it was to be kept.
    pub(super) tail: Vec<u8>,
}

pub(super) async fn drain(mut stderr: ChildStderr, keep: bool) -> Said {
    let mut said = Said::default();
    let mut buffer = BytesMut::with_capacity(PIECE_BYTES);
    while let Ok(1..) = stderr.read_buf(&mut buffer).await {
        let lines = buffer.as_ref().split(|byte: &u8| *byte == b'\n');
        said.lines += lines.skip(1).count();
        if keep {
            said.tail.extend_from_slice(&buffer);
            let over = said.tail.len().saturating_sub(TAIL_BYTES);
            said.tail.drain(..over);
        }
        buffer.clear();
    }
    said
}
