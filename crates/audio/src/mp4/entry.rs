//! Reads the codec of a track (ISO 14496-12, 8.5.2; ISO 14496-14, 5.6; ISO 14496-1, 7.2.6).

use super::boxes::children;
use crate::AudioError;
use crate::adts::{RATES, lc_config};
use crate::decoder::Decoder;
use crate::opus_decode::{self, Head};
use crate::read::{big32, find};

/// The decoder's parameters, which come before the first packet.
pub(super) enum Codec {
    Aac {
        /// The `AudioSpecificConfig` of the track's LC stream.
        config: Vec<u8>,
        /// Samples per second of the LC stream.
        rate: u32,
    },
    Opus(Head),
}

/// Bytes of an audio entry before its child boxes.
const ENTRY_HEAD: usize = 28;

impl Codec {
    /// Reads the first entry of a `stsd`.
    pub(super) fn read(descriptions: &[u8]) -> Option<Self> {
        let entry = children(descriptions.get(8..)?).next()?;
        match &entry.name {
            b"mp4a" => {
                // QuickTime nests the descriptor in further boxes.
                let at = find(entry.content, ENTRY_HEAD, *b"esds")?;
                aac(entry.content.get(at + 8..)?)
            }
            b"Opus" => {
                let boxes = entry.content.get(ENTRY_HEAD..)?;
                let inner = children(boxes).find(|part| &part.name == b"dOps")?;
                Head::read_box(inner.content).map(Self::Opus)
            }
            _ => None,
        }
    }

    /// Samples per second of the decoder's output.
    pub(super) fn rate(&self) -> u32 {
        match self {
            Self::Aac { rate, .. } => *rate,
            Self::Opus(_) => opus_decode::RATE,
        }
    }

    pub(super) fn decoder(&self) -> Result<Decoder, AudioError> {
        match self {
            Self::Aac { config, .. } => Decoder::aac(config),
            Self::Opus(head) => Decoder::opus(head),
        }
    }
}

/// Reads AAC from the content of an `esds` after its version: nested descriptors.
fn aac(descriptors: &[u8]) -> Option<Codec> {
    let (tag, body) = descriptor(descriptors)?;
    if tag != 3 {
        return None;
    }
    let flags = *body.get(2)?;
    // Optional fields that are rarely present: a stream dependency, a URL and a clock reference.
    let mut at = 3;
    if flags & 0x80 != 0 {
        at += 2;
    }
    if flags & 0x40 != 0 {
        at += 1 + usize::from(*body.get(at)?);
    }
    if flags & 0x20 != 0 {
        at += 2;
    }
    let (tag, body) = descriptor(body.get(at..)?)?;
    // 0x40 is AAC; 0x66 to 0x68 are its older names.
    if tag != 4 || !matches!(body.first()?, 0x40 | 0x66..=0x68) {
        return None;
    }
    let (tag, config) = descriptor(body.get(13..)?)?;
    (tag == 5).then(|| config_of(config)).flatten()
}

/// Returns the tag and content of a descriptor.
fn descriptor(bytes: &[u8]) -> Option<(u8, &[u8])> {
    let tag = *bytes.first()?;
    let mut length = 0_usize;
    for (at, byte) in bytes.iter().enumerate().skip(1).take(4) {
        length = (length << 7) | usize::from(byte & 0x7F);
        if byte & 0x80 == 0 {
            let rest = bytes.get(at + 1..)?;
            return Some((tag, rest.get(..length.min(rest.len()))?));
        }
    }
    None
}

/// Reads object type, rate and channels from an `AudioSpecificConfig` (ISO 14496-3, 1.6.2.1). Extensions of
/// an LC stream (SBR, PS) are ignored; the LC part is decoded at its own rate.
fn config_of(config: &[u8]) -> Option<Codec> {
    let mut padded = [0; 8];
    for (to, from) in padded.iter_mut().zip(config) {
        *to = *from;
    }
    let bits = u64::from_be_bytes(padded);
    let kind = bits >> 59;
    let index = (bits >> 55) & 0xF;
    if index == 15 {
        // An explicit 24-bit rate. Supported only in a plain LC stream.
        let rate = u32::try_from((bits >> 31) & 0xFF_FFFF).ok()?;
        return (kind == 2).then(|| Codec::Aac {
            config: config.to_vec(),
            rate,
        });
    }
    let rate = *RATES.get(usize::try_from(index).ok()?)?;
    let channels = (bits >> 51) & 0xF;
    let config = match kind {
        2 => config.to_vec(),
        5 | 29 => lc_config(u8::try_from(index).ok()?, u8::try_from(channels).ok()?).to_vec(),
        _ => return None,
    };
    Some(Codec::Aac { config, rate })
}

impl Head {
    /// Reads the header from a box, where the version is 0 and the numbers are big-endian.
    fn read_box(content: &[u8]) -> Option<Self> {
        let mut head = b"OpusHead".to_vec();
        head.push(1);
        head.push(*content.get(1)?);
        head.extend(content.get(2..4)?.iter().rev());
        head.extend(big32(content, 4)?.to_le_bytes());
        head.extend(content.get(8..10)?.iter().rev());
        head.extend(content.get(10..)?);
        Self::read(&head)
    }
}
