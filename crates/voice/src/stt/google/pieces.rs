//! Splits a recording into pieces that Google accepts. Pieces are short enough, and cuts are at quiet positions. The
//! input is WAV with 16-bit mono samples.
//!
//! RIFF WAVE: <https://www.mmsp.ece.mcgill.ca/Documents/AudioFormats/WAVE/WAVE.html>.

use bytes::{Buf, Bytes};
use std::ops::Range;

/// The longest piece. Google accepts "about one minute".
const MAX_SECONDS: usize = 55;
/// The search for a quiet position covers this many seconds before the limit.
const SEARCH_SECONDS: usize = 10;
/// Frames per second whose loudness is compared: 20 milliseconds each.
const FRAMES_A_SECOND: usize = 50;
/// The sample rates that Google accepts.
const RATES: std::ops::RangeInclusive<u32> = 8_000..=48_000;
const BYTES_A_SAMPLE: usize = 2;

/// A recording.
#[derive(Debug)]
pub(super) struct Pieces {
    /// Samples per second.
    pub(super) rate: u32,
    /// The total duration.
    pub(super) seconds: f64,
    pub(super) all: Vec<Piece>,
}

/// A part of a recording.
#[derive(Debug)]
pub(super) struct Piece {
    /// The start, in seconds.
    pub(super) start: f64,
    /// Raw signed 16-bit little-endian samples.
    pub(super) samples: Bytes,
}

/// Returns the pieces of a 16-bit mono WAV file, or `None` for anything else. A file without samples has no pieces.
pub(super) fn of_wav(wav: &Bytes) -> Option<Pieces> {
    let (rate, samples) = samples(wav)?;
    let per_second = usize::try_from(rate).ok()?;
    let seconds = |bytes: usize| {
        let samples = u32::try_from(bytes / BYTES_A_SAMPLE).unwrap_or(u32::MAX);
        f64::from(samples) / f64::from(rate)
    };
    let pieces = cut(&samples, per_second).into_iter().map(|range| Piece {
        start: seconds(range.start),
        samples: samples.slice(range),
    });
    Some(Pieces {
        rate,
        seconds: seconds(samples.len()),
        all: pieces.collect(),
    })
}

/// Returns the sample rate and the samples of a WAV file.
fn samples(wav: &Bytes) -> Option<(u32, Bytes)> {
    let mut rest = wav.clone();
    if rest.len() < 12 || !rest.starts_with(b"RIFF") || rest.get(8..12)? != b"WAVE" {
        return None;
    }
    rest.advance(12);
    let mut rate = None;
    while rest.len() >= 8 {
        let mut header = rest.split_to(8);
        let name = header.split_to(4);
        let size = usize::try_from(header.get_u32_le()).ok()?;
        // A recorder that writes to a pipe does not know the size. It writes 0 or all ones.
        let is_open = size > rest.len();
        let mut chunk = rest.split_to(size.min(rest.len()));
        match name.as_ref() {
            b"fmt " => rate = Some(mono_rate(chunk)?),
            b"data" => {
                chunk.truncate(chunk.len() / BYTES_A_SAMPLE * BYTES_A_SAMPLE);
                return Some((rate?, chunk));
            }
            _ if is_open => return None,
            _ => rest.advance((size % 2).min(rest.len())),
        }
    }
    None
}

/// Returns the sample rate of a 16-bit linear mono format.
fn mono_rate(mut format: Bytes) -> Option<u32> {
    const LINEAR: u16 = 1;
    const EXTENSIBLE: u16 = 0xFFFE;
    if format.len() < 16 {
        return None;
    }
    let inner = format.get(24..26).map(|mut tag| tag.get_u16_le());
    let tag = match format.get_u16_le() {
        EXTENSIBLE => inner?,
        tag => tag,
    };
    let channels = format.get_u16_le();
    let rate = format.get_u32_le();
    format.advance(6);
    let bits = format.get_u16_le();
    let fits = tag == LINEAR && channels == 1 && bits == 16 && RATES.contains(&rate);
    fits.then_some(rate)
}

/// Returns the byte ranges of the pieces.
fn cut(samples: &Bytes, rate: usize) -> Vec<Range<usize>> {
    let most = MAX_SECONDS * rate * BYTES_A_SAMPLE;
    let search = SEARCH_SECONDS * rate * BYTES_A_SAMPLE;
    let mut pieces = Vec::new();
    let mut start = 0;
    while samples.len() - start > most {
        let from = start + most - search;
        let end = from + quietest(samples.get(from..start + most).unwrap_or_default(), rate);
        pieces.push(start..end);
        start = end;
    }
    if start < samples.len() {
        pieces.push(start..samples.len());
    }
    pieces
}

/// Returns the middle of the quietest frame, in bytes. If several frames are equally quiet, the
/// last one is used, because it makes the pieces longer.
fn quietest(samples: &[u8], rate: usize) -> usize {
    let frame = (rate / FRAMES_A_SECOND).max(1) * BYTES_A_SAMPLE;
    let loudness = |frame: &[u8]| -> u64 {
        let samples = frame.chunks_exact(BYTES_A_SAMPLE);
        let samples = samples.map(|mut sample| sample.get_i16_le());
        samples.map(|sample| u64::from(sample.unsigned_abs())).sum()
    };
    let frames = samples.chunks_exact(frame).map(loudness).enumerate();
    let quietest = frames.min_by_key(|(index, loudness)| (*loudness, usize::MAX - index));
    let (index, _) = quietest.unwrap_or_default();
    index * frame + frame / (2 * BYTES_A_SAMPLE) * BYTES_A_SAMPLE
}

#[cfg(test)]
mod tests;
