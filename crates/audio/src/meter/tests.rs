//! Tests of the parent module.

use super::*;
use crate::{Format, Sound, encode};

/// Noise, which formats do not compress to nothing.
fn noise(seconds: usize) -> Sound {
    let mut state = 1_u32;
    let samples = (0..seconds * 24_000).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 18).to_le_bytes()
    });
    let samples = samples.map(|[low, high, ..]| i16::from_le_bytes([low, high]) / 2);
    Sound {
        rate: 24_000,
        samples: samples.collect(),
    }
}

fn measured(bytes: &[u8], kind: Kind, piece: usize) -> u64 {
    let mut meter = Meter::new(kind);
    for piece in bytes.chunks(piece) {
        meter.push(piece);
    }
    meter.finish()
}

#[test]
fn a_long_sound_in_pieces_lasts_as_long_as_a_whole_one() {
    let sound = noise(200);
    for format in [
        Format::Pcm,
        Format::Wav,
        Format::Opus,
        Format::Flac,
        #[cfg(feature = "mp3")]
        Format::Mp3,
    ] {
        let bytes = encode(&sound, format).unwrap();
        assert!(bytes.len() > BATCH, "{format:?}: {}", bytes.len());
        let whole = duration_ms(&bytes, format.kind()).unwrap();
        for piece in [1000, 4096, bytes.len()] {
            let parts = measured(&bytes, format.kind(), piece);
            assert!(
                whole.abs_diff(parts) <= 400,
                "{format:?} in {piece}: {whole} {parts}"
            );
        }
    }
}

#[test]
fn a_short_sound_and_none_are_measured_exactly() {
    for format in [Format::Pcm, Format::Wav, Format::Opus, Format::Flac] {
        let bytes = encode(&noise(1), format).unwrap();
        let whole = duration_ms(&bytes, format.kind()).unwrap();
        assert_eq!(measured(&bytes, format.kind(), 333), whole, "{format:?}");
        assert_eq!(measured(b"", format.kind(), 1), 0);
        assert_eq!(
            measured(b"<html>", format.kind(), 1).min(1),
            0,
            "{format:?}"
        );
    }
}
