//! The destination of a backup, with its size and checksum.

use crate::age::Encryptor;
use sha2::{Digest, Sha256};
use std::io;
use std::io::Write;

/// The destination of the compressed lines.
pub(super) enum Sink<W: Write> {
    Plain(W),
    Encrypted(Encryptor<W>),
}

impl<W: Write> Write for Sink<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(to) => to.write(bytes),
            Self::Encrypted(to) => to.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(to) => to.flush(),
            Self::Encrypted(to) => to.flush(),
        }
    }
}

/// Counts the written bytes and calculates their checksum.
pub(super) struct Counted<W> {
    pub(super) to: W,
    pub(super) bytes: u64,
    pub(super) hash: Sha256,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.bytes += written as u64;
        self.hash.update(bytes.get(..written).unwrap_or_default());
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
