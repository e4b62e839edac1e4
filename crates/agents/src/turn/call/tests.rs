//! Tests of the parent module.

use super::answer::in_words;
use super::*;
use crate::tool::MAX_OUTPUT_BYTES;

#[test]
fn output_at_and_past_the_limit() {
    let whole = "ä".repeat(MAX_OUTPUT_BYTES / 2);
    assert_eq!(capped(whole.clone()), whole);
    let cut = capped(format!("{whole}b"));
    assert!(cut.len() <= MAX_OUTPUT_BYTES && cut.len() > MAX_OUTPUT_BYTES - 50);
    assert!(cut.ends_with("too long]"));
}

#[test]
fn a_wait_is_in_whole_minutes_or_in_seconds() {
    for (seconds, words) in [
        (1, "1 second"),
        (59, "59 seconds"),
        (60, "1 minute"),
        (61, "61 seconds"),
        (300, "5 minutes"),
    ] {
        assert_eq!(in_words(Duration::from_secs(seconds)), words);
    }
}

#[test]
fn input_is_an_object() {
    for good in ["{}", "{\"a\":1}"] {
        assert!(read_input(good).is_some(), "{good}");
    }
    for bad in ["", " ", "{", "1", "null", "[]", "\"x\""] {
        assert!(read_input(bad).is_none(), "{bad}");
    }
}
