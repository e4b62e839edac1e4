//! Limits the amount of arriving audio to the output of one microphone, with some audio ahead of
//! time.

use gatehouse_domain::Problem;
use std::time::Duration;
use tokio::time::Instant;

/// The amount of audio that may arrive ahead of real time, for a client whose network stalled.
pub(super) const EARLY: Duration = Duration::from_secs(30);

/// The amount of audio that may currently arrive.
#[derive(Debug)]
pub(super) struct Allowance {
    began: Instant,
    bytes_per_second: u64,
    taken: u64,
}

impl Allowance {
    /// Creates an allowance for samples of two bytes at this sample rate.
    pub(super) fn new(rate: u32, now: Instant) -> Self {
        Self {
            began: now,
            bytes_per_second: u64::from(rate) * 2,
            taken: 0,
        }
    }

    /// Takes the bytes of a message. Fails if there are more than a microphone can have recorded.
    pub(super) fn take(&mut self, bytes: usize, now: Instant) -> Result<(), Problem> {
        self.taken = self
            .taken
            .saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
        let passed = now.saturating_duration_since(self.began) + EARLY;
        let passed = u64::try_from(passed.as_millis()).unwrap_or(u64::MAX);
        let allowed = passed.saturating_mul(self.bytes_per_second) / 1000;
        // After a pause, the client may not send more than before the pause.
        self.taken = self.taken.max(allowed.saturating_sub(self.usual()));
        if self.taken > allowed {
            let message = "More audio arrived than one microphone can record.";
            return Err(Problem {
                message: message.to_owned(),
                ..Problem::rate_limited(1000)
            });
        }
        Ok(())
    }

    fn usual(&self) -> u64 {
        EARLY.as_secs().saturating_mul(self.bytes_per_second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thirty_seconds_may_be_early() {
        let start = Instant::now();
        let mut allowance = Allowance::new(16_000, start);
        for _ in 0..30 {
            allowance.take(32_000, start).unwrap();
        }
        let refused = allowance.take(2, start).unwrap_err();
        assert_eq!(refused.details["retry_after_seconds"], 1);

        let mut allowance = Allowance::new(16_000, start);
        let later = start + Duration::from_secs(100);
        allowance.take(0, later).unwrap();
        // The time without audio does not increase the allowance.
        allowance.take(30 * 32_000, later).unwrap();
        assert!(allowance.take(2, later).is_err());
    }
}
