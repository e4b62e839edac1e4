//! Tests of the parent module.

use super::*;

#[test]
fn only_the_vendor_itself_knows_the_new_name_of_the_limit() {
    for (base, name) in [
        ("https://api.openai.com/v1", "max_completion_tokens"),
        ("http://127.0.0.1:11434/v1", "max_tokens"),
    ] {
        assert_eq!(limit_name(&Url::parse(base).unwrap(), false), name);
        assert_ne!(limit_name(&Url::parse(base).unwrap(), true), name);
    }
}

#[test]
fn an_entry_of_a_list_has_a_name() {
    assert!(Openai.listed(&json!({"id": 5})).is_none());
    assert!(Openai.listed(&json!([])).is_none());
}
