//! Pages of Ogg (RFC 3533, 6). It knows no packet and no codec.
//!
//! Where a page seems to begin, up to 65 kB have to be summed up to know that none does. So what is summed up in
//! vain is bounded by the length of the file; behind that nothing is found any more, and the walk stays linear.

use crate::read::{find, little32, little64};

/// A page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page<'a> {
    /// Which stream it is of.
    pub(crate) serial: u32,
    /// Its number in its stream.
    pub(crate) number: u32,
    /// The number of the last sample that ends in it; nothing when no packet does.
    pub(crate) position: Option<u64>,
    /// Whether its first bytes belong to a packet that began before.
    pub(crate) continues: bool,
    /// Whether its stream begins with it.
    pub(crate) first: bool,
    /// Lengths of its segments.
    pub(crate) lengths: &'a [u8],
    /// The segments; fewer bytes than the lengths say when the file was cut off here.
    pub(crate) body: &'a [u8],
}

/// The pages of a file, in order. Those whose checksum is wrong are passed over.
pub(super) struct Pages<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Bytes that may still be summed up for pages that are none.
    patience: usize,
}

/// Bytes that may be summed up in vain in any file: some broken pages.
const PATIENCE: usize = 1024 * 1024;

impl<'a> Pages<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            patience: bytes.len().saturating_mul(4).saturating_add(PATIENCE),
        }
    }

    /// Where the next page is looked for: behind the last one that was given.
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
            self.patience = self.patience.checked_sub(length(rest).unwrap_or(0))?;
            self.at = at.saturating_add(4);
        }
    }
}

/// Bytes of the page that seems to begin here.
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

/// The checksum of a page, its own field counted as zeros: CRC-32 with the polynomial 0x04C11DB7, neither
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
