//! Tests of the parent module.

use super::*;

#[test]
fn what_json5_allows_is_read_with_its_lines() {
    let text = "// a comment\n{\n  a: 'it''s', /* more\n */ \"b\": [1, -.5, 0xff,],\n\
                c: \"\\u00e4\\ud83d\\ude00\\\nx\",\n  d: null, e: true,\n}\n";
    let error = read(text).unwrap_err();
    assert_eq!(error, (3, "expected `,` or `}`".to_owned()));
    let text = text.replace("it''s", "it\\'s");
    let root = read(&text).unwrap();
    assert_eq!(root.text_of("a"), Some("it's"));
    assert_eq!(root.get("b").unwrap().line, 4);
    let numbers: Vec<_> = root
        .get("b")
        .unwrap()
        .items()
        .iter()
        .map(Node::text)
        .collect();
    assert_eq!(numbers, [Some("1"), Some("-.5"), Some("0xff")]);
    assert_eq!(root.text_of("c"), Some("ä😀x"));
    assert!(root.get("d").is_none());
    assert_eq!(root.get("e").unwrap().line, 7);
}

#[test]
fn what_is_wrong_has_its_line() {
    for (text, line) in [
        ("", 1),
        ("{\n\n", 3),
        ("{\"a\": 1\n\"b\": 2}", 2),
        ("{\"a\": 1,\n\"a\": 2}", 2),
        ("[\n\"a\n\"]", 2),
        ("[\n1 2]", 2),
        ("{}\n{}", 2),
        ("\n/* x\n", 2),
        ("[\"\\ud83d\"]", 1),
        ("[\"\\x4\"]", 1),
        ("[nope]", 1),
        ("[0x]", 1),
        ("{1a: 2}", 1),
    ] {
        assert_eq!(read(text).map(|_| ()).unwrap_err().0, line, "{text:?}");
    }
}

#[test]
fn depth_has_a_limit() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(read(&nested(MAX_DEPTH + 1)).is_ok());
    assert!(read(&nested(MAX_DEPTH + 2)).is_err());
}
