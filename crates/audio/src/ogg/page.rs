//! Parses Ogg pages (RFC 3533, 6).
//!
//! Up to 65 kB must be summed to detect that a candidate is not a page. The total of such wasted work is bounded in
//! proportion to the file length. The search ends when the bound is reached, so its time is linear.

use crate::read::{find, little32, little64};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Page<'a> {
    /// The stream that the page belongs to.
    pub(crate) serial: u32,
    /// The number of the page in its stream.
    pub(crate) number: u32,
    /// The number of the last sample that ends on the page; `None` when no packet ends on it.
    pub(crate) position: Option<u64>,
    /// Whether the page starts with the rest of a packet from an earlier page.
    pub(crate) continues: bool,
    /// Whether the page begins its stream.
    pub(crate) first: bool,
    /// Lengths of the segments.
    pub(crate) lengths: &'a [u8],
    /// The segments, shorter than `lengths` declare when the file is truncated here.
    pub(crate) body: &'a [u8],
}

/// The pages of a file, in order. Skips pages with a wrong checksum.
pub(super) struct Pages<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The number of bytes that may still be summed for candidates that are not pages.
    spare: usize,
}

/// The number of bytes that may be wasted in any file. It is enough for a few broken pages.
const WASTE_BYTES: usize = 1024 * 1024;

impl<'a> Pages<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            spare: bytes.len().saturating_mul(4).saturating_add(WASTE_BYTES),
        }
    }

    /// Returns the position where the search for the next page starts: after the last returned
    /// page.
    #[cfg(test)]
    pub(super) fn at(&self) -> usize {
        self.at
    }
}

impl<'a> Iterator for Pages<'a> {
    type Item = Page<'a>;

    fn next(&mut self) -> Option<Page<'a>> {
        loop {
            let at = find(self.bytes, self.at, *b"OggS")?;
            let rest = self.bytes.get(at..)?;
            if let Some((page, length)) = read(rest) {
                self.at = at.saturating_add(length);
                return Some(page);
            }
            self.spare = self.spare.checked_sub(length(rest).unwrap_or(0))?;
            self.at = at.saturating_add(4);
        }
    }
}

/// Returns the length in bytes of the candidate page at the start of `bytes`.
fn length(bytes: &[u8]) -> Option<usize> {
    let segments = usize::from(*bytes.get(26)?);
    let lengths = bytes.get(27..27 + segments)?;
    let content: usize = lengths.iter().copied().map(usize::from).sum();
    Some(27 + segments + content)
}

fn read(bytes: &[u8]) -> Option<(Page<'_>, usize)> {
    let head: &[u8; 27] = bytes.first_chunk()?;
    let (version, flags, segments) = (head.get(4)?, head.get(5)?, usize::from(*head.get(26)?));
    let position = little64(head, 6)?;
    let lengths = bytes.get(27..27 + segments)?;
    let start = 27 + segments;
    let end = length(bytes)?;
    let whole = bytes.len() >= end;
    let all = bytes.get(..end.min(bytes.len()))?;
    if *version != 0 || (whole && checksum(all) != little32(head, 22)?) {
        return None;
    }
    let page = Page {
        serial: little32(head, 14)?,
        number: little32(head, 18)?,
        position: (whole && position != u64::MAX).then_some(position),
        continues: flags & 1 != 0,
        first: flags & 2 != 0,
        lengths,
        body: all.get(start..)?,
    };
    Some((page, all.len()))
}

/// Returns the checksum of a page, with its own field as zeros: CRC-32 with the polynomial 0x04C11DB7, neither
/// reflected nor inverted.
pub(super) fn checksum(page: &[u8]) -> u32 {
    page.iter().enumerate().fold(0, |sum: u32, (at, byte)| {
        let byte = if (22..26).contains(&at) { 0 } else { *byte };
        let index = usize::from(sum.to_be_bytes()[0] ^ byte);
        (sum << 8) ^ TABLE.get(index).copied().unwrap_or_default()
    })
}

const TABLE: [u32; 256] = table();

#[expect(
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "computed by the compiler, which checks both; iterators are not constant"
)]
const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut value = (index as u32) << 24;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 0x8000_0000 == 0 {
                value << 1
            } else {
                (value << 1) ^ 0x04C1_1DB7
            };
            bit += 1;
        }
        table[index] = value;
        index += 1;
    }
    table
}
