//! How the samples of a WAVE file are encoded.

use crate::read::{little16, little32};

/// The sample format.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) rate: u32,
    pub(super) channels: usize,
    /// Bytes per sample.
    width: usize,
    float: bool,
}

impl Layout {
    pub(super) fn read(body: &[u8]) -> Option<Self> {
        let (tag, channels) = (little16(body, 0)?, little16(body, 2)?);
        let (rate, frame, bits) = (little32(body, 4)?, little16(body, 12)?, little16(body, 14)?);
        // The extensible format stores the actual format in the first bytes of a GUID.
        let tag = if tag == 0xFFFE {
            little16(body, 24)?
        } else {
            tag
        };
        let width = frame.checked_div(channels)?;
        let fits = match tag {
            1 => matches!(width, 1..=4) && bits <= width * 8 && bits > (width - 1) * 8,
            3 => matches!(width, 4 | 8) && bits == width * 8,
            _ => false,
        };
        (fits && frame == width * channels).then(|| Self {
            rate,
            channels: usize::from(channels),
            width: usize::from(width),
            float: tag == 3,
        })
    }

    /// Bytes of one sample of each channel. Greater than 0.
    pub(super) fn frame(self) -> usize {
        self.channels.saturating_mul(self.width).max(1)
    }

    /// Returns the mean of the channels, rounded to the nearest.
    pub(super) fn sample(self, frame: &[u8]) -> i16 {
        let sum: i64 = frame
            .chunks_exact(self.width)
            .map(|bytes| i64::from(self.one(bytes)))
            .sum();
        let count = i64::try_from(self.channels).unwrap_or(1).max(1);
        let mean = (sum / count + 0x8000) >> 16;
        i16::try_from(mean).unwrap_or(i16::MAX)
    }

    /// Returns one sample, scaled to 32 bits.
    fn one(self, bytes: &[u8]) -> i32 {
        match *bytes {
            // 8-bit samples are unsigned.
            [a] => i32::from_be_bytes([a ^ 0x80, 0, 0, 0]),
            [a, b] => i32::from_le_bytes([0, 0, a, b]),
            [a, b, c] => i32::from_le_bytes([0, a, b, c]),
            [a, b, c, d] if self.float => full_scale(f64::from(f32::from_le_bytes([a, b, c, d]))),
            [a, b, c, d] => i32::from_le_bytes([a, b, c, d]),
            _ => bytes
                .first_chunk()
                .map_or(0, |bytes| full_scale(f64::from_le_bytes(*bytes))),
        }
    }
}

/// Scales a float sample to 32 bits. NaN becomes silence.
#[expect(
    clippy::cast_possible_truncation,
    reason = "out-of-range values saturate; NaN becomes 0"
)]
fn full_scale(sample: f64) -> i32 {
    (sample * 2_147_483_648.0) as i32
}
