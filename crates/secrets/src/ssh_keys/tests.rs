//! Tests of the parent module.

use super::*;

#[test]
fn names_at_and_past_each_limit() {
    let (longest, too_long) = ("n".repeat(64), "n".repeat(65));
    for good in ["a", "me@host", "a.b_c-d e", " ", &longest] {
        assert!(check_name(good).is_ok(), "{good}");
    }
    for bad in ["", "a/b", "a:b", "ä", "a\n", "a\0", &too_long] {
        assert!(check_name(bad).is_err(), "{bad}");
    }
}

#[test]
fn lengths_at_and_past_the_limit() {
    let text = |length| SecretString::from("p".repeat(length));
    assert!(check_length("passphrase", &text(1024), 1024).is_ok());
    assert!(check_length("passphrase", &text(1025), 1024).is_err());
}
