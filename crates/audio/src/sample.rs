//! Numbers that stand for samples: from one representation to another. It knows no container and no codec.

/// The fewest samples a second that are taken. Below it nothing is speech, and a short file would last for days.
pub(crate) const MIN_RATE: u32 = 1_000;
/// The most samples a second that are taken: what studio equipment writes at most. It bounds the memory
/// that a second takes.
pub(crate) const MAX_RATE: u32 = 384_000;

/// Whether sounds of this many samples a second are taken.
pub(crate) const fn is_rate(rate: u32) -> bool {
    rate >= MIN_RATE && rate <= MAX_RATE
}

/// The nearest 16-bit sample; what is louder than full scale is clipped, what is no number is silence.
#[expect(
    clippy::cast_possible_truncation,
    reason = "clamped to the range just before; a float that is no number becomes 0"
)]
pub(crate) fn clip(sample: f32) -> i16 {
    sample
        .round()
        .clamp(f32::from(i16::MIN), f32::from(i16::MAX)) as i16
}

/// A 16-bit sample of one whose full scale is 1.0.
pub(crate) fn from_unit(sample: f32) -> i16 {
    clip(sample * 32_768.0)
}

/// `value * numerator / denominator`, to the nearest, without overflow; 0 when `denominator` is 0.
pub(crate) fn scale(value: u64, numerator: u64, denominator: u64) -> u64 {
    if denominator == 0 {
        return 0;
    }
    let product = u128::from(value) * u128::from(numerator) + u128::from(denominator / 2);
    u64::try_from(product / u128::from(denominator)).unwrap_or(u64::MAX)
}

/// How long this many samples last, in milliseconds.
pub(crate) fn millis(samples: u64, rate: u32) -> u64 {
    scale(samples, 1000, u64::from(rate))
}

/// A length as a 64-bit number.
pub(crate) fn wide(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// A length as this machine counts; what is longer than memory can hold is the longest.
pub(crate) fn narrow(length: u64) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX)
}
