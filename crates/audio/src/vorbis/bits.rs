//! Bits that are packed from the lowest on (Vorbis I specification, 2.1). It knows no header.

use crate::sample::{narrow, wide};

/// Reads numbers of some bits.
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    /// Bits that were read.
    at: u64,
}

impl<'a> Bits<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The next number of this many bits, at most 32; nothing when they are not all there.
    pub(super) fn take(&mut self, count: u32) -> Option<u32> {
        let from = narrow(self.at / 8);
        let shift = self.at % 8;
        self.skip(u64::from(count))?;
        let value = self
            .bytes
            .iter()
            .skip(from)
            .take(5)
            .rev()
            .fold(0_u64, |value, byte| (value << 8) | u64::from(*byte));
        u32::try_from((value >> shift) & ((1 << count) - 1)).ok()
    }

    /// Passes over bits; nothing when they are not all there.
    pub(super) fn skip(&mut self, count: u64) -> Option<()> {
        let end = self.at.checked_add(count)?;
        if end > wide(self.bytes.len()).saturating_mul(8) {
            return None;
        }
        self.at = end;
        Some(())
    }
}
