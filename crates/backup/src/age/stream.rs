//! The payload: chunks of 64 KiB, each encrypted with ChaCha20-Poly1305. The nonce of a chunk contains its number
//! and whether it is the last one. Chunks can therefore not be removed, added or exchanged.

use super::Key;
use chacha20poly1305::aead::Aead;
use chacha20poly1305::{ChaCha20Poly1305, KeyInit, Nonce};
use std::io::{self, BufRead, Read, Write};
use zeroize::Zeroizing;

/// Length of a chunk's plaintext. Only the last chunk can be shorter.
const CHUNK: usize = 64 << 10;
const TAG: usize = 16;

/// The cipher, and the number of the next chunk.
struct Chunks {
    cipher: ChaCha20Poly1305,
    next: u64,
}

impl Chunks {
    fn new(key: &Key) -> Self {
        Self {
            cipher: ChaCha20Poly1305::new((&**key).into()),
            next: 0,
        }
    }

    /// Returns the number as 11 bytes, big-endian, followed by 1 for the last chunk, otherwise 0.
    fn nonce(&mut self, is_last: bool) -> Nonce {
        let mut nonce = Nonce::default();
        for (to, from) in nonce.iter_mut().skip(3).zip(self.next.to_be_bytes()) {
            *to = from;
        }
        if let Some(mark) = nonce.last_mut() {
            *mark = u8::from(is_last);
        }
        self.next += 1;
        nonce
    }
}

/// Encrypts all bytes that are written to it.
pub struct Encryptor<W> {
    to: W,
    chunks: Chunks,
    /// The plaintext of the next chunk.
    buffer: Zeroizing<Vec<u8>>,
}

impl<W: Write> Encryptor<W> {
    pub(super) fn new(to: W, key: &Key) -> Self {
        Self {
            to,
            chunks: Chunks::new(key),
            buffer: Zeroizing::new(Vec::with_capacity(CHUNK)),
        }
    }

    fn write_chunk(&mut self, is_last: bool) -> io::Result<()> {
        let nonce = self.chunks.nonce(is_last);
        let sealed = self.chunks.cipher.encrypt(&nonce, self.buffer.as_slice());
        let sealed = sealed.map_err(|_| io::Error::other("a chunk cannot be encrypted"))?;
        self.buffer.clear();
        self.to.write_all(&sealed)
    }

    /// Writes the last chunk and returns the inner writer. A file without its last chunk cannot be decrypted.
    pub fn finish(mut self) -> io::Result<W> {
        self.write_chunk(true)?;
        self.to.flush()?;
        Ok(self.to)
    }
}

impl<W: Write> Write for Encryptor<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A full buffer is written only when more bytes follow, because the last chunk is marked and the end is not
        // known earlier.
        if self.buffer.len() == CHUNK && !bytes.is_empty() {
            self.write_chunk(false)?;
        }
        let taken = bytes.len().min(CHUNK - self.buffer.len());
        self.buffer.extend(bytes.iter().take(taken));
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Decrypts a payload while it is read. Returns only bytes of verified chunks.
pub struct Decryptor<R> {
    from: R,
    chunks: Chunks,
    /// The plaintext of the current chunk. The first `read` bytes were already returned.
    buffer: Zeroizing<Vec<u8>>,
    read: usize,
    is_last: bool,
}

impl<R: BufRead> Decryptor<R> {
    pub(super) fn new(from: R, key: &Key) -> Self {
        Self {
            from,
            chunks: Chunks::new(key),
            buffer: Zeroizing::default(),
            read: 0,
            is_last: false,
        }
    }

    fn read_chunk(&mut self) -> io::Result<()> {
        let mut sealed = Vec::with_capacity(CHUNK + TAG);
        let limit = u64::try_from(CHUNK + TAG).unwrap_or(u64::MAX);
        (&mut self.from).take(limit).read_to_end(&mut sealed)?;
        let is_last = self.from.fill_buf()?.is_empty();
        let is_first = self.chunks.next == 0;
        let nonce = self.chunks.nonce(is_last);
        let opened = self.chunks.cipher.decrypt(&nonce, sealed.as_slice());
        let opened = Zeroizing::new(opened.map_err(|_| damaged())?);
        // Only an empty payload may end in an empty chunk.
        if opened.is_empty() && !is_first {
            return Err(damaged());
        }
        (self.buffer, self.read, self.is_last) = (opened, 0, is_last);
        Ok(())
    }
}

fn damaged() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "the encrypted file is damaged or incomplete",
    )
}

impl<R: BufRead> Read for Decryptor<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.read == self.buffer.len() && !self.is_last {
            self.read_chunk()?;
        }
        let mut rest = self.buffer.get(self.read..).unwrap_or_default();
        let count = rest.read(out)?;
        self.read += count;
        Ok(count)
    }
}

impl<T> std::fmt::Debug for Encryptor<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Encryptor").finish_non_exhaustive()
    }
}

impl<T> std::fmt::Debug for Decryptor<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decryptor").finish_non_exhaustive()
    }
}
