//! Tests of the parent module.

use super::*;
use gatehouse_domain::Actor;

#[test]
fn labels_are_the_first_line_and_not_long() {
    assert_eq!(label_of_text("\n  Hello \u{1b}[1m\nworld"), "Hello [1m");
    assert_eq!(label_of_text(&"ä".repeat(60)), "ä".repeat(60));
    assert_eq!(
        label_of_text(&"ä".repeat(61)),
        format!("{}…", "ä".repeat(59))
    );
    assert_eq!(label_of_text("\u{1}"), "…");
    assert_eq!(label_of("webhook:a:b", 200), "webhook:a:b");
}

#[test]
fn a_text_at_and_past_the_limit() {
    let send = |text: String| check(&SendRequest::new(text, Actor::system()));
    assert!(send("x".repeat(1 << 20)).is_ok());
    assert!(send("x".repeat((1 << 20) + 1)).is_err());
    assert!(send(" \n".to_owned()).is_err());
}
