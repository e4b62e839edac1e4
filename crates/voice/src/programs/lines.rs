//! Lines of a program's output, within limits.

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt};

/// Reads lines from an output of a program.
pub(super) struct Lines<R> {
    source: R,
    buffer: BytesMut,
    /// The length of the searched prefix of the buffer, which contains no line break.
    searched: usize,
    /// The longest line that is kept whole, including its line break. For longer lines, only the end is kept.
    max_line_bytes: usize,
    pub(super) is_open: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(source: R, max_line_bytes: usize) -> Self {
        Self {
            source,
            buffer: BytesMut::new(),
            searched: 0,
            max_line_bytes,
            is_open: true,
        }
    }

    /// Returns the next line with its line break, or `None` at the end. Dropping the future loses
    /// no data.
    pub(super) async fn next(&mut self) -> Option<Bytes> {
        loop {
            let added = self.buffer.get(self.searched..).unwrap_or_default();
            if let Some(at) = added.iter().position(|byte| *byte == b'\n') {
                let end = self.searched + at + 1;
                self.searched = 0;
                return Some(self.buffer.split_to(end).freeze());
            }
            if self.buffer.len() >= self.max_line_bytes {
                self.buffer.clear();
            }
            self.searched = self.buffer.len();
            if !matches!(self.source.read_buf(&mut self.buffer).await, Ok(1..)) {
                self.is_open = false;
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncWriteExt, duplex};

    #[tokio::test]
    async fn a_line_is_whole_up_to_the_limit_and_of_a_longer_one_the_end_is_kept() {
        // The pipe passes four bytes at a time.
        let (mut writer, reader) = duplex(4);
        let mut lines = Lines::new(reader, 8);
        let written = async move { writer.write_all(b"1234567\n12345678\nab\n\ncd").await };
        let read = async {
            let mut all = Vec::new();
            while let Some(line) = lines.next().await {
                all.push(line);
            }
            all
        };
        let (written, all) = tokio::join!(written, read);
        written.unwrap();
        assert_eq!(all, ["1234567\n", "\n", "ab\n", "\n"]);
        assert!(!lines.is_open);
    }
}
