//! Tests of the parent module.

use super::checks::check_key;
use super::*;

#[test]
fn input_at_and_past_each_limit() {
    for (id, good) in [
        ("", false),
        ("openai", true),
        ("my.own_one-2", true),
        ("a/b", false),
        (&"i".repeat(64), true),
        (&"i".repeat(65), false),
    ] {
        assert_eq!(check_id(id).is_ok(), good, "{id}");
    }
    for (key, good) in [
        ("", false),
        ("k", true),
        ("a b", false),
        ("a\n", false),
        ("ä", false),
        (&"k".repeat(4096), true),
        (&"k".repeat(4097), false),
    ] {
        assert_eq!(check_key(key).is_ok(), good, "{key}");
    }
    let url = |length| format!("https://u/{:u<1$}", "", length - "https://u/".len());
    for (url, good) in [
        (String::new(), false),
        ("not a URL".to_owned(), false),
        (url(10), true),
        (url(2048), true),
        (url(2049), false),
    ] {
        assert_eq!(check_url(&url).is_ok(), good, "{}", url.len());
    }
}

#[test]
fn a_hint_shows_little() {
    for (key, shown) in [
        ("", "…"),
        ("12345678901", "…"),
        ("123456789012", "…9012"),
        ("äääääääääää€", "…"),
    ] {
        assert_eq!(hint(key), shown);
    }
}
