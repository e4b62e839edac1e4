//! Reads bits that are packed from the least significant bit on (Vorbis I specification, 2.1).

use crate::sample::{narrow, wide};

/// A bit reader.
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    /// Position in bits.
    at: u64,
}

impl<'a> Bits<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Returns the next integer of `count` bits, at most 32, or `None` if the bits are incomplete.
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

    /// Skips bits. Returns `None` if there are too few.
    pub(super) fn skip(&mut self, count: u64) -> Option<()> {
        let end = self.at.checked_add(count)?;
        if end > wide(self.bytes.len()).saturating_mul(8) {
            return None;
        }
        self.at = end;
        Some(())
    }
}
