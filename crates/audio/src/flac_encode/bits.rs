//! Writes single bits, and the checksums of FLAC frames.

/// Bits, the most significant first.
#[derive(Default)]
pub(super) struct Bits {
    pub(super) bytes: Vec<u8>,
    /// Up to seven bits after the last full byte, in the lowest bit positions.
    pub(super) rest: u64,
    count: u32,
}

impl Bits {
    /// Adds the lowest `count` bits of `value`, at most 56. Higher bits of `value` must be 0.
    pub(super) fn put(&mut self, value: u64, count: u32) {
        self.rest = (self.rest << count) | value;
        self.count += count;
        while self.count >= 8 {
            self.count -= 8;
            let [byte, ..] = (self.rest >> self.count).to_le_bytes();
            self.bytes.push(byte);
        }
    }

    pub(super) fn put_sample(&mut self, sample: i16) {
        self.put(sample.cast_unsigned().into(), 16);
    }

    pub(super) fn put_zeros(&mut self, mut count: u64) {
        while count > 0 {
            let some = count.min(32);
            self.put(0, u32::try_from(some).unwrap_or_default());
            count -= some;
        }
    }

    pub(super) fn append(&mut self, other: &Self) {
        for byte in &other.bytes {
            self.put((*byte).into(), 8);
        }
        self.put(other.rest & ((1 << other.count) - 1), other.count);
    }

    /// Fills the last byte with zeros.
    pub(super) fn align(&mut self) {
        self.put(0, (8 - self.count) % 8);
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len().saturating_mul(8)
    }
}

/// Returns the checksum of a frame header (section 9.1.8): x^8 + x^2 + x + 1.
pub(super) fn crc8(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |crc, byte| {
        (0..8).fold(crc ^ byte, |crc: u8, _| {
            (crc << 1) ^ if crc & 0x80 == 0 { 0 } else { 0x07 }
        })
    })
}

/// Returns the checksum of a frame (section 9.3): x^16 + x^15 + x^2 + 1.
pub(super) fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, byte| {
        (0..8).fold(crc ^ (u16::from(*byte) << 8), |crc: u16, _| {
            (crc << 1) ^ if crc & 0x8000 == 0 { 0 } else { 0x8005 }
        })
    })
}
