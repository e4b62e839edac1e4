//! The low-pass filter of a change of rate: its coefficients, and how they are applied. It knows no streams.
//!
//! A sample at the new rate is a sum of the old samples around its moment, weighted by a sinc that a window
//! ends after some zero crossings (J. O. Smith, "Digital Audio Resampling"). The window is Kaiser's.

use crate::sample::narrow;

/// Zero crossings of the sinc on either side. More cut off more sharply.
const CROSSINGS: f64 = 48.0;
/// Kaiser's parameter: with 9, what is cut off is 90 dB weaker.
const BETA: f64 = 9.0;
/// The middle of the slope, as a part of the lower rate's half. With the values above the slope ends at the
/// half, so that nothing folds back, and begins at nine tenths of it.
const CUTOFF: f64 = 0.94;
/// The most coefficients of a ratio each of whose moments gets its own: half a megabyte. A ratio that needs
/// more, as 44,101 to 16,000, has fewer moments and takes what is between two of them.
const MOST_COEFFICIENTS: u64 = 1 << 17;
/// Moments for such a ratio, from one zero crossing to the next. Straight lines between 512 points of a sinc
/// are 106 dB right.
const LINES: f64 = 512.0;
/// What is multiplied at once.
const LANES: usize = 8;

/// Coefficients for two rates.
pub(super) struct Filter {
    /// Old samples on either side of a moment.
    pub(super) half: usize,
    /// Moments between two old samples.
    phases: u32,
    /// The new rate: what a part of an old sample is counted in.
    to: u32,
    /// `2 * half` for each phase, and for one more: the next old sample's moment.
    coefficients: Vec<f32>,
}

impl Filter {
    pub(super) fn new(from: u32, to: u32) -> Self {
        let ratio = f64::from(to) / f64::from(from);
        let width = CUTOFF * ratio.min(1.0);
        let exact = to / common_divisor(from, to).max(1);
        // A multiple of half the lanes, so that the whole is one of the lanes.
        let half = whole(CROSSINGS / width).next_multiple_of(4);
        let fits = u64::from(exact) * u64::from(2 * half) <= MOST_COEFFICIENTS;
        let phases = if fits { exact } else { whole(LINES * width) };
        let mut coefficients = Vec::new();
        for phase in 0..=phases {
            coefficients.extend(row(f64::from(phase) / f64::from(phases), half, width));
        }
        Self {
            half: narrow(u64::from(half)),
            phases,
            to,
            coefficients,
        }
    }

    /// Old samples that one new sample is made of.
    pub(super) fn taps(&self) -> usize {
        2 * self.half
    }

    /// The sample at `part` (of the new rate) behind the middle of `around`, which are [`Self::taps`] samples.
    pub(super) fn at(&self, part: u32, around: &[f32]) -> f32 {
        let place = u64::from(part) * u64::from(self.phases);
        let phase = narrow(place / u64::from(self.to.max(1)));
        let between = u32::try_from(place % u64::from(self.to.max(1))).unwrap_or(0);
        let here = self.dot(phase, around);
        if between == 0 {
            return here;
        }
        let weight = single(f64::from(between) / f64::from(self.to));
        here + (self.dot(phase + 1, around) - here) * weight
    }

    fn dot(&self, phase: usize, around: &[f32]) -> f32 {
        let start = phase * self.taps();
        let row = self
            .coefficients
            .get(start..start + self.taps())
            .unwrap_or_default();
        let (row, _) = row.as_chunks::<LANES>();
        let (around, _) = around.as_chunks::<LANES>();
        let mut sums = [0.0_f32; LANES];
        for (coefficients, samples) in row.iter().zip(around) {
            for ((sum, coefficient), sample) in sums.iter_mut().zip(coefficients).zip(samples) {
                *sum += coefficient * sample;
            }
        }
        sums.iter().sum()
    }
}

/// The coefficients for a moment `fraction` behind an old sample. Together they are 1, so that a level is kept.
fn row(fraction: f64, half: u32, width: f64) -> Vec<f32> {
    let reach = f64::from(half);
    let weights: Vec<f64> = (0..2 * half)
        .map(|tap| {
            let distance = f64::from(tap) - (reach - 1.0) - fraction;
            sinc(distance * width) * kaiser(distance / reach)
        })
        .collect();
    let sum: f64 = weights.iter().sum();
    weights
        .into_iter()
        .map(|weight| single(weight / sum))
        .collect()
}

