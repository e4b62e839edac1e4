//! Tests of the parent module.

use super::*;

#[test]
fn names_are_one_visible_line_without_directories() {
    for (given, name) in [
        ("cat.png", "cat.png"),
        ("../../etc/passwd", "passwd"),
        ("C:\\x\\a b.pdf", "a b.pdf"),
        ("invoice\u{202e}fdp.exe\n\u{200b}", "invoicefdp.exe"),
        ("ä\u{0}ö.txt", "äö.txt"),
        ("", "file"),
        ("..", "file"),
        (" \u{e0041} ", "file"),
    ] {
        assert_eq!(clean_name(given), name, "{given:?}");
    }
    assert_eq!(clean_name(&"ä".repeat(200)), "ä".repeat(200));
    assert_eq!(clean_name(&"ä".repeat(201)), "ä".repeat(200));
}

#[test]
fn ten_files_are_allowed_and_eleven_are_not() {
    let ids = |count: usize| -> Vec<String> { (0..count).map(|n| n.to_string()).collect() };
    assert!(check(&ids(10), 0).is_ok() && check(&ids(9), 1).is_ok());
    assert!(check(&ids(11), 0).is_err() && check(&ids(10), 1).is_err());
    assert!(check(&["a".to_owned(), "a".to_owned()], 0).is_err());
}
