#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "tones are computed as floats, and fit in 16 bits"
)]

use proptest::prelude::*;

use super::*;

/// Returns a sine of `hertz` that begins at sample `start`.
fn sine(rate: u32, hertz: f64, start: usize, count: usize) -> Sound {
    let samples = (start..start + count)
        .map(|at| {
            let turns = hertz * at as f64 / f64::from(rate);
            (20_000.0 * (turns * std::f64::consts::TAU).sin()).round() as i16
        })
        .collect();
    Sound { rate, samples }
}

fn flat(rate: u32, level: i16, count: usize) -> Sound {
    Sound {
        rate,
        samples: vec![level; count],
    }
}

/// Returns the largest step between adjacent samples.
fn steepest(samples: &[i16]) -> i32 {
    samples
        .windows(2)
        .map(|pair| (i32::from(pair[1]) - i32::from(pair[0])).abs())
        .max()
        .unwrap_or(0)
}

#[test]
fn a_sound_in_two_halves_is_the_sound() {
    let whole = sine(24_000, 440.0, 0, 24_000);
    let parts = vec![
        sine(24_000, 440.0, 0, 10_007),
        sine(24_000, 440.0, 10_007, 13_993),
    ];
    assert_eq!(join(parts).unwrap(), whole);
}

#[test]
fn a_step_is_spread_and_ends() {
    let joined = join(vec![flat(24_000, 10_000, 500), flat(24_000, -10_000, 500)]).unwrap();
    assert_eq!(joined.samples.len(), 1_000);
    // The step of 20,000 is spread over 120 samples and is not larger anywhere.
    assert!(steepest(&joined.samples) <= 20_000 / 120 + 1);
    assert!(joined.samples[..500].iter().all(|sample| *sample == 10_000));
    assert!(
        joined.samples[620..]
            .iter()
            .all(|sample| *sample == -10_000)
    );
}

#[test]
fn the_smallest_audible_step_and_one_below() {
    let level = i16::try_from(STEP).unwrap();
    let below = join(vec![flat(8_000, 0, 10), flat(8_000, level, 100)]).unwrap();
    assert_eq!(below.samples[10], level);
    let above = join(vec![flat(8_000, 0, 10), flat(8_000, level + 1, 100)]).unwrap();
    assert_eq!(above.samples[10], 0);
}

#[test]
fn the_loudest_step_stays_in_range() {
    let joined = join(vec![
        flat(48_000, i16::MAX, 3),
        flat(48_000, i16::MIN, 1_000),
    ])
    .unwrap();
    assert!(steepest(&joined.samples) < 400);
}

#[test]
fn other_rates_become_the_first() {
    let joined = join(vec![
        sine(24_000, 440.0, 0, 24_000),
        sine(22_050, 440.0, 0, 22_050),
        sine(48_000, 440.0, 0, 24_000),
    ])
    .unwrap();
    assert_eq!(joined.rate, 24_000);
    assert_eq!(joined.samples.len(), 24_000 + 24_000 + 12_000);
    // A sine of this level changes by at most 2,304 per sample.
    assert!(steepest(&joined.samples) < 2_500);
}

#[test]
fn nothing_and_nothing_in_it() {
    assert_eq!(join(Vec::new()), Err(AudioError::Empty));
    let empty = join(vec![flat(24_000, 0, 0)]).unwrap();
    assert_eq!((empty.rate, empty.samples.len()), (24_000, 0));
    let one = join(vec![
        flat(24_000, 0, 0),
        flat(24_000, 9_000, 2),
        flat(24_000, 0, 0),
    ])
    .unwrap();
    assert_eq!(one.samples, [9_000, 9_000]);
    let none = join(vec![flat(24_000, 0, 1), flat(0, 0, 1)]);
    assert_eq!(none, Err(AudioError::Unreadable));
}

#[test]
fn the_first_is_not_copied_when_it_has_room() {
    let mut first = flat(24_000, 5, 100);
    first.samples.reserve(1_000);
    let place = first.samples.as_ptr();
    let joined = join(vec![first, flat(24_000, 5, 100)]).unwrap();
    assert_eq!(joined.samples.as_ptr(), place);
}

proptest! {
    #[test]
    fn no_sample_is_lost(lengths in prop::collection::vec((0_usize..3_000, 0_usize..4), 1..5)) {
        let rates = [24_000_u32, 16_000, 22_050, 48_000];
        let parts: Vec<Sound> = lengths
            .iter()
            .map(|(length, rate)| sine(rates[*rate], 300.0, 0, *length))
            .collect();
        let rate = parts[0].rate;
        let due: u64 = parts
            .iter()
            .map(|part| scale(wide(part.samples.len()), u64::from(rate), u64::from(part.rate)))
            .sum();
        let joined = join(parts).unwrap();
        prop_assert_eq!(joined.rate, rate);
        prop_assert_eq!(wide(joined.samples.len()), due);
    }
}
