//! Tests of the parent module.

use super::*;
use proptest::prelude::*;

fn framed(text: &str, max: usize) -> Framed {
    Scan::default().frame(text.as_bytes(), max)
}

#[test]
fn a_response_ends_with_the_line_after_its_last_literal() {
    assert_eq!(framed("* OK hi\r\n* BYE\r\n", 0), Framed::Complete(9));
    assert_eq!(framed("* OK hi", 0), Framed::Partial);
    let fetch = "* 1 FETCH (BODY[] {5}\r\na\r\nb{ UID 7)\r\n";
    assert_eq!(framed(fetch, 5), Framed::Complete(fetch.len()));
    assert_eq!(framed(fetch, 4), Framed::TooLong, "one past the limit");
    for cut in 0..fetch.len() {
        assert_eq!(framed(&fetch[..cut], 5), Framed::Partial, "{cut}");
    }
    // None of these lines has the size of a literal.
    for line in ["a {}\r\n", "a {x}\r\n", "a {5}\n", "a 5}\r\n", "{5} \r\n"] {
        assert_eq!(framed(line, 5), Framed::Complete(line.len()), "{line}");
    }
    let huge = "* 1 FETCH (BODY[] {99999999999999999999999}\r\n";
    assert_eq!(framed(huge, 5), Framed::TooLong);
}

#[test]
fn lines_have_a_limit_together() {
    assert_eq!(framed(&"x".repeat(MAX_LINES), 5), Framed::Partial);
    assert_eq!(framed(&"x".repeat(MAX_LINES + 1), 5), Framed::TooLong);
    // Empty literals continue a response endlessly.
    let empty = "{0}\r\n";
    let most = empty.repeat(MAX_LINES / empty.len());
    assert_eq!(framed(&most, 0), Framed::Partial);
    assert_eq!(framed(&(most + empty), 0), Framed::TooLong);
    // Literals do not count toward the limit.
    let text = format!("{{9}}\r\n123456789{}", "x".repeat(MAX_LINES - 5));
    assert_eq!(framed(&text, 9), Framed::Partial);
    assert_eq!(framed(&(text + "x"), 9), Framed::TooLong);
}

#[test]
fn no_byte_is_searched_twice() {
    let text = format!("* 1 FETCH (BODY[] {{100}}\r\n{} x)\r\n", "a".repeat(100));
    let mut scan = Scan::default();
    for end in 0..text.len() {
        let before = scan.searched;
        assert_eq!(scan.frame(&text.as_bytes()[..end], 100), Framed::Partial);
        assert!(scan.searched >= before.max(end), "{end}");
    }
    assert_eq!(
        scan.frame(text.as_bytes(), 100),
        Framed::Complete(text.len())
    );
    assert_eq!(scan.frame(b"* OK\r\n", 0), Framed::Complete(6), "the next");
}

proptest! {
    #[test]
    fn parts_have_the_end_of_the_whole(
        parts in prop::collection::vec("(\\* OK a|\\{[0-9]\\}|b|\r|\n|\r\n|\\}|\\{3\\}\r\n)", 0..30),
        max in 0_usize..20,
    ) {
        let whole: String = parts.concat();
        let mut scan = Scan::default();
        let mut length = 0;
        let mut found = scan.frame(b"", max);
        for part in &parts {
            if found != Framed::Partial {
                break;
            }
            length += part.len();
            found = scan.frame(&whole.as_bytes()[..length], max);
        }
        prop_assert_eq!(found, framed(&whole, max));
    }
}

#[test]
fn odd_responses_are_no_responses() {
    assert!(parse(b"* OK [UIDNEXT 5] next\r\n").is_some());
    let odd = [
        "* OK [UIDNEXT 5]\u{e4}\r\n",
        "",
        "*",
        "* 1 FETCH (\r\n",
        // The parser panics on these responses.
        "* 1 FETCH (INTERNALDATE NIL)\r\n",
    ];
    for odd in odd {
        assert!(parse(odd.as_bytes()).is_none(), "{odd}");
    }
}

#[test]
fn nested_answers_do_not_exhaust_the_stack() {
    for start in [
        "* 1 FETCH (BODYSTRUCTURE ",
        "* 1 FETCH (BODYSTRUCTURE (\"a\" \"b\" NIL NIL NIL \"7BIT\" 1 NIL NIL NIL NIL ",
        "* OK [BADCHARSET ",
        // Quotes and braces that are not strings do not hide anything.
        "* 1 FETCH (FLAGS () BODY[] \"{99}\r\n\" BODYSTRUCTURE ",
        "* 1 FETCH (BODY[] \"a\\\\\" BODYSTRUCTURE ",
        "* 1 FETCH (BODY[] {1}\r\n\" BODYSTRUCTURE ",
    ] {
        let deep = format!("{start}{}\r\n", "(".repeat(500_000));
        assert!(parse(deep.as_bytes()).is_none(), "{start}");
    }
}

#[test]
fn only_parentheses_of_the_grammar_count() {
    let many = "(".repeat(100);
    let count = many.len();
    for text in [
        format!("* 1 FETCH (BODY[] {{{count}}}\r\n{many})\r\n"),
        format!("* 1 FETCH (BODY[] \"{many}\")\r\n"),
        format!("* 1 FETCH (BODY[] \"\\\"{many}\\\\\")\r\n"),
        format!("* 1 FETCH (BODY[] \"{{1}}{many}\")\r\n"),
    ] {
        assert!(parse(text.as_bytes()).is_some(), "{text}");
    }
    let nested = |depth: usize| format!("{}{}", "(".repeat(depth), ")".repeat(depth));
    assert!(!is_deeper(nested(MAX_DEPTH).as_bytes(), MAX_DEPTH));
    assert!(is_deeper(nested(MAX_DEPTH + 1).as_bytes(), MAX_DEPTH));
    assert!(!is_deeper("()".repeat(100).as_bytes(), 1));
    // A quote that is never closed is text.
    assert!(is_deeper(b"\" \\\" ((", 1));
    assert!(!is_deeper(b"* OK 5\" wide (a)\r\n", 1));
    // An answer with envelopes.
    let envelope = "* 1 FETCH (ENVELOPE (NIL NIL ((\"A\" NIL \"a\" \"b.c\")) NIL NIL NIL NIL NIL NIL NIL) UID 7)\r\n";
    assert!(parse(envelope.as_bytes()).is_some());
}
