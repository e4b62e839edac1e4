//! How long a delivery waits before it is tried again. Pure.

use gatehouse_domain::Random;
use std::time::Duration;

/// Nobody waits longer than this, whatever the settings or a vendor say.
const LONGEST: Duration = Duration::from_hours(24);
/// A random part is added, of at most this share of the wait, so that deliveries which failed together
/// do not come back together.
const JITTER_SHARE: u32 = 5;

/// Longer than any wait that [`wait`] gives.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_hours(30);

/// The wait after attempt number `attempts` (from 1) failed: `base` · 4ⁿ⁻¹, but not less than the
/// vendor asks for, and a little more.
pub(crate) fn wait(
    base: Duration,
    attempts: i64,
    asked: Option<Duration>,
    random: &dyn Random,
) -> Duration {
    let factor = u32::try_from(attempts.saturating_sub(1).max(0))
        .ok()
        .and_then(|power| 4_u32.checked_pow(power));
    let wait = factor
        .and_then(|factor| base.checked_mul(factor))
        .unwrap_or(LONGEST)
        .max(asked.unwrap_or_default())
        .min(LONGEST);
    let share = u32::try_from((wait / JITTER_SHARE).as_millis()).unwrap_or(u32::MAX);
    wait + Duration::from_millis(u64::from(random.below(share.saturating_add(1))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_domain::SeededRandom;

    fn of(attempts: i64, asked: Option<Duration>) -> Duration {
        let random: &dyn Random = &SeededRandom::new(5);
        wait(Duration::from_secs(10), attempts, asked, random)
    }

    #[test]
    fn each_wait_is_four_times_the_one_before_and_up_to_a_fifth_more() {
        for (attempts, seconds) in [(1, 10), (2, 40), (3, 160), (4, 640), (5, 2560)] {
            let waited = of(attempts, None);
            let least = Duration::from_secs(seconds);
            assert!(
                waited >= least && waited <= least * 6 / 5,
                "{attempts}: {waited:?}"
            );
        }
        let random: &dyn Random = &SeededRandom::new(5);
        let all: std::collections::HashSet<_> = (0..20)
            .map(|_| wait(Duration::from_secs(10), 1, None, random))
            .collect();
        assert!(all.len() > 15, "the waits differ: {all:?}");
        assert!(all.iter().all(|one| *one <= Duration::from_secs(12)));
    }

    #[test]
    fn a_vendor_that_asks_for_more_gets_more_and_not_too_much() {
        let asked = of(1, Some(Duration::from_mins(5)));
        assert!(asked >= Duration::from_mins(5) && asked <= Duration::from_mins(6));
        assert!(of(3, Some(Duration::from_secs(1))) >= Duration::from_secs(160));
        for longest in [of(1, Some(Duration::MAX)), of(i64::MAX, None), of(40, None)] {
            assert!(longest >= LONGEST && longest < LONGEST_WAIT, "{longest:?}");
        }
        assert!(of(0, None) >= Duration::from_secs(10));
    }
}
