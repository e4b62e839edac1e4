//! AAC in ADTS: parses its frames (ISO 13818-7, 6.2; ISO 14496-3, 1.A.2.2).

use crate::AudioError;
use crate::frames::{self, Each, Framed};
use crate::read::big;
use crate::sample::narrow;

/// Samples per second by index (ISO 14496-3, table 1.18).
pub(crate) const RATES: [u32; 13] = [
    96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000,
    7_350,
];

/// Samples per channel in an AAC block.
pub(crate) const BLOCK: u64 = 1024;

/// The header of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    rate_index: u8,
    channels: u8,
    length: usize,
    /// Bytes of the header, including its checksum.
    head: usize,
    /// Blocks in the frame, from 1.
    blocks: u8,
}

impl Framed for Header {
    const HEADER: usize = 7;
    // 6,144 bits per channel (ISO 14496-3, 4.5.3.2) plus the header.
    const LONGEST: usize = 2 * 768 + 9;

    fn read(bytes: &[u8]) -> Option<Self> {
        let head: [u8; 7] = *bytes.first_chunk()?;
        let [sync, kind, rate, channels, _, _, blocks] = head;
        // The layer is 00. An MPEG audio frame never has this layer.
        if sync != 0xFF || kind & 0xF6 != 0xF0 {
            return None;
        }
        let rate_index = (rate >> 2) & 0xF;
        RATES.get(usize::from(rate_index))?;
        let length = narrow((big(&head, 3, 3)? >> 5) & 0x1FFF);
        let head = if kind & 1 == 0 { 9 } else { 7 };
        (length > head).then_some(Self {
            rate_index,
            channels: ((rate & 1) << 2) | (channels >> 6),
            length,
            head,
            blocks: (blocks & 3) + 1,
        })
    }

    fn length(&self) -> usize {
        self.length
    }

    fn is_like(&self, other: &Self) -> bool {
        self.rate_index == other.rate_index && self.channels == other.channels
    }
}

impl Header {
    /// Samples per second.
    pub(crate) fn rate(&self) -> u32 {
        RATES
            .get(usize::from(self.rate_index))
            .copied()
            .unwrap_or_default()
    }

    /// Returns the `AudioSpecificConfig` for a decoder: object type 2 (LC), rate and channels (ISO 14496-3, 1.6.2.1).
    /// Streams with AAC extensions contain an LC stream at this rate.
    pub(crate) fn config(&self) -> [u8; 2] {
        lc_config(self.rate_index, self.channels)
    }

    /// Samples per channel.
    pub(crate) fn samples(&self) -> u64 {
        u64::from(self.blocks).saturating_mul(BLOCK)
    }
}

/// Returns the `AudioSpecificConfig` of an LC stream.
pub(crate) fn lc_config(rate_index: u8, channels: u8) -> [u8; 2] {
    [
        0b0001_0000 | (rate_index >> 1),
        (rate_index << 7) | (channels << 3),
    ]
}

/// Calls `each` with the header and content of each frame, in order.
pub(crate) fn walk(bytes: &[u8], each: &mut Each<'_, Header>) -> Result<(), AudioError> {
    frames::walk(bytes, &mut |header: Header, frame| {
        each(header, frame.get(header.head..).unwrap_or_default())
    })
}
