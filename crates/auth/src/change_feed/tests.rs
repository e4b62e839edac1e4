//! Tests of the parent module.

use super::feed::{BELIEVED_MS, Feed};
use super::*;

fn row(seq: i64, subject: &str) -> ChangeRow {
    ChangeRow {
        seq,
        subject: subject.into(),
    }
}

#[test]
fn news_are_the_subjects_and_a_gap_is_everything() {
    assert_eq!(ChangedSubjects::of(&[], 5), ChangedSubjects::default());
    let some = ChangedSubjects::of(&[row(6, "vault"), row(7, "auth_sessions")], 5);
    assert_eq!(
        some,
        ChangedSubjects {
            sessions: true,
            vault: true,
            ..ChangedSubjects::default()
        }
    );
    assert!(
        ChangedSubjects::of(&[row(6, "settings")], 5).state,
        "auth_disabled is a setting"
    );
    assert_eq!(
        ChangedSubjects::of(&[row(7, "vault")], 5),
        ChangedSubjects::EVERYTHING
    );
}

#[test]
fn memory_is_believed_while_the_feed_answers() {
    let shared = Feed::new(true, 0, 100);
    assert!(shared.is_fresh(|| 100 + BELIEVED_MS));
    assert!(!shared.is_fresh(|| 101 + BELIEVED_MS));
    assert!(Feed::new(false, 0, 0).is_fresh(|| u64::MAX));
}

#[test]
fn the_lag_grows_from_the_last_read_on_and_only_where_other_nodes_may_write() {
    let shared = Feed::new(true, 0, 100);
    assert_eq!(shared.lag_ms(100), 0);
    assert_eq!(shared.lag_ms(2_600), 2_500);
    assert_eq!(Feed::new(false, 0, 100).lag_ms(2_600), 0);
}

#[test]
fn without_notifications_sockets_are_closed_within_a_second_and_requests_refused_within_two() {
    // A quarter of the limit is for the read and for closing sockets.
    assert!(poll_interval(1) <= Duration::from_millis(750));
    assert!(poll_interval(0).as_millis() < u128::from(BELIEVED_MS));
}
