//! Tests of the parent module.

use super::*;

#[test]
fn names_at_and_past_each_limit() {
    let (longest, too_long) = ("A".repeat(128), "A".repeat(129));
    for good in [
        "A", "_", "a1_B", "LD", "DYLD", "SERVICE", "PATHS", "path", &longest,
    ] {
        assert!(check_key(good).is_ok(), "{good}");
    }
    for bad in [
        "",
        "1A",
        "A-B",
        "A B",
        "Ä",
        "A=B",
        "A\0",
        "PATH",
        "LD_PRELOAD",
        "LD_",
        "DYLD_INSERT_LIBRARIES",
        "SERVICE_X",
        &too_long,
    ] {
        assert!(check_key(bad).is_err(), "{bad}");
    }
}

#[test]
fn values_at_and_past_the_limit() {
    let value = |length| SecretString::from("v".repeat(length));
    for good in [0, 1, 65_536] {
        assert!(check_value(&value(good)).is_ok());
    }
    assert!(check_value(&value(65_537)).is_err());
    assert!(check_value(&SecretString::from("a\0b")).is_err());
}
