//! Tests of the parent module.

use super::*;
use serde_json::json;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

#[test]
fn missed_times_are_one_backup_and_a_new_pattern_starts_from_now() {
    let mut state = State::default();
    let zone = Zone::utc();
    let daily = "30 3 * * *";
    assert!(!state.advance(daily, &zone, at("2026-01-01T00:00:00Z")));
    assert_eq!(state.next, Some(at("2026-01-01T03:30:00Z")));
    assert!(!state.advance(daily, &zone, at("2026-01-01T03:29:59Z")));
    assert!(state.advance(daily, &zone, at("2026-01-05T12:00:00Z")));
    assert_eq!(state.next, Some(at("2026-01-06T03:30:00Z")));
    assert!(!state.advance(daily, &zone, at("2026-01-05T12:00:20Z")));
    state.end(at("2026-01-05T12:00:00Z"), at("2026-01-05T12:00:20Z"), None);
    assert!(!state.advance("0 * * * *", &zone, at("2026-01-07T00:10:00Z")));
    assert_eq!(state.next, Some(at("2026-01-07T01:00:00Z")));
}

#[test]
fn backups_continue_after_the_clock_was_ahead() {
    let (zone, daily) = (Zone::utc(), "30 3 * * *");
    let mut state = State::default();
    state.advance(daily, &zone, at("2026-01-01T00:00:00Z"));
    let ahead = at("2027-01-01T03:30:00Z");
    assert!(state.advance(daily, &zone, ahead));
    // The node ended during the backup.
    assert!(!state.advance(daily, &zone, at("2026-01-01T01:00:00Z")));
    assert_eq!(state.next, Some(at("2026-01-01T03:30:00Z")));
    assert!(state.advance(daily, &zone, at("2026-01-01T03:30:00Z")));
    // The clock was ahead only at a renewal of the lease.
    let began = at("2026-01-01T03:30:00Z");
    assert!(state.renew(began, ahead));
    assert!(!state.advance(daily, &zone, at("2026-01-01T04:29:59Z")));
    assert!(state.advance(daily, &zone, at("2026-01-01T04:30:00Z")));
}

#[test]
fn a_small_difference_between_clocks_does_not_repeat_a_backup() {
    let (zone, daily) = (Zone::utc(), "30 3 * * *");
    let mut state = State::default();
    state.advance(daily, &zone, at("2026-01-01T00:00:00Z"));
    let began = at("2026-01-01T03:30:00Z");
    assert!(state.advance(daily, &zone, began));
    // The clock of another node is behind.
    assert!(!state.advance(daily, &zone, at("2026-01-01T03:29:59Z")));
    state.end(began, at("2026-01-01T03:30:10Z"), None);
    for behind in ["2026-01-01T03:29:59Z", "2026-01-01T02:30:00Z"] {
        assert!(!state.advance(daily, &zone, at(behind)));
        assert!(!state.advance(daily, &zone, at("2026-01-01T03:30:20Z")));
        assert_eq!(state.next, Some(at("2026-01-02T03:30:00Z")), "{behind}");
    }
    assert!(!state.advance(daily, &zone, at("2026-01-01T02:29:59Z")));
    assert_eq!(state.next, Some(at("2026-01-01T03:30:00Z")), "past an hour");
}

#[test]
fn a_backup_that_failed_or_did_not_end_is_repeated() {
    let (zone, weekly) = (Zone::utc(), "0 0 * * 1");
    let mut state = State::default();
    state.advance(weekly, &zone, at("2026-01-04T00:00:00Z"));
    assert!(state.advance(weekly, &zone, at("2026-01-05T00:00:00Z")));
    state.end(
        at("2026-01-05T00:00:00Z"),
        at("2026-01-05T00:00:00Z"),
        Some("the disk is full".to_owned()),
    );
    assert!(!state.advance(weekly, &zone, at("2026-01-05T00:59:59Z")));
    assert!(state.advance(weekly, &zone, at("2026-01-05T01:00:00Z")));
    assert!(!state.advance(weekly, &zone, at("2026-01-05T01:59:59Z")));
    assert!(state.advance(weekly, &zone, at("2026-01-05T02:00:00Z")));
}

