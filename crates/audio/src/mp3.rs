//! MPEG audio Layer III: parses frames and the encoder tag that declares added silence (ISO 11172-3 and 13818-3; MPEG
//! 2.5 and the Xing and LAME tags as LAME writes them). This module does not decode.

use crate::AudioError;
use crate::frames::{self, Framed};
use crate::read::{big, big32};
use crate::sample::narrow;

/// The delay of every decoder, in samples (LAME technical FAQ).
const DECODER_DELAY: u64 = 529;

/// Bit rates in kbit/s by index, from 1, for MPEG 1 and for MPEG 2 and 2.5.
const BIT_RATES: [[u32; 14]; 2] = [
    [
        32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320,
    ],
    [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
];

/// The header of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    /// Samples per second.
    pub(crate) rate: u32,
    /// Samples per channel in the frame.
    pub(crate) samples: u64,
    length: usize,
    /// Bytes of side information after the header, including a checksum.
    side: usize,
}

impl Framed for Header {
    const HEADER: usize = 4;
    // 320,000 bit/s at 32,000 samples per second, plus a padding byte.
    const LONGEST: usize = 1441;

    fn read(bytes: &[u8]) -> Option<Self> {
        let [sync, kind, rates, mode] = *bytes.first_chunk()?;
        let layer_three = (kind >> 1) & 3 == 1;
        if sync != 0xFF || kind & 0xE0 != 0xE0 || !layer_three || mode & 3 == 2 {
            return None;
        }
        let (older, halvings) = match (kind >> 3) & 3 {
            3 => (false, 0),
            2 => (true, 1),
            0 => (true, 2),
            _ => return None,
        };
        let rate = [44_100_u32, 48_000, 32_000].get(usize::from((rates >> 2) & 3))? >> halvings;
        let index = usize::from(rates >> 4).checked_sub(1)?;
        let bit_rate = BIT_RATES.get(usize::from(older))?.get(index)?;
        let samples = if older { 576 } else { 1152 };
        let padding = u64::from((rates >> 1) & 1);
        let length = samples / 8 * 1000 * u64::from(*bit_rate) / u64::from(rate) + padding;
        let mono = mode >> 6 == 3;
        let side = match (older, mono) {
            (false, false) => 32,
            (false, true) | (true, false) => 17,
            (true, true) => 9,
        };
        let checksum = if kind & 1 == 0 { 2 } else { 0 };
        Some(Self {
            rate,
            samples,
            length: narrow(length),
            side: side + checksum,
        })
    }

    fn length(&self) -> usize {
        self.length
    }

    fn is_like(&self, other: &Self) -> bool {
        self.rate == other.rate && self.samples == other.samples
    }
}

/// A frame without audio, in which an encoder describes the file.
#[derive(Clone, Copy, Debug, Default)]
struct Tag {
    /// The declared number of frames that follow. It may be wrong.
    frames: Option<u64>,
    /// The declared samples of silence at the start and at the end.
    added: Option<(u64, u64)>,
}

impl Tag {
    fn read(header: &Header, frame: &[u8]) -> Option<Self> {
        // Some encoders announce a checksum but leave no space for it, so two positions are
        // checked.
        let places = [header.side + 4, header.side + 2];
        let xing = places.into_iter().find_map(|at| {
            let tag = frame.get(at..)?;
            (tag.starts_with(b"Xing") || tag.starts_with(b"Info")).then_some(tag)
        });
        let Some(tag) = xing else {
            let fraunhofer = frame.get(36..)?.starts_with(b"VBRI");
            return fraunhofer.then(Self::default);
        };
        let flags = big32(tag, 4)?;
        let frames = (flags & 1 != 0).then(|| big(tag, 8, 4)).flatten();
        let sizes = [(1, 4), (2, 4), (4, 100), (8, 4)];
        let encoder = sizes
            .iter()
            .filter(|(flag, _)| flags & flag != 0)
            .fold(8, |at, (_, size)| at + size);
        let named = tag.get(encoder).is_some_and(u8::is_ascii_alphanumeric);
        let added = big(tag, encoder + 21, 3)
            .filter(|_| named)
            .map(|both| (both >> 12, both & 0xFFF));
        Some(Self { frames, added })
    }
}

/// Frames from one run of an encoder. Concatenated files contain several.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    tag: Tag,
    /// Samples per channel, including added silence.
    whole: u64,
    /// Samples per second.
    pub(crate) rate: u32,
    samples_each: u64,
}

impl Part {
    /// Samples that a decoder must drop at the start.
    pub(crate) fn skip(&self) -> u64 {
        self.tag
            .added
            .map_or(0, |(front, _)| front.saturating_add(DECODER_DELAY))
    }

    /// Samples of audio. The silence at the end is subtracted only if the file is complete.
    pub(crate) fn samples(&self) -> u64 {
        let complete = self
            .tag
            .frames
            .is_some_and(|frames| frames.saturating_mul(self.samples_each) == self.whole);
        let added = match self.tag.added {
            None => 0,
            Some((front, back)) if complete => front.saturating_add(back),
            Some(_) => self.skip(),
        };
        self.whole.saturating_sub(added)
    }
}

/// An event of `walk`.
pub(crate) enum Event<'a> {
    /// The start of the next part.
    Part,
    /// A frame with audio.
    Frame(&'a [u8]),
}

/// Reports the frames of each part, in order.
pub(crate) fn walk(
    bytes: &[u8],
    each: &mut dyn FnMut(Event<'_>) -> Result<(), AudioError>,
) -> Result<(), AudioError> {
    let mut begun = false;
    frames::walk(bytes, &mut |header: Header, frame| {
        if Tag::read(&header, frame).is_some() {
            begun = true;
            return each(Event::Part);
        }
        if !begun {
            begun = true;
            each(Event::Part)?;
        }
        each(Event::Frame(frame))
    })
}

/// The maximum number of parts to read. Each needs its own decoder.
const MAX_PARTS: usize = 1_000;

/// Returns the parts with their lengths, from the headers of all frames.
pub(crate) fn measure(bytes: &[u8]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut over = false;
    let walked = frames::walk(bytes, &mut |header: Header, frame| {
        let tag = Tag::read(&header, frame);
        over |= tag.is_some() && parts.len() >= MAX_PARTS;
        if over {
            return Ok(());
        }
        if tag.is_some() || parts.is_empty() {
            parts.push(Part {
                tag: tag.unwrap_or_default(),
                whole: 0,
                rate: header.rate,
                samples_each: header.samples,
            });
        }
        if let (None, Some(part)) = (tag, parts.last_mut()) {
            part.whole = part.whole.saturating_add(header.samples);
        }
        Ok(())
    });
    debug_assert!(walked.is_ok(), "the callback never stops the walk");
    parts
}
