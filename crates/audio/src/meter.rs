//! Measures audio that arrives in pieces, and keeps only a part of it.

use crate::frames::{self, Framed};
use crate::read::big;
use crate::sample::{millis, narrow, wide};
use crate::{Kind, WavStream, adts, duration_ms, mp3};

/// How many bytes of a compressed format are measured at a time.
const BATCH: usize = 512 * 1024;
/// The longest head of a file that is kept for reading later parts. Pictures are not kept.
const MAX_HEAD: usize = 64 * 1024;

/// Measures audio that arrives in pieces. The result equals [`duration_ms`], except for a few frames.
#[derive(Debug)]
pub struct Meter(State);

#[derive(Debug)]
enum State {
    Pcm {
        rate: u32,
        bytes: u64,
    },
    Wav {
        stream: WavStream,
        samples: u64,
    },
    Compressed {
        kind: Kind,
        /// The bytes needed to read later parts; `None` before the first part.
        head: Option<Vec<u8>>,
        waiting: Vec<u8>,
        total_ms: u64,
    },
}

impl Meter {
    pub fn new(kind: Kind) -> Self {
        Self(match kind {
            Kind::Pcm { rate } => State::Pcm { rate, bytes: 0 },
            Kind::Wav => State::Wav {
                stream: WavStream::new(),
                samples: 0,
            },
            kind => State::Compressed {
                kind,
                head: None,
                waiting: Vec::new(),
                total_ms: 0,
            },
        })
    }

    /// Takes the next bytes. Bytes that cannot be read are not counted.
    pub fn push(&mut self, more: &[u8]) {
        match &mut self.0 {
            State::Pcm { bytes, .. } => *bytes = bytes.saturating_add(wide(more.len())),
            State::Wav { stream, samples } => {
                let read = stream.push(more).unwrap_or_default();
                *samples = samples.saturating_add(wide(read.len()));
            }
            State::Compressed { waiting, .. } => {
                waiting.extend_from_slice(more);
                if waiting.len() >= BATCH {
                    self.measure(false);
                }
            }
        }
    }

    /// Returns the duration in milliseconds.
    pub fn finish(mut self) -> u64 {
        self.measure(true);
        match self.0 {
            State::Pcm { rate, bytes } => millis(bytes / 2, rate),
            State::Wav { stream, samples } => stream.rate().map_or(0, |rate| millis(samples, rate)),
            State::Compressed { total_ms, .. } => total_ms,
        }
    }

    fn measure(&mut self, is_last: bool) {
        let State::Compressed {
            kind,
            head,
            waiting,
            total_ms,
        } = &mut self.0
        else {
            return;
        };
        let end = if is_last { None } else { cut(*kind, waiting) };
        let rest = waiting.split_off(end.unwrap_or(waiting.len()));
        let part = std::mem::replace(waiting, rest);
        let whole = match head {
            Some(head) => [head.as_slice(), &part].concat(),
            none => {
                *none = Some(head_of(*kind, &part));
                part
            }
        };
        let more = duration_ms(&whole, *kind).unwrap_or_default();
        *total_ms = total_ms.saturating_add(more);
    }
}

/// Returns the start of the last frame or page. That frame or page may be incomplete.
fn cut(kind: Kind, bytes: &[u8]) -> Option<usize> {
    match kind {
        Kind::Mp3 => last_frame::<mp3::Header>(bytes),
        Kind::Aac => last_frame::<adts::Header>(bytes),
        Kind::OggOpus | Kind::Ogg => {
            let page = bytes.windows(4).rposition(|word| word == b"OggS");
            page.filter(|at| *at > 0)
        }
        Kind::Flac => {
            let mut places = (1..bytes.len()).rev();
            places.find(|at| bytes.get(*at..).is_some_and(is_flac_frame))
        }
        _ => None,
    }
}

/// Returns whether the bytes begin with the header of a frame (RFC 9639, 9.1).
fn is_flac_frame(bytes: &[u8]) -> bool {
    let Some([0xFF, 0xF8 | 0xF9, sizes, _, number]) = bytes.first_chunk() else {
        return false;
    };
    let number = narrow(u64::from(number.leading_ones().max(1)));
    let block_size = match sizes >> 4 {
        6 => 1,
        7 => 2,
        _ => 0,
    };
    let rate = match sizes & 0xF {
        12 => 1,
        13 | 14 => 2,
        _ => 0,
    };
    let length = 4 + number + block_size + rate;
    let header = bytes.get(..length).zip(bytes.get(length));
    header.is_some_and(|(header, sum)| checksum(header) == *sum)
}

/// CRC-8 with the polynomial 0x07 (RFC 9639, 9.1.8).
fn checksum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum, byte| {
        (0..8).fold(sum ^ byte, |sum: u8, _| {
            if sum & 0x80 == 0 {
                sum << 1
            } else {
                (sum << 1) ^ 0x07
            }
        })
    })
}

fn last_frame<F: Framed>(bytes: &[u8]) -> Option<usize> {
    let from = bytes.len().saturating_sub(3 * F::LONGEST);
    let mut places = from..bytes.len();
    places.find(|at| frames::stands_at::<F>(bytes, *at))
}

/// Returns the part of a file before its audio, if later parts cannot be read without it.
fn head_of(kind: Kind, bytes: &[u8]) -> Vec<u8> {
    let length = match kind {
        Kind::OggOpus | Kind::Ogg => {
            // The head ends after the header and the comment. Audio begins on a new page.
            let words = bytes.windows(4).enumerate();
            let mut pages = words.filter(|(_, word)| *word == b"OggS");
            pages.nth(2).map(|(at, _)| at)
        }
        Kind::Flac => flac_head(bytes),
        _ => None,
    };
    let head = bytes.get(..length.unwrap_or(0)).unwrap_or_default();
    if head.len() <= MAX_HEAD {
        head.to_vec()
    } else {
        Vec::new()
    }
}

/// Returns the length of the marker and the metadata blocks (RFC 9639, 8.1).
fn flac_head(bytes: &[u8]) -> Option<usize> {
    let mut at = 4;
    loop {
        let kind = bytes.get(at)?;
        at = at.checked_add(4 + narrow(big(bytes, at + 1, 3)?))?;
        if kind & 0x80 != 0 {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests;
