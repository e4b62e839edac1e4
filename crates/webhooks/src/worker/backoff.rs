//! Computes the delay before a retry.

use gatehouse_domain::Random;
use std::time::Duration;

/// Maximum delay of the exponential backoff.
const LONGEST: Duration = Duration::from_hours(1);
/// Maximum delay that a vendor can request.
const LONGEST_ASKED: Duration = Duration::from_hours(24);
/// Minimum delay that a vendor can request.
const SHORTEST_ASKED: Duration = Duration::from_secs(1);
/// The divisor for the maximum jitter: a fifth of the delay. Jitter spreads the retries of deliveries that failed
/// together.
const JITTER_SHARE: u32 = 5;

/// An upper bound of the delays that [`wait`] returns.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_hours(30);

/// Returns the delay after attempt number `attempts` (from 1) failed. If the vendor requested a delay,
/// returns it plus up to a fifth. Otherwise returns `base` · 4ⁿ⁻¹ plus up to a fifth, at most one hour in
/// total.
pub(crate) fn wait(
    base: Duration,
    attempts: i64,
    asked: Option<Duration>,
    random: &dyn Random,
) -> Duration {
    if let Some(asked) = asked {
        let wait = asked.clamp(SHORTEST_ASKED, LONGEST_ASKED);
        return wait + share_of(wait, random);
    }
    let factor = u32::try_from(attempts.saturating_sub(1).max(0))
        .ok()
        .and_then(|power| 4_u32.checked_pow(power));
    let wait = factor
        .and_then(|factor| base.checked_mul(factor))
        .unwrap_or(LONGEST)
        .min(LONGEST);
    let whole = wait + share_of(wait, random);
    if whole <= LONGEST {
        whole
    } else {
        LONGEST.saturating_sub(share_of(LONGEST, random) / 2)
    }
}

/// Returns a random duration of up to a fifth of `wait`.
fn share_of(wait: Duration, random: &dyn Random) -> Duration {
    let share = u32::try_from((wait / JITTER_SHARE).as_millis()).unwrap_or(u32::MAX);
    Duration::from_millis(u64::from(random.below(share.saturating_add(1))))
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
    fn each_wait_is_four_times_the_last_and_up_to_a_fifth_longer() {
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
    fn no_wait_of_ours_is_longer_than_an_hour_and_they_differ_there_too() {
        let random: &dyn Random = &SeededRandom::new(5);
        for attempts in [6, 7, 12, 100, i64::MAX] {
            let all: std::collections::HashSet<_> = (0..20)
                .map(|_| wait(Duration::from_secs(10), attempts, None, random))
                .collect();
            assert!(all.len() > 15, "{all:?}");
            let least = Duration::from_mins(54);
            assert!(all.iter().all(|one| (least..=LONGEST).contains(one)));
        }
        let twelve: Duration = (1..12).map(|n| of(n, None)).sum();
        let hours = Duration::from_hours(6)..Duration::from_hours(9);
        assert!(hours.contains(&twelve), "{twelve:?}");
    }

    #[test]
    fn what_a_vendor_asks_for_counts_be_it_shorter_or_longer_and_within_a_day() {
        let asked = of(1, Some(Duration::from_mins(5)));
        assert!(asked >= Duration::from_mins(5) && asked <= Duration::from_mins(6));
        let shorter = of(5, Some(Duration::from_secs(3)));
        assert!(shorter >= Duration::from_secs(3) && shorter < Duration::from_secs(4));
        assert!(of(1, Some(Duration::ZERO)) >= SHORTEST_ASKED);
        let longest = of(1, Some(Duration::MAX));
        assert!(longest >= LONGEST_ASKED && longest < LONGEST_WAIT);
        assert!(of(0, None) >= Duration::from_secs(10));
    }
}
