//! Reads the header `Retry-After`.

use gatehouse_domain::Timestamp;
use std::time::Duration;

/// Parses seconds or an HTTP date (RFC 9110, section 10.2.3).
pub(crate) fn parse_retry_after(text: &str, now: Timestamp) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let at = httpdate::parse_http_date(text).ok()?;
    let at = at.duration_since(std::time::UNIX_EPOCH).ok()?;
    let at = i64::try_from(at.as_millis()).ok()?;
    Some(now.until(Timestamp::from_millis(at)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_seconds_or_a_date() {
        let now: Timestamp = "1999-12-31T23:00:00Z".parse().unwrap();
        let read = |text| parse_retry_after(text, now).map(|wait| wait.as_secs());
        assert_eq!(read("120"), Some(120));
        assert_eq!(read("Fri, 31 Dec 1999 23:59:59 GMT"), Some(3599));
        assert_eq!(read("Fri, 31 Dec 1999 22:59:59 GMT"), Some(0));
        assert_eq!(read("soon"), None);
        assert_eq!(read("-1"), None);
    }
}
