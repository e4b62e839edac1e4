//! Tests of the parent module.

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
fn a_nul_character_is_an_invalid_param_with_its_fields() {
    let problem = Problem::from(StoreError::NulCharacter("refused".into()));
    assert_eq!(problem.code, ErrorCode::InvalidParams);
    assert_eq!(problem.details["field"], "");
    assert_eq!(problem.details["reason"], "contains a NUL character");
}
