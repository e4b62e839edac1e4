//! Tests of the parent module.

use super::super::CheckResult;
use super::super::last::NOT_YOUR_KEY;
use super::*;
use crate::backup::drill::last::ENCRYPTED;
use crate::backup::drill::last::RESTORED;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn state(error: Option<&str>) -> State {
    State {
        last: Some(Last {
            at: at("2026-01-01T00:00:00Z"),
            name: "a.backup".to_owned(),
            took_ms: 1001,
            error: error.map(str::to_owned),
            was_made: true,
            extent: Extent::Restored,
            had_key: false,
        }),
        ..State::default()
    }
}

#[test]
fn it_is_due_each_week_and_again_if_its_process_ended() {
    assert!(State::default().is_due(7, Access::Plain, at("2026-01-01T00:00:00Z")));
    let mut state = state(None);
    assert!(!state.is_due(7, Access::Plain, at("2026-01-07T23:59:59Z")));
    assert!(state.is_due(7, Access::Plain, at("2026-01-08T00:00:00Z")));
    let failed = self::state(Some("it is cut off"));
    assert!(!failed.is_due(7, Access::Plain, at("2026-01-01T23:59:59Z")));
    assert!(failed.is_due(7, Access::Plain, at("2026-01-02T00:00:00Z")));
    state.started = Some(at("2026-01-08T00:00:00Z"));
    assert!(!state.is_due(7, Access::Plain, at("2026-01-08T05:59:59Z")));
    assert!(state.is_due(7, Access::Plain, at("2026-01-08T06:00:00Z")));
}

#[test]
fn a_drill_from_while_the_clock_was_ahead_does_not_delay_the_next_one() {
    let mut state = state(None);
    assert!(
        !state.is_due(7, Access::Plain, at("2025-12-31T00:00:00Z")),
        "a day ahead"
    );
    assert!(state.is_due(7, Access::Plain, at("2025-12-30T23:59:59Z")));
    state.started = Some(at("2026-12-01T00:00:00Z"));
    assert!(state.is_due(7, Access::Plain, at("2026-01-08T00:00:00Z")));
}

#[test]
fn failed_and_late_drills_are_reported() {
    let now = at("2026-01-09T23:59:59Z");
    assert!(State::default().finding(7, false, now).ok);
    let good = state(None).finding(7, false, now);
    assert!(good.ok && good.message.contains("took 2 s"), "{good:?}");
    assert!(!state(None).finding(7, false, at("2026-01-10T00:00:01Z")).ok);
    let mut unfinished = state(None);
    unfinished.started = Some(at("2026-01-09T17:59:58Z"));
    assert!(!unfinished.finding(7, false, now).ok);
    unfinished.started = Some(at("2026-01-09T17:59:59Z"));
    assert!(unfinished.finding(7, false, now).ok);
    let failed = state(Some("it is cut off")).finding(7, false, now);
    assert!(!failed.ok && failed.message.contains("it is cut off"));
}

#[test]
fn the_interval_is_a_setting_and_a_failed_drill_is_repeated_within_it() {
    let state = state(None);
    assert!(!state.is_due(1, Access::Plain, at("2026-01-01T23:59:59Z")));
    assert!(state.is_due(1, Access::Plain, at("2026-01-02T00:00:00Z")));
    assert!(!state.is_due(365, Access::Plain, at("2026-12-31T23:59:59Z")));
    assert!(state.is_due(365, Access::Plain, at("2027-01-01T00:00:00Z")));
    assert!(state.finding(1, false, at("2026-01-04T00:00:00Z")).ok);
    assert!(!state.finding(1, false, at("2026-01-04T00:00:01Z")).ok);
}

