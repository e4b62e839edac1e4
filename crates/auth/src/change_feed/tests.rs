//! Tests of the parent module.

use super::feed::{BELIEVED_MS, Feed};
use super::*;
use gatehouse_store::NewChanges;

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
fn a_gap_between_new_rows_is_everything() {
    let rows = [row(6, "vault"), row(8, "vault")];
    assert_eq!(ChangedSubjects::of(&rows, 5), ChangedSubjects::EVERYTHING);
}

fn read(rows: Vec<ChangeRow>, last: i64, server_run: &str) -> NewChanges {
    NewChanges {
        rows,
        last,
        server_run: Some(server_run.to_owned()),
    }
}

#[test]
fn a_replica_that_took_over_is_another_database_however_far_it_is() {
    let feed = Feed::new(true, 5, 0);
    // The run of the first read is not compared.
    let first = read(vec![], 5, "one");
    assert!(!feed.is_of_another_database(&first));
    feed.has_read(&first);
    let same = read(vec![row(6, "vault")], 6, "one");
    assert!(!feed.is_of_another_database(&same));
    feed.has_read(&same);
    assert_eq!(feed.last_change.load(Ordering::Acquire), 6);
    // The other database has fewer changes, the same number, or more.
    for last in [5, 6, 9] {
        let other = read(vec![], last, "two");
        assert!(feed.is_of_another_database(&other), "{last}");
    }
    let restarted = read(vec![], 6, "");
    assert!(feed.is_of_another_database(&restarted));
    feed.has_read(&restarted);
    let written = read(vec![row(7, "vault")], 7, "two");
    assert!(
        !feed.is_of_another_database(&written),
        "read twice after one crash"
    );
}

#[test]
fn a_feed_that_ends_before_the_position_is_another_database() {
    let feed = Feed::new(true, 5, 0);
    assert!(feed.is_of_another_database(&read(vec![], 4, "one")));
    let empty = NewChanges::default();
    assert!(feed.is_of_another_database(&empty));
    feed.has_read(&empty);
    assert!(!feed.is_of_another_database(&empty));
    assert_eq!(feed.last_change.load(Ordering::Acquire), 0);
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
    // A quarter of a second remains for the read and for closing sockets.
    assert!(poll_interval(1) <= Duration::from_millis(750));
    assert!(poll_interval(0).as_millis() < u128::from(BELIEVED_MS));
}
