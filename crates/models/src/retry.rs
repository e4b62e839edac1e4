//! Retry delays that a provider requests.

use gatehouse_domain::Timestamp;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use std::time::{Duration, SystemTime};

/// Retries after the first attempt.
pub(crate) const RETRIES: u32 = 3;

/// Returns the provider's delay: `Retry-After` in seconds or as a date (RFC 9110, section 10.2.3), or `OpenAI`'s
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