#[test]
fn the_node_with_the_newest_backup_begins() {
    let (old, new) = (at("2026-01-01T00:00:00Z"), at("2026-01-02T00:00:00Z"));
    let mut state = State::default();
    assert!(!state.begin_with_newest(old, at("2026-01-03T00:00:00Z")));
    assert!(!state.begin_with_newest(new, at("2026-01-03T00:19:59Z")));
    for minute in ["2026-01-03T00:20:00Z", "2026-01-03T00:59:59Z"] {
        assert!(!state.begin_with_newest(old, at(minute)), "{minute}");
    }
    let mut other = state.clone();
    assert!(other.begin_with_newest(new, at("2026-01-03T00:20:00Z")));
    assert_eq!(other.started, Some(at("2026-01-03T00:20:00Z")));
    // A backup that was created in the meantime does not restart the wait.
    let mut other = state.clone();
    assert!(other.begin_with_newest(at("2026-01-03T00:19:00Z"), at("2026-01-03T00:20:00Z")));
    // The node with the newest backup is gone.
    assert!(!state.begin_with_newest(old, at("2026-01-03T01:00:00Z")));
    assert!(!state.begin_with_newest(old, at("2026-01-03T01:19:59Z")));
    assert!(state.begin_with_newest(old, at("2026-01-03T01:20:00Z")));
}

#[test]
fn a_drill_that_was_not_made_does_not_hide_a_damaged_backup() {
    let drill = |day: &str, error: Option<&str>, was_made| Last {
        at: at(&format!("{day}T00:00:00Z")),
        name: format!("{day}.backup"),
        took_ms: 1,
        error: error.map(str::to_owned),
        was_made,
        extent: Extent::Restored,
        had_key: false,
    };
    let now = at("2026-01-04T00:00:00Z");
    let mut state = State::default();
    state.end(drill("2026-01-01", Some("the disk is full"), false));
    assert!(state.finding(7, false, now).message.contains("not checked"));
    state.end(drill("2026-01-02", Some("it is cut off"), true));
    state.end(drill("2026-01-03", Some("the disk is full"), false));
    let found = state.finding(7, false, now);
    assert!(!found.ok);
    assert!(found.message.contains("2026-01-02.backup"), "{found:?}");
    state.end(drill("2026-01-04", None, true));
    assert!(state.finding(7, false, now).ok);
    state.end(drill("2026-01-05", Some("the disk is full"), false));
    assert!(state.finding(7, false, now).message.contains("not checked"));
}

#[test]
fn a_failure_does_not_hide_when_the_last_drill_succeeded() {
    let mut state = State::default();
    for (day, error) in [("2026-01-01", None), ("2026-01-08", Some("it is cut off"))] {
        state.end(Last {
            at: at(&format!("{day}T00:00:00Z")),
            name: "a.backup".to_owned(),
            took_ms: 1,
            error: error.map(str::to_owned),
            was_made: true,
            extent: Extent::Restored,
            had_key: false,
        });
    }
    assert_eq!(state.succeeded, Some(at("2026-01-01T00:00:00Z")));
    // A state of an earlier version.
    let stored = serde_json::json!({ "last": null, "started": null });
    assert_eq!(State::read(Some(stored)), State::default());
}

/// Returns the end of a check that did not restore its backup.
fn of_file(day: &str, error: Option<&str>, extent: Extent) -> Last {
    Last {
        at: at(&format!("{day}T00:00:00Z")),
        name: format!("{day}.backup.age"),
        took_ms: 1,
        error: error.map(str::to_owned),
        was_made: true,
        extent,
        had_key: false,
    }
}

#[test]
fn an_encrypted_backup_that_was_not_restored_is_not_reported_as_restored() {
    let now = at("2026-01-04T00:00:00Z");
    let mut state = state(None);
    // The result of an earlier restore is not reported if backups have been encrypted since.
    let waiting = state.finding(7, true, now);
    assert_eq!((waiting.id, waiting.ok), (ENCRYPTED, true));
    assert!(
        waiting.message.contains("will test the next one"),
        "{waiting:?}"
    );
    let before = state.succeeded;
    for extent in [Extent::Unchanged, Extent::Header] {
        state.end(of_file("2026-01-03", None, extent));
        let found = state.finding(7, true, now);
        assert_eq!((found.id, found.ok), (ENCRYPTED, true));
        assert!(
            found.message.contains("neither decrypted nor restored"),
            "{found:?}"
        );
        assert_eq!(state.succeeded, before);
    }
    assert!(state.finding(7, true, at("2026-01-12T00:00:00Z")).ok);
    assert!(!state.finding(7, true, at("2026-01-12T00:00:00.001Z")).ok);
    state.end(of_file("2026-01-03", Some("it is cut off"), Extent::Header));
    let damaged = state.finding(7, true, now);
    assert_eq!((damaged.id, damaged.ok), (ENCRYPTED, false));
    let result = state.result_of("2026-01-03.backup.age").unwrap().result;
    assert_eq!(result, CheckResult::Unusable);
    assert!(state.result_of("2026-01-02.backup.age").is_none());
}

