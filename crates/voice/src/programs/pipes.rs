//! What goes into a program and what comes out of it: within limits, and all at once.

use super::{Job, Piece};
use crate::VoiceError;
use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStderr, ChildStdin};
use tokio::sync::mpsc;

/// How much is read at a time.
const PIECE_BYTES: usize = 64 << 10;
/// How much of the end of standard error is kept, for those who want it.
const TAIL_BYTES: usize = 1 << 20;

/// What goes to whoever waits.
pub(super) struct Output<'a> {
    provider: &'static str,
    left: usize,
    /// Whether more may come.
    pub(super) open: bool,
    /// What is read goes here first.
    pub(super) buffer: BytesMut,
    pieces: &'a mpsc::Sender<Piece>,
}

impl<'a> Output<'a> {
    pub(super) fn new(job: &Job, pieces: &'a mpsc::Sender<Piece>) -> Self {
        Self {
            provider: job.provider,
            left: job.most_output,
            open: true,
            buffer: BytesMut::with_capacity(PIECE_BYTES),
            pieces,
        }
    }

    /// Sends what was read to the buffer; nothing read is the end.
    pub(super) async fn take(&mut self, read: usize) -> Result<(), VoiceError> {
        self.open = read > 0;
        let endless = VoiceError::failed(self.provider, "answered without end", false);
        self.left = self.left.checked_sub(read).ok_or(endless)?;
        if self.open {
            let piece = self.buffer.split().freeze();
            self.buffer.reserve(PIECE_BYTES);
            // That nobody waits any more is seen by who called.
            let _ = self.pieces.send(Ok(piece)).await;
        }
        Ok(())
    }

    /// Sends what came by the other pipe, on lines of its own.
    pub(super) async fn append(self, tail: Vec<u8>) {
        if !tail.is_empty() {
            let tail = [b"\n".as_slice(), &tail].concat();
            let _ = self.pieces.send(Ok(tail.into())).await;
        }
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
