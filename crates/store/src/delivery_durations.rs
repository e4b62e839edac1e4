//! The durations of deliveries, as a sum and a histogram. The counters of [`crate::delivery_counts`] have a column
//! for each bucket. The sums of the columns over hours and webhooks give a mean and percentiles.

use crate::StoreError;
use crate::sql::{Row, Value};

/// The number of buckets.
pub const DURATION_BUCKETS: usize = 19;

/// The number of low bits of a duration that the first bucket ignores. The bucket ends at 4 ms.
const FIRST_BITS: u32 = 2;

/// Durations of deliveries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Durations {
    /// The sum, in milliseconds.
    pub total_ms: i64,
    /// The number of deliveries in each bucket: see [`Self::end_ms`].
    pub buckets: [i64; DURATION_BUCKETS],
}

impl Durations {
    /// Returns the end of a bucket, exclusive: 4 ms, 8 ms and so on by powers of two. Returns `None` for the last
    /// bucket.
    pub fn end_ms(bucket: usize) -> Option<i64> {
        let bits = u32::try_from(bucket).ok()?.checked_add(FIRST_BITS)?;
        (bucket + 1 < DURATION_BUCKETS).then(|| 1_i64.checked_shl(bits))?
    }

    /// Adds one duration. A negative duration, after the clock was set back, counts as 0.
    pub(crate) fn add(&mut self, duration_ms: i64) {
        let ms = duration_ms.max(0);
        self.total_ms = self.total_ms.saturating_add(ms);
        let bits = (i64::BITS - ms.leading_zeros()).saturating_sub(FIRST_BITS);
        let place =
            usize::try_from(bits).map_or(DURATION_BUCKETS - 1, |it| it.min(DURATION_BUCKETS - 1));
        if let Some(bucket) = self.buckets.get_mut(place) {
            *bucket += 1;
        }
    }

    /// Adds the durations of another value.
    pub fn merge(&mut self, other: &Self) {
        self.total_ms = self.total_ms.saturating_add(other.total_ms);
        for (own, more) in self.buckets.iter_mut().zip(other.buckets) {
            *own = own.saturating_add(more);
        }
    }

    /// Returns the number of durations.
    pub fn count(&self) -> i64 {
        self.buckets.iter().sum()
    }

    /// Returns the rounded mean; `None` without durations.
    pub fn mean_ms(&self) -> Option<i64> {
        let count = self.count();
        self.total_ms.saturating_add(count / 2).checked_div(count)
    }

    /// Returns the approximate duration that `percent` of the deliveries did not exceed. Interpolates linearly
    /// within a bucket. For the last bucket, returns its start. Returns `None` without durations.
    pub fn percentile_ms(&self, percent: i64) -> Option<i64> {
        let count = self.count();
        if count == 0 {
            return None;
        }
        let rank = (count.saturating_mul(percent).saturating_add(99) / 100).max(1);
        let mut before = 0_i64;
        let mut begin = 0;
        for (place, here) in self.buckets.iter().enumerate() {
            let Some(end) = Self::end_ms(place) else {
                break;
            };
            if before + here >= rank {
                let part = (end - begin).saturating_mul(rank - before);
                return Some(begin + part.checked_div(*here).unwrap_or(0));
            }
            before += here;
            begin = end;
        }
        Some(begin)
    }

    pub(crate) fn values(&self) -> Vec<Value<'static>> {
        let numbers = std::iter::once(self.total_ms).chain(self.buckets);
        numbers.map(Value::from).collect()
    }

    /// Reads the columns of [`columns`], starting at column `first`.
    pub(crate) fn from_row(row: &Row<'_>, first: usize) -> Result<Self, StoreError> {
        let mut durations = Self {
            total_ms: row.try_get(first)?,
            ..Self::default()
        };
        for (place, bucket) in durations.buckets.iter_mut().enumerate() {
            *bucket = row.try_get(first + 1 + place)?;
        }
        Ok(durations)
    }
}

/// Returns the names of the columns.
pub(crate) fn columns() -> Vec<String> {
    let buckets = (0..DURATION_BUCKETS).map(|place| format!("took_{place:02}"));
    std::iter::once("took_ms".to_owned())
        .chain(buckets)
        .collect()
}

/// Returns the expressions that compute [`columns`] from rows of deliveries.
pub(crate) fn of_rows() -> String {
    const TOOK: &str =
        "(CASE WHEN finished_at > started_at THEN finished_at - started_at ELSE 0 END)";
    let mut results = vec![format!(
        "CAST(SUM(CASE WHEN finished_at IS NULL OR started_at IS NULL THEN 0 ELSE {TOOK} END) AS BIGINT)"
    )];
    let mut begin = 0;
    for place in 0..DURATION_BUCKETS {
        let end = Durations::end_ms(place).unwrap_or(i64::MAX);
        results.push(format!(
            "CAST(SUM(CASE WHEN finished_at IS NOT NULL AND started_at IS NOT NULL AND {TOOK} >= {begin}
                 AND {TOOK} < {end} THEN 1 ELSE 0 END) AS BIGINT)"
        ));
        begin = end;
    }
    results.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(durations: &[i64]) -> Durations {
        let mut all = Durations::default();
        for duration in durations {
            all.add(*duration);
        }
        all
    }

    #[test]
    fn each_duration_is_in_the_bucket_that_it_is_below() {
        for (duration, place) in [
            (-5, 0),
            (0, 0),
            (3, 0),
            (4, 1),
            (7, 1),
            (8, 2),
            (524_287, 17),
            (524_288, 18),
            (i64::MAX, 18),
        ] {
            let durations = of(&[duration]);
            assert_eq!(durations.buckets[place], 1, "{duration}");
            assert_eq!(durations.count(), 1);
            if let Some(end) = Durations::end_ms(place) {
                assert!(duration < end, "{duration} {end}");
            }
        }
        assert_eq!(Durations::end_ms(17), Some(524_288));
        assert_eq!(Durations::end_ms(18), None);
    }

    #[test]
    fn the_mean_is_exact_and_a_percentile_is_within_its_bucket() {
        assert_eq!(of(&[]).mean_ms(), None);
        assert_eq!(of(&[]).percentile_ms(95), None);
        assert_eq!(of(&[10, 21]).mean_ms(), Some(16));
        let mut mixed = of(&[100; 95]);
        mixed.merge(&of(&[5_000; 5]));
        assert_eq!(mixed.mean_ms(), Some(345));
        assert_eq!(mixed.percentile_ms(95), Some(128));
        let slow = mixed.percentile_ms(96).unwrap();
        assert!((4_096..8_192).contains(&slow), "{slow}");
        assert_eq!(of(&[900_000]).percentile_ms(95), Some(524_288));
    }
}