#[test]
fn an_encrypted_backup_without_an_extent_counts_as_not_restored() {
    let mut state = State::default();
    state.end(of_file("2026-01-02", Some("it is cut off"), Extent::Header));
    state.end(of_file("2026-01-02", None, Extent::Header));
    let mut stored = serde_json::json!(state);
    for member in ["last", "unusable"] {
        let last = stored[member].as_object_mut().unwrap();
        assert!(last.remove("extent").is_some());
    }
    assert_eq!(State::read(Some(stored)), state);
    let restored = self::state(None);
    assert_eq!(State::read(Some(serde_json::json!(restored))), restored);
}

#[test]
fn a_readable_header_does_not_hide_that_the_file_was_damaged() {
    let now = at("2026-01-04T00:00:00Z");
    let mut state = State::default();
    state.end(of_file("2026-01-02", Some("it is cut off"), Extent::Header));
    state.end(of_file("2026-01-02", None, Extent::Header));
    let found = state.finding(7, true, now);
    assert!(!found.ok && found.message.contains("it is cut off"));
    let result = state.result_of("2026-01-02.backup.age").unwrap().result;
    assert_eq!(result, CheckResult::Unusable);
    let mut compared = state.clone();
    compared.end(of_file("2026-01-02", None, Extent::Unchanged));
    assert!(compared.finding(7, true, now).ok);
    state.end(of_file("2026-01-03", None, Extent::Header));
    assert!(state.finding(7, true, now).ok);
}

#[test]
fn a_check_of_an_encrypted_backup_that_did_not_end_is_not_called_a_restore() {
    let state = State {
        started: Some(at("2026-01-01T00:00:00Z")),
        ..State::default()
    };
    let now = at("2026-01-01T06:00:01Z");
    let found = state.finding(7, true, now);
    assert_eq!((found.id, found.ok), (ENCRYPTED, false));
    assert!(!found.message.contains("trial restore"), "{found:?}");
    assert_eq!(state.finding(7, false, now).id, RESTORED);
}

#[test]
fn a_backup_that_can_be_restored_does_not_wait_for_the_check_of_an_encrypted_one() {
    let mut state = State::default();
    state.end(of_file("2026-01-03", None, Extent::Unchanged));
    let now = at("2026-01-03T00:00:01Z");
    assert!(!state.is_due(7, Access::File, now));
    assert!(state.is_due(7, Access::Plain, now));
    assert!(state.is_due(7, Access::File, at("2026-01-10T00:00:00Z")));
}

/// Returns the end of a trial restore with the key of the file.
fn with_key(day: &str, error: Option<&str>, extent: Extent) -> Last {
    Last {
        had_key: true,
        ..of_file(day, error, extent)
    }
}

#[test]
fn a_backup_with_its_key_is_due_some_hours_early_and_whatever_was_done_with_others() {
    let mut state = state(None);
    let first = at("2026-01-01T00:00:01Z");
    assert!(state.is_due(7, Access::KeptKey, first), "only a plain one");
    state.end(with_key("2026-01-01", None, Extent::Restored));
    state.end(of_file("2026-01-03", None, Extent::Unchanged));
    for (days, last, due) in [
        (7, "2026-01-07T17:59:59.999Z", "2026-01-07T18:00:00Z"),
        (1, "2026-01-01T17:59:59.999Z", "2026-01-01T18:00:00Z"),
    ] {
        assert!(!state.is_due(days, Access::KeptKey, at(last)), "{last}");
        assert!(state.is_due(days, Access::KeptKey, at(due)), "{due}");
    }
    // A failed trial restore is repeated with a backup of the next day.
    state.end(with_key(
        "2026-01-04",
        Some("a checksum differs"),
        Extent::Restored,
    ));
    assert!(!state.is_due(7, Access::KeptKey, at("2026-01-04T17:59:59.999Z")));
    assert!(state.is_due(7, Access::KeptKey, at("2026-01-04T18:00:00Z")));
    assert!(!state.is_due(7, Access::Plain, at("2026-01-04T18:00:00Z")));
}

