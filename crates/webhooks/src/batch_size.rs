//! Chooses the batch size for long removals and for shrinking the file, so that other writes wait only briefly.

use std::time::Duration;

/// A write that takes longer than this halves the batch size.
const LONG_MS: u64 = 30;
/// A write that takes less time than this doubles the batch size.
const SHORT_MS: u64 = 10;
const LEAST_ROWS: i64 = 25;
const FIRST_ROWS: i64 = 250;
const MOST_ROWS: i64 = 2000;
/// Free pages of the database file: 64 KiB to 1 MiB.
const LEAST_PAGES: i64 = 16;
const FIRST_PAGES: i64 = 64;
const MOST_PAGES: i64 = 256;
const LONGEST_PAUSE_MS: u64 = 250;

/// The size of the next batch. It adapts to the duration of the last write, including the wait for the writer. A
/// busy or slow disk therefore gets small batches.
#[derive(Debug)]
pub(crate) struct BatchSize {
    size: i64,
    least: i64,
    most: i64,
}

impl BatchSize {
    pub(crate) const fn of_rows() -> Self {
        Self {
            size: FIRST_ROWS,
            least: LEAST_ROWS,
            most: MOST_ROWS,
        }
    }

    pub(crate) const fn of_pages() -> Self {
        Self {
            size: FIRST_PAGES,
            least: LEAST_PAGES,
            most: MOST_PAGES,
        }
    }

    /// Maximum number of rows or pages in the next batch.
    pub(crate) const fn limit(&self) -> i64 {
        self.size
    }

    /// Records the duration of a batch in milliseconds. Returns how long to pause. The pause is about as long as
    /// the batch, so that other writes can run.
    pub(crate) fn took(&mut self, ms: u64) -> Duration {
        if ms > LONG_MS {
            self.size = (self.size / 2).max(self.least);
        } else if ms < SHORT_MS {
            self.size = (self.size * 2).min(self.most);
        }
        Duration::from_millis(ms.clamp(1, LONGEST_PAUSE_MS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_follow_the_time_that_the_last_one_took() {
        let mut pieces = BatchSize::of_rows();
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
            assert_eq!(pieces.limit(), rows, "{ms}");
        }
        for _ in 0..20 {
            pieces.took(5000);
        }
        assert_eq!(pieces.limit(), LEAST_ROWS);
    }

    #[test]
    fn a_write_releases_16_to_256_pages() {
        let mut pages = BatchSize::of_pages();
        for (ms, limit) in [(9, 128), (9, 256), (9, 256), (31, 128), (31, 64)] {
            pages.took(ms);
            assert_eq!(pages.limit(), limit, "{ms}");
        }
        for expected in [32, 16, 16] {
            pages.took(5000);
            assert_eq!(pages.limit(), expected);
        }
    }

    #[test]
    fn others_have_the_writer_for_as_long() {
        for (ms, pause) in [(0, 1), (20, 20), (250, 250), (251, 250)] {
            for mut size in [BatchSize::of_rows(), BatchSize::of_pages()] {
                assert_eq!(size.took(ms), Duration::from_millis(pause));
            }
        }
    }
}
