//! Checks the signed time of a delivery.

use gatehouse_domain::Timestamp;

use super::header::Claim;
use super::scheme::{Scheme, Time, TimeFormat};
use super::{VerifyError, VerifyInput};
use crate::payload::Payload;

/// Checks that the signed timestamp is within the tolerance.
pub(super) fn check_time(
    scheme: &Scheme,
    claim: &Claim<'_>,
    input: &VerifyInput<'_>,
) -> Result<(), VerifyError> {
    match scheme.time {
        Time::Unsigned => Ok(()),
        Time::Item(_) | Time::Headers(_) => {
            // Some senders' timestamps have whole seconds, so our time is truncated too.
            let then = match scheme.time_format {
                TimeFormat::Seconds => seconds(claim.timestamp),
                TimeFormat::Milliseconds => seconds(claim.timestamp).map(|ms| ms.div_euclid(1000)),
                TimeFormat::Rfc3339 => claim
                    .timestamp
                    .parse::<Timestamp>()
                    .ok()
                    .map(|time| time.as_millis().div_euclid(1000)),
            };
            let then = then.ok_or(VerifyError::Malformed)?;
            near(then, input.now_ms.div_euclid(1000), scheme.tolerance)
        }
        Time::Body(field) => match body_time(field, input.body)? {
            None => Ok(()),
            Some(then) => near(
                then,
                input.now_ms,
                input.tracker_tolerance_seconds.saturating_mul(1000),
            ),
        },
    }
}

fn near(then: i64, now: i64, tolerance: i64) -> Result<(), VerifyError> {
    let (then, now, tolerance) = (i128::from(then), i128::from(now), i128::from(tolerance));
    if now - then > tolerance {
        Err(VerifyError::Stale)
    } else if then - now > tolerance {
        Err(VerifyError::FromFuture)
    } else {
        Ok(())
    }
}

/// Parses a number that consists only of ASCII digits without a leading zero. If an ID is signed directly before
/// the time, a zero at the end of the ID could otherwise be moved to the time.
fn seconds(text: &str) -> Option<i64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_one_spelling = text == "0" || !text.starts_with('0');
    (digits && is_one_spelling)
        .then(|| text.parse().ok())
        .flatten()
}

/// Returns the milliseconds in the field; `None` if the field is absent. Ignores a body that is not JSON, which the
/// parser rejects later.
fn body_time(field: &str, body: &[u8]) -> Result<Option<i64>, VerifyError> {
    let Some(payload) = std::str::from_utf8(body)
        .ok()
        .and_then(|text| Payload::from_json(text).ok())
    else {
        return Ok(None);
    };
    match payload.get(field) {
        None => Ok(None),
        Some(node) if node.is_null() => Ok(None),
        Some(node) => node.as_i64().map(Some).ok_or(VerifyError::Malformed),
    }
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn a_time_has_one_spelling() {
        assert_eq!(seconds("1700000000"), Some(1_700_000_000));
        assert_eq!(seconds("0"), Some(0));
        for other in ["", "01700000000", "00", "+1", "-1", "1.5", " 1"] {
            assert_eq!(seconds(other), None, "{other}");
        }
    }
}