fn sinc(x: f64) -> f64 {
    if x.abs() < 1e-9 {
        return 1.0;
    }
    let angle = x * std::f64::consts::PI;
    angle.sin() / angle
}

/// Kaiser's window, `x` from -1 to 1.
fn kaiser(x: f64) -> f64 {
    let inside = (1.0 - x * x).max(0.0).sqrt();
    bessel(BETA * inside) / bessel(BETA)
}

/// The modified Bessel function of the first kind, of order 0, by its series.
fn bessel(x: f64) -> f64 {
    let quarter = x * x / 4.0;
    let (mut sum, mut term) = (1.0, 1.0);
    for k in 1..40 {
        let k = f64::from(k);
        term *= quarter / (k * k);
        sum += term;
        if term < sum * 1e-12 {
            break;
        }
    }
    sum
}

fn common_divisor(a: u32, b: u32) -> u32 {
    let (mut divisor, mut rest) = (a, b);
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    divisor
}

/// The next whole number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 1 and 48 crossings of 384 samples each, over 0.94"
)]
fn whole(x: f64) -> u32 {
    x.ceil() as u32
}

/// The nearest number of 32 bits.
#[expect(
    clippy::cast_possible_truncation,
    reason = "to be rounded is what it is for"
)]
fn single(x: f64) -> f32 {
    x as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Resampler;

    /// What is not the tone in a tone that was resampled, against the tone, in decibels.
    fn noise(from: u32, to: u32, hertz: f64) -> f64 {
        let tone = |rate: u32, at: u32| {
            let turns = hertz * f64::from(at) / f64::from(rate);
            24_000.0 * (turns * std::f64::consts::TAU).sin()
        };
        let source: Vec<i16> = (0..from)
            .map(|at| crate::sample::clip(single(tone(from, at))))
            .collect();
        let mut resampler = Resampler::new(from, to).unwrap();
        let mut heard = resampler.push(&source).unwrap();
        heard.extend(resampler.finish().unwrap());
        let edge = to / 10;
        let (mut wrong, mut right) = (0.0, 0.0);
        for at in edge..to - edge {
            let due = tone(to, at);
            let is = f64::from(heard[usize::try_from(at).unwrap()]);
            wrong += (is - due).powi(2);
            right += due * due;
        }
        10.0 * (wrong / right).log10()
    }

    #[test]
    fn tones_are_clean() {
        // 16 bits allow -93 dB at this level, the source's own rounding counted.
        for (from, to) in [
            (24_000, 48_000),
            (22_050, 48_000),
            (44_100, 48_000),
            (11_025, 22_050),
            (16_000, 24_000),
            (48_000, 24_000),
            (44_100, 16_000),
            (44_101, 16_000),
        ] {
            for part in [0.01, 0.1, 0.5, 0.85] {
                let hertz = part * f64::from(from.min(to)) / 2.0;
                let noise = noise(from, to, hertz);
                assert!(noise < -80.0, "{from} to {to}, {hertz} Hz: {noise} dB");
            }
        }
    }

    #[test]
    fn a_level_is_kept_exactly() {
        for (from, to) in [(22_050, 48_000), (44_101, 16_000), (48_000, 8_000)] {
            let mut resampler = Resampler::new(from, to).unwrap();
            let heard = resampler.push(&vec![12_345; 20_000]).unwrap();
            let settled = &heard[500..];
            assert!(settled.len() > 1_000);
            assert!(settled.iter().all(|sample| *sample == 12_345));
        }
    }

    #[test]
    fn no_ratio_takes_much_memory() {
        for from in [1_000, 8_000, 22_050, 44_101, 192_000, 383_999, 384_000] {
            for to in [1_000, 11_025, 16_000, 48_000, 383_999] {
                let count = Filter::new(from, to).coefficients.len();
                assert!(count < 160_000, "{from} to {to}: {count}");
            }
        }
    }

    #[test]
    fn sound_is_ready_after_seven_milliseconds() {
        for (from, to) in [(8_000, 24_000), (22_050, 48_000), (48_000, 16_000)] {
            let mut resampler = Resampler::new(from, to).unwrap();
            let pushed = usize::try_from(from * 7 / 1_000).unwrap();
            assert!(!resampler.push(&vec![1; pushed]).unwrap().is_empty());
        }
    }
}
