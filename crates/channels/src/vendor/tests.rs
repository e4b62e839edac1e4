//! Tests of the parent module.

use super::*;
use crate::SendError;

fn answer(status: u16, headers: &[(&'static str, &'static str)]) -> Answer {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.insert(*name, value.parse().unwrap());
    }
    Answer {
        status: StatusCode::from_u16(status).unwrap(),
        headers: map,
        body: Bytes::new(),
        is_read: true,
        // Wed, 18 Nov 2026 11:06:40 GMT
        at: Timestamp::from_millis(1_795_000_000_000),
    }
}

fn verdict(answer: &Answer, after: Option<Duration>) -> Result<(), SendError> {
    answer.check("Vendor", after).map_err(SendError::from)
}

fn waits(answer: &Answer, after: Option<Duration>) -> Option<Duration> {
    match verdict(answer, after) {
        Err(SendError::Retry { after, .. }) => after,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_status_says_whether_another_try_may_help() {
    for status in [200, 202, 204] {
        assert!(verdict(&answer(status, &[]), None).is_ok());
    }
    for status in [408, 425, 429, 500, 502, 503, 504] {
        let refused = verdict(&answer(status, &[]), None);
        assert!(
            matches!(refused, Err(SendError::Retry { after: None, .. })),
            "{status}"
        );
    }
    for status in [301, 307, 400, 401, 403, 404, 410, 413, 422] {
        let refused = verdict(&answer(status, &[]), None);
        assert!(matches!(refused, Err(SendError::GiveUp { .. })), "{status}");
    }
}

#[test]
fn a_vendor_is_named_as_the_sentence_needs_it() {
    let why = |failure| match SendError::from(failure) {
        SendError::Retry { why, .. }
        | SendError::Unreachable { why }
        | SendError::Disabled { why }
        | SendError::GiveUp { why } => why,
        SendError::Sealed => panic!("it has no words"),
    };
    for (vendor, refused, late, status) in [
        (
            "the mail server",
            "Requests to the address of the mail server are not allowed.",
            "The mail server did not respond in time.",
            "The mail server refused the message (400).",
        ),
        (
            "ntfy",
            "Requests to the address of ntfy are not allowed.",
            "ntfy did not respond in time.",
            "ntfy refused the message (400).",
        ),
    ] {
        let of = |error| why(of_outbound(vendor, error));
        assert_eq!(of(OutboundError::RefusedAddress), refused);
        assert_eq!(of(OutboundError::Timeout), late);
        let answered = answer(400, &[]).check(vendor, None).unwrap_err();
        assert_eq!(why(answered), status);
    }
}

#[test]
fn the_wait_is_seconds_a_date_or_what_the_body_says() {
    let of = |value| waits(&answer(429, &[("retry-after", value)]), None);
    assert_eq!(of("7"), Some(Duration::from_secs(7)));
    assert_eq!(of("1.5"), Some(Duration::from_millis(1500)));
    assert_eq!(
        of("Wed, 18 Nov 2026 11:07:00 GMT"),
        Some(Duration::from_secs(20))
    );
    assert_eq!(of("Wed, 18 Nov 2026 11:00:00 GMT"), Some(Duration::ZERO));
    for none in ["soon", "-1", "NaN", "inf"] {
        assert_eq!(of(none), None, "{none}");
    }
    assert_eq!(of("999999999"), Some(LONGEST_WAIT));
    let body = Some(Duration::from_secs(3));
    assert_eq!(waits(&answer(429, &[("retry-after", "7")]), body), body);
}

#[test]
fn a_segment_stays_one() {
    let joined = |base, segments: &[&str]| join(base, segments).ok().unwrap().to_string();
    assert_eq!(
        joined("https://x", &["a/b", "c?d#e", "ä"]),
        "https://x/a%2Fb/c%3Fd%23e/%C3%A4"
    );
    assert_eq!(joined("https://x/y/", &["z"]), "https://x/y/z");
    assert_eq!(joined("https://x/y?k=v", &["z"]), "https://x/y/z?k=v");
    assert_eq!(joined("https://x", &["..", "z"]), "https://x/z");
    let default = |base| {
        join_default(base, &["api"], &["m"])
            .ok()
            .unwrap()
            .to_string()
    };
    assert_eq!(default("https://x"), "https://x/api/m");
    assert_eq!(default("https://x/v2/"), "https://x/v2/m");
}
