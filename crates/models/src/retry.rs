//! Retry delays: the provider's, or our own backoff.

use gatehouse_domain::{Random, Timestamp};
use reqwest::header::{HeaderMap, RETRY_AFTER};
use std::time::{Duration, SystemTime};

/// Retries after the first attempt.
pub(crate) const RETRIES: u32 = 3;

/// The provider's delay: `Retry-After` in seconds or as a date (RFC 9110, section 10.2.3), or `OpenAI`'s
/// `retry-after-ms`.
pub(crate) fn asked_wait(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let millis = text("retry-after-ms").and_then(|text| text.parse().ok());
    if let Some(millis) = millis {
        return Some(Duration::from_millis(millis));
    }
    let asked = text(RETRY_AFTER.as_str())?;
    if let Ok(seconds) = asked.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let at = httpdate::parse_http_date(asked).ok()?;
    let since = at.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    let at = i64::try_from(since.as_millis()).ok()?;
    Some(now.until(Timestamp::from_millis(at)))
}

/// The backoff before retry number `retry`, counted from 0: `base` doubled for each retry, plus up to half as
/// much jitter.
pub(crate) fn own_wait(base: Duration, retry: u32, random: &dyn Random) -> Duration {
    let wait = base.saturating_mul(2_u32.saturating_pow(retry));
    let half = u32::try_from(wait.as_millis() / 2).unwrap_or(u32::MAX - 1);
    wait.saturating_add(Duration::from_millis(random.below(half + 1).into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_domain::SeededRandom;

    fn wait(headers: &[(&'static str, &str)]) -> Option<Duration> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        asked_wait(&map, "2026-11-20T10:00:00Z".parse().unwrap())
    }

    #[test]
    fn seconds_dates_and_milliseconds() {
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(wait(&[("retry-after", "7")]), seconds(7));
        assert_eq!(wait(&[("retry-after", " 0 ")]), seconds(0));
        let date = |text| wait(&[("retry-after", text)]);
        assert_eq!(date("Fri, 20 Nov 2026 10:00:09 GMT"), seconds(9));
        assert_eq!(date("Fri, 20 Nov 2026 09:59:00 GMT"), seconds(0));
        assert_eq!(date("soon"), None);
        assert_eq!(date("-1"), None);
        assert_eq!(wait(&[]), None);
        let both = [("retry-after", "7"), ("retry-after-ms", "250")];
        assert_eq!(wait(&both), Some(Duration::from_millis(250)));
    }

    #[test]
    fn our_own_wait_doubles_and_has_some_chance_in_it() {
        let random = SeededRandom::new(3);
        let base = Duration::from_millis(500);
        for retry in 0..RETRIES {
            let least = base * 2_u32.pow(retry);
            let waits: Vec<Duration> = (0..50).map(|_| own_wait(base, retry, &random)).collect();
            assert!(
                waits
                    .iter()
                    .all(|wait| *wait >= least && *wait <= least * 3 / 2)
            );
            assert!(waits.iter().any(|wait| *wait != waits[0]));
        }
        assert_eq!(own_wait(Duration::ZERO, 2, &random), Duration::ZERO);
    }
}
