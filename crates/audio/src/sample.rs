//! Converts samples between numeric representations.

/// The lowest accepted sample rate. Speech needs a higher rate, and a short file at a lower rate would last for days.
pub(crate) const MIN_RATE: u32 = 1_000;
/// The highest accepted sample rate, which is the highest rate of studio equipment. It bounds the memory of one second.
pub(crate) const MAX_RATE: u32 = 384_000;

/// Returns whether the sample rate is in the accepted range.
pub(crate) const fn is_rate(rate: u32) -> bool {
    rate >= MIN_RATE && rate <= MAX_RATE
}

/// Rounds to the nearest 16-bit sample. Clips at full scale; NaN becomes silence.
#[expect(
    clippy::cast_possible_truncation,
    reason = "clamped to the range above; NaN becomes 0"
)]
pub(crate) fn clip(sample: f32) -> i16 {
    sample
        .round()
        .clamp(f32::from(i16::MIN), f32::from(i16::MAX)) as i16
}

/// Converts a sample with full scale 1.0 to 16 bits.
pub(crate) fn from_unit(sample: f32) -> i16 {
    clip(sample * 32_768.0)
}

/// Returns `value * numerator / denominator`, rounded to the nearest, without overflow. Returns 0 if `denominator` is
/// 0.
pub(crate) fn scale(value: u64, numerator: u64, denominator: u64) -> u64 {
    if denominator == 0 {
        return 0;
    }
    let product = u128::from(value) * u128::from(numerator) + u128::from(denominator / 2);
    u64::try_from(product / u128::from(denominator)).unwrap_or(u64::MAX)
}

/// Duration of this many samples, in milliseconds.
pub(crate) fn millis(samples: u64, rate: u32) -> u64 {
    scale(samples, 1000, u64::from(rate))
}

/// Converts a length to `u64`.
pub(crate) fn wide(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// Converts a length to `usize`, saturating.
pub(crate) fn narrow(length: u64) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX)
}
