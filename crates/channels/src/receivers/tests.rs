//! Tests of the parent module.

use super::names::MAX_NAMED;
use super::*;

#[test]
fn so_many_files_are_read_and_the_next_ones_are_named() {
    let files = |count: usize| {
        let named = (1..=count).map(|number| ReceivedFile {
            name: number.to_string(),
            ..ReceivedFile::default()
        });
        at_most_files("hi".to_owned(), named.collect())
    };
    let (text, read) = files(MAX_FILES);
    assert_eq!((text.as_str(), read.len()), ("hi", MAX_FILES));
    let (text, read) = files(MAX_FILES + 1);
    assert_eq!(
        (text.as_str(), read.len()),
        ("hi\n\n(Not read: 11)", MAX_FILES)
    );
    let (text, _) = files(MAX_FILES + MAX_NAMED + 1);
    assert!(text.ends_with(", 20)"), "{text}");
}

#[test]
fn mailboxes_with_other_addresses_are_other_inboxes() {
    let inbox = |addresses: &[&str]| {
        let addresses = addresses.iter().map(|it| (*it).to_owned()).collect();
        Inbox::of_mail(["mail.example.com", "box", "INBOX"], addresses)
    };
    assert!(inbox(&["a@x", "b@x"]) == inbox(&["b@x", "a@x", "b@x"]));
    assert!(inbox(&["a@x", "b@x"]) != inbox(&["a@x"]));
}

#[test]
fn a_name_is_short_and_visible() {
    assert_eq!(display_name("  ", "@a:b"), "@a:b");
    assert_eq!(display_name("a\u{202e}b\n", "x"), "a\\u{202E}b");
    assert_eq!(display_name(&"ä".repeat(65), "x"), "ä".repeat(64));
}