#[test]
fn a_failure_does_not_hide_when_the_last_backup_succeeded() {
    let (good, bad) = (at("2026-01-05T03:30:00Z"), at("2026-01-06T03:30:00Z"));
    let mut state = read(None);
    assert_eq!(state.succeeded, None);
    state.end(good, good, None);
    state.end(bad, bad, Some("the disk is full".to_owned()));
    assert_eq!(state.succeeded, Some(good));
    assert_eq!(read(Some(json!(state))), state);
    // The state has the form of an earlier version.
    for (error, succeeded) in [(json!(null), Some(good)), (json!("full"), None)] {
        let stored = json!({
            "pattern": "", "next": null, "started": null, "last": { "at": good, "error": error },
        });
        let mut state = read(Some(stored));
        assert_eq!(state.succeeded, succeeded);
        state.end(bad, bad, Some("the disk is full".to_owned()));
        assert_eq!(state.succeeded, succeeded);
    }
    // The clock was ahead.
    let ahead = at("2027-01-05T03:30:00Z");
    state.end(ahead, ahead, None);
    state.advance("30 3 * * *", &Zone::utc(), bad);
    assert_eq!(state.succeeded, Some(bad));
    assert_eq!(read(Some(json!(state))).succeeded, Some(bad));
}

#[test]
fn failed_and_late_backups_are_reported() {
    let now = at("2026-01-05T12:00:00Z");
    let mut state = State {
        pattern: "30 3 * * *".to_owned(),
        next: Some(at("2026-01-06T03:30:00Z")),
        last: Some(Last {
            at: at("2026-01-05T03:30:00Z"),
            error: None,
        }),
        started: None,
        leased_until: None,
        succeeded: None,
    };
    assert!(finding(&state, now).ok);
    state.started = Some(at("2026-01-05T10:00:00Z"));
    assert!(!finding(&state, now).ok);
    state.leased_until = Some(at("2026-01-05T12:00:00.001Z"));
    let running = finding(&state, now);
    assert!(
        running.ok && running.message.contains("still running"),
        "{running:?}"
    );
    state.leased_until = Some(now);
    assert!(!finding(&state, now).ok);
    state.started = None;
    state.next = Some(at("2026-01-05T10:59:59Z"));
    assert!(!finding(&state, now).ok);
    state.next = Some(at("2026-01-05T11:00:00Z"));
    assert!(finding(&state, now).ok);
    if let Some(last) = &mut state.last {
        last.error = Some(format!("{FAILED}the disk is full."));
    }
    let failed = finding(&state, now);
    let is_short = failed.message.ends_with("Z failed: the disk is full.");
    assert!(!failed.ok && is_short, "{failed:?}");
}

#[test]
fn a_backup_that_takes_longer_than_an_hour_is_not_begun_a_second_time() {
    let (zone, hourly) = (Zone::utc(), "0 * * * *");
    let mut state = State::default();
    state.advance(hourly, &zone, at("2026-01-05T00:30:00Z"));
    let began = at("2026-01-05T01:00:00Z");
    assert!(state.advance(hourly, &zone, began));
    for minute in 1..180 {
        let now = began.after(Duration::from_mins(minute));
        assert!(state.renew(began, now));
        assert!(!state.advance(hourly, &zone, now), "minute {minute}");
    }
    // The last renewal was at 03:59, and the node is gone.
    let mut other = state.clone();
    assert!(!other.advance(hourly, &zone, at("2026-01-05T04:03:59.999Z")));
    assert!(other.advance(hourly, &zone, at("2026-01-05T04:04:00Z")));
    // If the first node is not gone after all, it neither extends nor ends the lease of the other node.
    assert!(!other.renew(began, at("2026-01-05T04:05:00Z")));
    other.end(began, at("2026-01-05T04:05:00Z"), None);
    assert_eq!(other.started, Some(at("2026-01-05T04:04:00Z")));
    assert!(!other.advance(hourly, &zone, at("2026-01-05T05:00:00Z")));
    // The next backup begins when the long one has ended.
    let mut failed = state.clone();
    state.end(began, at("2026-01-05T03:59:30Z"), None);
    assert!(state.advance(hourly, &zone, at("2026-01-05T04:00:00Z")));
    // A failed backup is repeated an hour after its end, unless the schedule has an earlier time.
    failed.next = Some(at("2026-01-06T01:00:00Z"));
    let why = Some("the disk is full".to_owned());
    failed.end(began, at("2026-01-05T03:59:30Z"), why);
    assert_eq!(failed.next, Some(at("2026-01-05T04:59:30Z")));
}

#[test]
fn a_backup_that_an_earlier_version_began_counts_as_running_for_an_hour() {
    let started = json!({ "pattern": "0 * * * *", "next": null, "last": null,
        "started": at("2026-01-05T01:00:00Z") });
    let state = read(Some(started));
    assert!(state.is_running(at("2026-01-05T01:59:59.999Z")));
    assert!(!state.is_running(at("2026-01-05T02:00:00Z")));
}
