//! Statistics of measurements: median, maximum and percentiles; unit conversions.

use std::time::Duration;

/// Returns the value that the given share of the values does not exceed. Returns the default if there are no
/// values.
pub fn percentile<T: Copy + PartialOrd + Default>(values: &mut [T], share: f64) -> T {
    values.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a count of samples"
    )]
    let place = (values.len().saturating_sub(1) as f64 * share).round() as usize;
    values.get(place).copied().unwrap_or_default()
}

/// Returns the median of the values.
pub fn median<T: Copy + PartialOrd + Default>(values: &mut [T]) -> T {
    percentile(values, 0.5)
}

/// Returns the maximum of the durations.
pub fn greatest(values: &[Duration]) -> Duration {
    values.iter().copied().max().unwrap_or_default()
}

/// Converts to microseconds.
pub fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

/// Converts to milliseconds.
pub fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// Converts to mebibytes.
#[expect(clippy::cast_precision_loss, reason = "shown with one digit")]
pub fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / (1024.0 * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let mut values = [5, 1, 4, 2, 3];
        assert_eq!(median(&mut values), 3);
        assert_eq!(percentile(&mut values, 0.99), 5);
        assert_eq!(percentile(&mut values, 0.0), 1);
        assert_eq!(median::<u64>(&mut []), 0);
    }
}
