//! Tests of the parent module. `encode/tests.rs` contains the tests of all formats.

use proptest::prelude::*;

use super::*;
use crate::{Format, Kind, Sound, decode, encode};

fn is_kept(samples: Vec<i16>) -> usize {
    let sound = Sound {
        rate: 8_000,
        samples,
    };
    let bytes = encode(&sound, Format::Flac).unwrap();
    assert!(decode(&bytes, Kind::Flac, 10_000).unwrap() == sound);
    bytes.len()
}

#[test]
fn silence_is_short_and_noise_is_not_longer_than_its_samples() {
    let frames = 10;
    assert!(is_kept(vec![0; 8_000]) < 42 + 16 * frames);
    assert!(is_kept(vec![-7; 8_000]) < 42 + 16 * frames);
    let mut state = 1_u32;
    let noise = (0..8_000).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let [high, low, ..] = state.to_be_bytes();
        i16::from_be_bytes([high, low])
    });
    assert!(is_kept(noise.collect()) < 42 + 16_000 + 16 * frames);
    // The largest differences of every order.
    let square = (0..8_000).map(|at| if at % 2 == 0 { i16::MIN } else { i16::MAX });
    is_kept(square.collect());
    for length in 1..40 {
        is_kept((0..length).collect());
    }
}

/// RFC 9639, table 18.
#[test]
fn numbers_of_frames_grow_from_one_byte_to_six() {
    for (number, bytes) in [
        (0, vec![0x00]),
        (0x7F, vec![0x7F]),
        (0x80, vec![0xC2, 0x80]),
        (0x7FF, vec![0xDF, 0xBF]),
        (0x800, vec![0xE0, 0xA0, 0x80]),
        (0xFFFF, vec![0xEF, 0xBF, 0xBF]),
        (0x1_0000, vec![0xF0, 0x90, 0x80, 0x80]),
        (0x1F_FFFF, vec![0xF7, 0xBF, 0xBF, 0xBF]),
        (0x20_0000, vec![0xF8, 0x88, 0x80, 0x80, 0x80]),
        (0x3FF_FFFF, vec![0xFB, 0xBF, 0xBF, 0xBF, 0xBF]),
        (0x400_0000, vec![0xFC, 0x84, 0x80, 0x80, 0x80, 0x80]),
        (0x7FFF_FFFF, vec![0xFD, 0xBF, 0xBF, 0xBF, 0xBF, 0xBF]),
    ] {
        assert_eq!(coded_number(number), bytes, "{number:#x}");
    }
}

/// The check values of CRC-8/SMBUS and CRC-16/UMTS.
#[test]
fn checksums() {
    assert_eq!(crc8(b"123456789"), 0xF4);
    assert_eq!(crc16(b"123456789"), 0xFEE8);
}

#[test]
fn a_whole_sound_declares_its_length() {
    let samples = |bytes: &[u8]| {
        let number = bytes.get(18..26).unwrap().first_chunk().unwrap();
        u64::from_be_bytes(*number) & MAX_SAMPLES
    };
    assert_eq!(samples(&header(24_000, 2_400, 1_234)), 1_234);
    assert_eq!(samples(&FlacEncode::new(24_000, Some(1_234)).header), 1_234);
    assert_eq!(samples(&FlacEncode::new(24_000, None).header), 0);
    let most = usize::try_from(MAX_SAMPLES).unwrap();
    assert_eq!(
        samples(&FlacEncode::new(24_000, Some(most)).header),
        MAX_SAMPLES
    );
    assert_eq!(samples(&FlacEncode::new(24_000, Some(most + 1)).header), 0);
}

proptest! {
    #[test]
    fn every_sample_is_kept(
        samples in prop::collection::vec(any::<i16>(), 1..3_000),
        quiet in 0_u32..16,
    ) {
        is_kept(samples.iter().map(|sample| sample >> quiet).collect());
    }
}
