//! The flags of `webhooks forward`, and the times and event types that they name.

use crate::cli::usage;
use anyhow::Result;
use gatehouse_domain::{Clock as _, SystemClock, Timestamp};
use reqwest::Url;

/// The period before the last query that each query for deliveries covers again, in milliseconds. A sender may take a
/// minute for a body, so a delivery can appear in the list after newer ones.
const OVERLAP_MS: i64 = 120_000;

/// `webhooks forward` flags.
#[derive(Debug, clap::Args)]
pub struct Flags {
    /// The webhook's ID or public ID
    pub(super) id: String,
    /// Where the program listens, such as <http://localhost:3000/hook>
    #[arg(value_name = "TO")]
    pub(super) to: Url,
    /// Only this event type; a trailing * matches every type with that prefix. Can be repeated
    #[arg(long, value_name = "TYPE", value_delimiter = ',')]
    pub(super) event: Vec<String>,
    /// Begin with deliveries since this time: 10m, 2h, 3d, or a time in RFC 3339
    #[arg(long, value_name = "TIME")]
    pub(super) since: Option<String>,
}

/// Returns whether an event type passes the filter.
pub(super) fn is_wanted(filter: &[String], event: &str) -> bool {
    let fits = |pattern: &String| match pattern.strip_suffix('*') {
        Some(start) => event.starts_with(start),
        None => event == pattern,
    };
    filter.is_empty() || filter.iter().any(fits)
}

/// Returns the time [`OVERLAP_MS`] before another, in RFC 3339.
pub(super) fn before(time: &str) -> Option<String> {
    let millis = time.parse::<Timestamp>().ok()?.as_millis();
    let earlier = millis.saturating_sub(OVERLAP_MS);
    Some(Timestamp::from_millis(earlier).to_string())
}

/// Returns the earliest time of receipt for the next query. It never decreases. A held delivery appears later in the
/// list, with the time of its arrival.
pub(super) fn next_from(
    from: Option<String>,
    newest: Option<&str>,
    held_since: Option<&str>,
) -> Option<String> {
    let seen = newest.and_then(before);
    let next = match held_since.and_then(before) {
        Some(held) => seen.map(|seen| seen.min(held)),
        None => seen,
    };
    from.max(next)
}

/// Reads `--since`.
pub(super) fn since(text: &str) -> Result<String> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time.to_string());
    }
    let Some(ago) = duration_ms(text) else {
        return Err(usage::wrong(format!(
            "--since {text}: expected 10m, 2h, 3d or a time in RFC 3339"
        )));
    };
    let now = SystemClock::new().now().as_millis();
    Ok(Timestamp::from_millis(now.saturating_sub(ago)).to_string())
}

/// Parses a duration such as `10m`.
fn duration_ms(text: &str) -> Option<i64> {
    let unit = text.chars().last()?;
    let ms: i64 = match unit {
        's' => 1_000,
        'm' => 60_000,
        'h' => 3_600_000,
        'd' => 86_400_000,
        _ => return None,
    };
    let number: i64 = text.strip_suffix(unit)?.parse().ok()?;
    number.checked_mul(ms).filter(|_| number > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_filtered_by_name_or_by_their_start() {
        let filter = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let all: Vec<String> = filter(&[]);
        assert!(is_wanted(&all, "push") && is_wanted(&all, ""));
        let some: Vec<String> = filter(&["push", "issues.*"]);
        assert!(is_wanted(&some, "push") && is_wanted(&some, "issues.opened"));
        assert!(!is_wanted(&some, "pushed") && !is_wanted(&some, "issue") && !is_wanted(&some, ""));
    }

    #[test]
    fn what_is_held_is_looked_for_until_it_is_listed() {
        let at = |minute: u32| format!("2026-11-25T10:{minute:02}:00.000Z");
        let next = |from: u32, newest: u32, held: Option<u32>| {
            let held = held.map(at);
            next_from(Some(at(from)), Some(&at(newest)), held.as_deref())
        };
        assert_eq!(next(0, 30, None), Some(at(28)));
        // A delivery of minute 20 appears after a delivery of minute 30.
        assert_eq!(next(0, 30, Some(20)), Some(at(18)));
        assert_eq!(next(18, 30, Some(20)), Some(at(18)));
        assert_eq!(next(18, 40, Some(25)), Some(at(23)));
        assert_eq!(next(23, 40, None), Some(at(38)));
        assert_eq!(next(23, 24, None), Some(at(23)));
        assert_eq!(next_from(None, None, Some(&at(9))), None);
    }

    #[test]
    fn since_takes_a_time_or_how_long_ago() {
        assert_eq!(
            since("2026-11-25T10:00:00Z").unwrap(),
            "2026-11-25T10:00:00.000Z"
        );
        assert!(since("10m").unwrap() > since("2h").unwrap());
        for wrong in [
            "",
            "m",
            "0m",
            "-1m",
            "10",
            "10x",
            "yesterday",
            "9223372036854775807d",
        ] {
            assert!(since(wrong).is_err(), "{wrong}");
        }
    }
}
