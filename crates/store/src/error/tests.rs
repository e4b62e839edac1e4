//! Tests of the parent module.

use super::causes::{is_unavailable_in_postgres, is_unavailable_in_sqlite};
use super::*;

#[test]
fn codes_are_sorted_by_what_the_caller_can_do() {
    // 2067 is `SQLITE_CONSTRAINT_UNIQUE`, 1 `SQLITE_ERROR`, 778 `SQLITE_IOERR_WRITE`, 5 `SQLITE_BUSY`.
    for (code, expected) in [
        (13, true),
        (5, true),
        (8, true),
        (778, true),
        (1, false),
        (2067, false),
    ] {
        assert_eq!(is_unavailable_in_sqlite(code), expected, "{code}");
    }
    for (code, expected) in [
        ("53100", true),
        ("57P01", true),
        ("25006", true),
        ("25P03", true),
        ("25P02", false),
        ("42601", false),
        ("23505", false),
    ] {
        assert_eq!(is_unavailable_in_postgres(code), expected, "{code}");
    }
}

#[test]
fn a_damaged_file_and_a_full_disk_are_reported_with_what_to_do() {
    // 11 is `SQLITE_CORRUPT`, 26 `SQLITE_NOTADB`, 13 `SQLITE_FULL`, 4874 `SQLITE_IOERR_SHMSIZE`, 5 `SQLITE_BUSY`.
    for (code, expected) in [
        (11, "damaged"),
        (26, "damaged"),
        (13, "free space"),
        (4874, "free space"),
    ] {
        let failure = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
        let text = StoreError::from(failure).to_string();
        assert!(text.contains(expected), "{code}: {text}");
    }
    let busy = rusqlite::Error::SqliteFailure(ffi::Error::new(5), None);
    for other in [StoreError::from(busy), StoreError::unavailable("closed")] {
        assert_eq!(other.to_string(), "the database is unavailable");
    }
}

#[test]
fn only_locks_of_others_are_a_lock_conflict() {
    let timeout = LockTimeout("canceling statement due to lock timeout (55P03)".to_owned());
    for (error, expected) in [
        (StoreError::unavailable(timeout), true),
        (
            StoreError::Deadlock("deadlock detected (40P01)".into()),
            true,
        ),
        (StoreError::unavailable("connection closed"), false),
        (StoreError::OutcomeUnknown, false),
    ] {
        assert_eq!(error.is_lock_conflict(), expected, "{error:?}");
    }
}

#[test]
fn a_missing_value_and_bytes_may_be_from_a_newer_version() {
    for (kind, is_damaged) in [
        (Type::Text, true),
        (Type::Real, true),
        (Type::Null, false),
        (Type::Blob, false),
    ] {
        let error = rusqlite::Error::InvalidColumnType(0, "body_size".to_owned(), kind);
        assert_eq!(
            StoreError::from(error).is_damaged_value(),
            is_damaged,
            "{kind}"
        );
    }
    assert!(!StoreError::unavailable("closed").is_damaged_value());
}

#[test]
fn a_nul_character_is_an_invalid_param_with_its_fields() {
    let problem = Problem::from(StoreError::NulCharacter("refused".into()));
    assert_eq!(problem.code, ErrorCode::InvalidParams);
    assert_eq!(problem.details["field"], "");
    assert_eq!(problem.details["reason"], "contains a NUL character");
}