#[test]
fn what_is_reported_about_an_encrypted_backup_names_how_far_it_was_tested() {
    let now = at("2026-01-04T00:00:00Z");
    let mut state = State::default();
    for (extent, id, result, said) in [
        (
            Extent::Restored,
            RESTORED,
            CheckResult::Restored,
            "trial restore",
        ),
        (
            Extent::Unchanged,
            ENCRYPTED,
            CheckResult::Decrypted,
            "was not restored",
        ),
    ] {
        state.end(with_key("2026-01-02", None, extent));
        let found = state.finding(7, true, now);
        assert_eq!((found.id, found.ok), (id, true));
        assert!(found.message.contains(said), "{found:?}");
        assert!(found.message.contains(NOT_YOUR_KEY), "{found:?}");
        let checked = |state: &State| state.result_of("2026-01-02.backup.age").unwrap().result;
        assert_eq!(checked(&state), result);
        // The file has not changed.
        let mut later = state.clone();
        later.end(of_file("2026-01-02", None, Extent::Unchanged));
        let again = later.finding(7, true, now);
        assert_eq!(again.id, id);
        assert!(again.message.contains(&found.message), "{again:?}");
        assert_eq!(checked(&later), result);
        // The result does not apply to another backup, or after a check without a checksum.
        for (day, extent) in [
            ("2026-01-03", Extent::Unchanged),
            ("2026-01-02", Extent::Header),
        ] {
            let mut later = state.clone();
            later.end(of_file(day, None, extent));
            let other = later.finding(7, true, now);
            assert_eq!((other.id, other.ok), (ENCRYPTED, true));
            assert!(other.message.contains("neither decrypted"), "{other:?}");
            let tested = "tested was 2026-01-02.backup.age at";
            assert!(other.message.contains(tested), "{other:?}");
        }
    }
    let day = at("2026-01-02T00:00:00Z");
    assert_eq!(state.succeeded, Some(day), "reading is not a restore");
}

#[test]
fn an_unchanged_file_does_not_hide_that_its_content_was_damaged() {
    let now = at("2026-01-04T00:00:00Z");
    for extent in [Extent::Restored, Extent::Unchanged] {
        let mut state = State::default();
        state.end(with_key("2026-01-02", Some("a checksum differs"), extent));
        for day in ["2026-01-02", "2026-01-03"] {
            state.end(of_file(day, None, Extent::Unchanged));
            let found = state.finding(7, true, now);
            assert!(!found.ok && found.message.contains("a checksum differs"));
        }
        // Another program has written the backups since then.
        let mut other = state.clone();
        other.end(of_file("2026-01-04", None, Extent::Header));
        assert!(other.finding(7, true, now).ok);
        state.end(with_key("2026-01-04", None, extent));
        assert!(state.finding(7, true, now).ok);
    }
}

#[test]
fn a_trial_whose_process_ended_is_followed_by_a_check_of_the_file() {
    let mut state = State::default();
    state.end(with_key("2026-01-01", None, Extent::Restored));
    state.begin(at("2026-01-02T00:00:00Z"));
    let (last, due) = (at("2026-01-02T05:59:59.999Z"), at("2026-01-02T06:00:00Z"));
    assert!(!state.is_due(7, Access::File, last));
    assert!(state.is_due(7, Access::File, due));
    state.end(of_file("2026-01-02", None, Extent::Unchanged));
    assert!(!state.is_due(7, Access::File, due));
    assert!(state.finding(7, true, due).ok);
}
