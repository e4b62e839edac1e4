//! Chooses the batch size for long removals, so that other writes wait only briefly.

use std::time::Duration;

/// A write that takes longer halves the batch size.
const LONG_MS: u64 = 30;
/// A write that takes less doubles the batch size.
const SHORT_MS: u64 = 10;
const LEAST_ROWS: i64 = 25;
const FIRST_ROWS: i64 = 250;
const MOST_ROWS: i64 = 2000;
const LONGEST_PAUSE_MS: u64 = 250;

/// The size of the next batch. It adapts to the duration of the last write, including the wait for the
/// writer, so a busy or slow disk gets small batches.
#[derive(Debug)]
pub(crate) struct BatchSize(i64);

impl Default for BatchSize {
    fn default() -> Self {
        Self(FIRST_ROWS)
    }
}

impl BatchSize {
    /// Maximum number of rows in the next batch.
    pub(crate) const fn rows(&self) -> i64 {
        self.0
    }

    /// Records the duration of a batch in milliseconds. Returns how long to pause, which is about as long,
    /// so that other writes get their turn.
    pub(crate) fn took(&mut self, ms: u64) -> Duration {
        if ms > LONG_MS {
            self.0 = (self.0 / 2).max(LEAST_ROWS);
        } else if ms < SHORT_MS {
            self.0 = (self.0 * 2).min(MOST_ROWS);
        }
        Duration::from_millis(ms.clamp(1, LONGEST_PAUSE_MS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_follow_the_time_that_the_last_one_took() {
        let mut pieces = BatchSize::default();
        for (ms, rows) in [
            (9, 500),
            (10, 500),
            (30, 500),
            (31, 250),
            (0, 500),
            (0, 1000),
            (0, 2000),
            (0, 2000),
        ] {
            pieces.took(ms);
            assert_eq!(pieces.rows(), rows, "{ms}");
        }
        for _ in 0..20 {
            pieces.took(5000);
        }
        assert_eq!(pieces.rows(), LEAST_ROWS);
    }

    #[test]
    fn others_have_the_writer_for_as_long() {
        for (ms, pause) in [(0, 1), (20, 20), (250, 250), (251, 250)] {
            assert_eq!(BatchSize::default().took(ms), Duration::from_millis(pause));
        }
    }
}
