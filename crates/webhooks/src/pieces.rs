//! How many rows one write of a long removal takes, so that other writes wait a short time only.

use std::time::Duration;

/// A write that took longer was too large.
const LONG_MS: u64 = 30;
/// One that took less may be larger.
const SHORT_MS: u64 = 10;
const LEAST_ROWS: i64 = 25;
const FIRST_ROWS: i64 = 250;
const MOST_ROWS: i64 = 2000;
const LONGEST_PAUSE_MS: u64 = 250;

/// The size of the next piece. It follows the time that the last one took, the wait for the writer
/// included: on a busy or slow disk pieces are small.
#[derive(Debug)]
pub(crate) struct Pieces(i64);

impl Default for Pieces {
    fn default() -> Self {
        Self(FIRST_ROWS)
    }
}

impl Pieces {
    /// How many rows the next piece may have.
    pub(crate) const fn rows(&self) -> i64 {
        self.0
    }

    /// Notes how long a piece took. The result is the pause after it: others have the writer for as long.
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
        let mut pieces = Pieces::default();
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
            assert_eq!(Pieces::default().took(ms), Duration::from_millis(pause));
        }
    }
}
