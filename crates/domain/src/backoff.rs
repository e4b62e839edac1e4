//! The delay before a retry of a request.

use crate::Random;
use std::time::Duration;

/// Returns the delay before retry number `retry`, counted from 0. The delay is `base`, doubled for each retry, plus
/// jitter of up to half of it.
pub fn backoff(base: Duration, retry: u32, random: &dyn Random) -> Duration {
    let wait = base.saturating_mul(2_u32.saturating_pow(retry));
    let half = u32::try_from(wait.as_millis() / 2).unwrap_or(u32::MAX - 1);
    wait.saturating_add(Duration::from_millis(random.below(half + 1).into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SeededRandom;

    #[test]
    fn it_doubles_and_has_jitter() {
        let random = SeededRandom::new(3);
        let base = Duration::from_millis(500);
        for retry in 0..3 {
            let least = base * 2_u32.pow(retry);
            let waits: Vec<Duration> = (0..50).map(|_| backoff(base, retry, &random)).collect();
            let range = least..=least * 3 / 2;
            assert!(waits.iter().all(|wait| range.contains(wait)));
            assert!(waits.iter().any(|wait| *wait != waits[0]));
        }
        assert_eq!(backoff(Duration::ZERO, 2, &random), Duration::ZERO);
    }
}
