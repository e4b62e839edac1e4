//! Tests of the parent module.

use super::request::outcome;
use super::*;
use gatehouse_outbound::OutboundError;

#[test]
fn a_status_ends_a_subscription_a_notice_or_only_an_attempt() {
    for (status, expected) in [
        (201, Sent::Done),
        (202, Sent::Done),
        (400, Sent::Done),
        (403, Sent::Done),
        (404, Sent::Gone),
        (410, Sent::Gone),
        (413, Sent::Done),
        (429, Sent::Later(Duration::ZERO)),
        (500, Sent::Later(Duration::ZERO)),
        (503, Sent::Later(Duration::ZERO)),
    ] {
        assert_eq!(outcome(Ok((status, None))), expected, "{status}");
    }
    let asked = Duration::from_secs(7);
    assert_eq!(outcome(Ok((429, Some(asked)))), Sent::Later(asked));
    assert_eq!(
        outcome(Err(OutboundError::Timeout)),
        Sent::Later(Duration::ZERO)
    );
    let refused = outcome(Err(OutboundError::RefusedAddress));
    assert_eq!(refused, Sent::Done);
}

#[test]
fn the_wait_doubles_and_is_never_shorter_than_the_push_service_asks_for() {
    let wait = |repeats, asked| wait_after(repeats, Duration::from_secs(asked)).as_secs();
    assert_eq!([0, 1, 2].map(|repeats| wait(repeats, 0)), [10, 20, 40]);
    assert_eq!([9, 10, 11].map(|asked| wait(0, asked)), [10, 10, 11]);
    assert!(wait(u32::MAX, 0) >= GIVE_UP.as_secs());
}
