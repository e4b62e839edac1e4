//! Decides when to order a certificate. Pure: the caller supplies the time and the randomness.

use super::CertificateFacts;
use gatehouse_domain::Timestamp;
use std::time::Duration;

/// The delay after the first failure. Let's Encrypt allows five failed validations of a name per hour
/// (letsencrypt.org/docs/rate-limits).
const FIRST_WAIT_MS: u64 = 60_000;
/// The longest delay without a request by the authority.
const MAX_WAIT_MS: u64 = 12 * 3_600_000;
/// The longest delay that an authority can request. Let's Encrypt's longest window is one week.
const MAX_ASKED_MS: u64 = 7 * 24 * 3_600_000;

/// A random fraction, in thousandths from 0 to 999.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jitter(pub(super) u32);

impl Jitter {
    /// Multiplies the amount by this fraction.
    fn of(self, amount: u64) -> u64 {
        amount / 1000 * u64::from(self.0) + amount % 1000 * u64::from(self.0) / 1000
    }
}

/// Returns when to renew: after two thirds of the validity, minus a random time of up to a twenty-fourth of it. For
/// a validity of 90 days, this is 30 to 34 days before the end.
pub(super) fn renewal(facts: &CertificateFacts, jitter: Jitter) -> Timestamp {
    let lifetime = facts.not_before.until(facts.not_after).as_millis();
    let lifetime = u64::try_from(lifetime).unwrap_or(u64::MAX);
    let wait = lifetime / 3 * 2 - jitter.of(lifetime / 24);
    facts.not_before.after(Duration::from_millis(wait))
}

/// Returns when to retry after `failures` consecutive failures. The delay is one minute, four times as long after
/// each further failure, at most 12 hours, plus up to a fifth. The result is not earlier than the time that the
/// authority requested.
pub(super) fn next_try(
    now: Timestamp,
    failures: u32,
    retry_after: Option<Duration>,
    jitter: Jitter,
) -> Timestamp {
    let doublings = failures.saturating_sub(1).saturating_mul(2).min(16);
    let wait = FIRST_WAIT_MS
        .saturating_mul(1 << doublings)
        .min(MAX_WAIT_MS);
    let asked = retry_after.map_or(0, |asked| {
        u64::try_from(asked.as_millis()).unwrap_or(u64::MAX)
    });
    let wait = wait.max(asked.min(MAX_ASKED_MS));
    now.after(Duration::from_millis(wait + jitter.of(wait / 5)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;
    const DAY: i64 = 24 * 60 * MINUTE;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    #[test]
    fn a_certificate_is_renewed_well_before_it_expires() {
        let facts = |days: i64| CertificateFacts {
            not_before: at(DAY),
            not_after: at(DAY + days * DAY),
            names: Vec::new(),
        };
        assert_eq!(renewal(&facts(90), Jitter(0)), at(61 * DAY));
        let earliest = renewal(&facts(90), Jitter(999));
        assert!(earliest > at(57 * DAY) && earliest < at(58 * DAY));
        assert_eq!(renewal(&facts(6), Jitter(0)), at(5 * DAY));
        assert_eq!(renewal(&facts(0), Jitter(999)), at(DAY));
    }

    #[test]
    fn the_waits_grow_and_respect_what_the_authority_asks() {
        let next = |failures, asked: Option<u64>, jitter| {
            let asked = asked.map(Duration::from_secs);
            next_try(at(0), failures, asked, Jitter(jitter)).as_millis()
        };
        assert_eq!(next(1, None, 0), MINUTE);
        assert_eq!(next(2, None, 0), 4 * MINUTE);
        assert_eq!(next(5, None, 0), 256 * MINUTE);
        assert_eq!(next(6, None, 0), 720 * MINUTE);
        assert_eq!(next(u32::MAX, None, 0), 720 * MINUTE);
        assert_eq!(next(1, None, 999), MINUTE + 11_988);
        assert_eq!(next(1, Some(59), 0), MINUTE);
        assert_eq!(next(1, Some(3600), 0), 60 * MINUTE);
        assert_eq!(next(1, Some(7 * 86_400), 0), 7 * DAY);
        assert_eq!(next(1, Some(u64::MAX), 0), 7 * DAY);
    }
}
