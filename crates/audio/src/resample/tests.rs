//! Tests that a resampled tone keeps its frequency, duration and position.

use super::*;

const LOUD: f64 = 12_000.0;

#[expect(clippy::cast_possible_truncation, reason = "samples within 16 bits")]
fn tone(rate: u32, hertz: f64, samples: u32) -> Vec<i16> {
    (0..samples)
        .map(|i| {
            let angle = std::f64::consts::TAU * hertz * f64::from(i) / f64::from(rate);
            (angle.sin() * LOUD) as i16
        })
        .collect()
}

fn through(from: u32, to: u32, samples: &[i16], piece: usize) -> Vec<i16> {
    let mut resampler = Resampler::new(from, to).unwrap();
    let mut out = Vec::new();
    for piece in samples.chunks(piece) {
        out.extend(resampler.push(piece).unwrap());
    }
    out.extend(resampler.finish().unwrap());
    out
}

#[test]
fn a_tone_keeps_its_length_its_pitch_and_its_place() {
    for (from, to) in [
        (48_000, 16_000),
        (44_100, 16_000),
        (22_050, 16_000),
        (16_000, 48_000),
        (24_000, 48_000),
        (8_000, 24_000),
        (11_025, 24_000),
        (44_101, 16_000),
        (16_000, 16_000),
        (96_000, 8_000),
    ] {
        let source = tone(from, 440.0, from * 3 / 2);
        let out = through(from, to, &source, 777);
        let wanted = tone(to, 440.0, to * 3 / 2);
        let difference = out.len().abs_diff(wanted.len());
        assert!(difference <= 1, "{from} to {to}: {difference} samples off");
        // A tone with a sudden start rings at the edges. Between them it matches to 1 %.
        let edge = usize::try_from(to / 10).unwrap();
        let worst = out[edge..out.len() - edge]
            .iter()
            .zip(&wanted[edge..])
            .map(|(out, wanted)| (i32::from(*out) - i32::from(*wanted)).abs())
            .max()
            .unwrap();
        assert!(worst <= 120, "{from} to {to}: off by {worst}");
    }
}

#[test]
fn what_the_lower_rate_cannot_hold_is_gone() {
    let source = tone(48_000, 12_000.0, 48_000);
    let out = through(48_000, 16_000, &source, 4_800);
    let loudest = out[2_000..14_000]
        .iter()
        .map(|s| s.unsigned_abs())
        .max()
        .unwrap();
    assert!(loudest < 30, "{loudest}");
}

#[test]
fn full_scale_is_clipped_and_does_not_wrap() {
    let mut source = Vec::new();
    for i in 0..4_800 {
        source.push(if (i / 24) % 2 == 0 {
            i16::MAX
        } else {
            i16::MIN
        });
    }
    let out = through(24_000, 48_000, &source, 1_000);
    // In the middle of each plateau, the sign equals the sign of the source.
    for (i, wanted) in source.iter().enumerate().filter(|(i, _)| i % 24 == 12) {
        assert_eq!(out[2 * i] > 0, *wanted > 0, "at {i}");
    }
}

#[test]
fn pieces_of_any_size_give_the_same() {
    let source = tone(44_100, 1_000.0, 10_000);
    let whole = through(44_100, 16_000, &source, source.len());
    for piece in [1, 7, 1_323, 5_000] {
        assert_eq!(through(44_100, 16_000, &source, piece), whole);
    }
}

#[test]
fn little_or_nothing_is_no_trouble() {
    assert!(through(48_000, 16_000, &[], 1).is_empty());
    assert_eq!(through(48_000, 16_000, &[100; 3], 1).len(), 1);
    assert_eq!(through(16_000, 48_000, &[100], 1).len(), 3);
}

#[test]
fn rates_have_limits() {
    for (from, to, fits) in [
        (1_000, 16_000, true),
        (999, 16_000, false),
        (384_000, 16_000, true),
        (384_001, 16_000, false),
        (16_000, 0, false),
        (0, 16_000, false),
    ] {
        assert_eq!(Resampler::new(from, to).is_ok(), fits, "{from} to {to}");
    }
    assert_eq!(through(1_000, 384_000, &[5; 100], 10).len(), 38_400);
    assert_eq!(through(384_000, 1_000, &vec![5; 38_400], 1_000).len(), 100);
}

#[test]
fn the_first_samples_come_after_two_blocks() {
    for (from, to) in [(24_000, 48_000), (16_000, 48_000), (22_050, 24_000)] {
        let mut resampler = Resampler::new(from, to).unwrap();
        let taken = (1..=2 * BLOCK).find(|_| !resampler.push(&[1_000]).unwrap().is_empty());
        assert!(taken.is_some(), "{from} to {to}");
    }
}

#[test]
#[ignore = "prints how fast rates are converted; only worth something in a release build"]
fn speed() {
    for (from, to) in [
        (48_000, 16_000),
        (24_000, 48_000),
        (44_100, 16_000),
        (384_000, 1_000),
    ] {
        let source = tone(from, 440.0, from * 20);
        let clock = std::time::Instant::now();
        let made = Resampler::new(from, to).is_ok();
        let new = clock.elapsed();
        let clock = std::time::Instant::now();
        let out = through(from, to, &source, 4_800).len();
        eprintln!(
            "{from} to {to}: {made} {new:?} to make, 20 s in {:?}, {out}",
            clock.elapsed()
        );
    }
}
