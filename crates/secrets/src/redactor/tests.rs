//! Tests of the parent module.

use super::*;

#[test]
fn escaped_forms_of_a_value_are_removed() {
    let value = "a_b/\"c\"&<d>\\é f";
    let redactor = Redactor::new([("{{secret:K}}".to_owned(), value)]);
    for text in [
        value,
        "a\\_b/\"c\"&\\<d>\\\\é f",
        "a_b\\/\\\"c\\\"\\u0026\\u003cd\\u003E\\\\\\u00e9 f",
        "a_b/\"c\"&amp;&lt;d&gt;\\é f",
        "a_b/&quot;c&quot;&amp;&lt;d&gt;\\é f",
        "a_b/&#34;c&#34;&#38;&#x3c;d&#0062;\\é f",
        "a&#x5F;b&#x2F;&#x22;c&quot;&amp;&lt;d&gt;&#92;&#233;&#32;f",
        "a%5Fb%2F%22c%22%26%3Cd%3E%5C%C3%A9%20f",
        "a_b%2f%22c%22%26%3cd%3e%5c%c3%a9+f",
        "a%255Fb%252F%2522c%2522%2526%253Cd%253E%255C%25C3%25A9%2520f",
        "a_b%25252f%252522c%252522&%25253Cd%25253E%25255C%2525C3%2525A9%252520f",
    ] {
        let around = format!("aä {text}{text} a");
        assert_eq!(
            redactor.redact(around),
            "aä {{secret:K}}{{secret:K}} a",
            "{text}"
        );
    }
    for other in ["a_b/\"c\" and a \\ b", "a%5", "a_b\\u00", "a_b%2"] {
        assert_eq!(redactor.redact(other.to_owned()), other);
    }
}

/// Checks a numeric character reference of exactly [`LONGEST_ESCAPE`] characters, and one that is longer by one
/// character.
#[test]
fn the_longest_escape_is_removed_and_dropped_at_the_end() {
    let redactor = Redactor::new([("K".to_owned(), "long-value")]);
    let escaped = |length: usize| {
        let escape = format!("&#{:0>1$};", 108, length - 3);
        assert_eq!(escape.len(), length);
        escape
    };
    let longest = format!("{}ong-value", escaped(LONGEST_ESCAPE));
    assert_eq!(redactor.redact(longest), "K");
    let longer = format!("{}ong-value", escaped(LONGEST_ESCAPE + 1));
    assert_eq!(redactor.redact(longer.clone()), longer);

    let reference = |c: char| format!("&#{:0>1$};", u32::from(c), LONGEST_ESCAPE - 3);
    let references = "long-value".chars().map(reference).collect::<Vec<_>>();
    let references = references.concat();
    assert_eq!(references.len(), "long-value".len() * LONGEST_ESCAPE);
    let (begun, _) = references.split_at(references.len() - 1);
    let cut = redactor.redact_cut(format!("{}{begun}", "ä".repeat(9)));
    assert!(!cut.contains('&') && cut.starts_with("ää"), "{cut}");
}

#[test]
fn a_value_is_removed_from_texts_in_base64() {
    // The values have characters that differ between the two alphabets. The last one has the minimum length.
    for value in ["tok/1+\"2\"&<3>?~\u{fb}", "12345678"] {
        let redactor = Redactor::new([("{K}".to_owned(), value)]);
        for around in ["", "a", "ab", "abc", "user:"] {
            let text = format!("{around}{value}{around}");
            for encoding in [&BASE64_NOPAD, &BASE64URL_NOPAD] {
                let encoded = encoding.encode(text.as_bytes());
                let redacted = redactor.redact(format!("x {encoded}= y"));
                let (before, after) = redacted.split_once("{K}").unwrap();
                // At most a part of the characters at both ends of the value remains.
                let most = around.len().div_ceil(3) * 4;
                assert!(before.len() <= 2 + most, "{around} {redacted}");
                assert!(after.len() <= 3 + most + 1, "{around} {redacted}");
            }
        }
    }
    // Both alphabets contain characters that are escaped in some texts.
    let value = "\u{3fb}\u{3ff}?~>\u{3fb}\u{3ff}?~>";
    let redactor = Redactor::new([("{K}".to_owned(), value)]);
    let standard = BASE64_NOPAD.encode(value.as_bytes());
    let url_safe = BASE64URL_NOPAD.encode(value.as_bytes());
    assert!(
        standard.contains('/') && standard.contains('+'),
        "{standard}"
    );
    for escaped in [
        standard.replace('/', "\\/"),
        standard.replace('/', "%2F").replace('+', "%2b"),
        standard.replace('/', "&#x2F;").replace('+', "&#43;"),
        url_safe.replace('_', "\\_"),
    ] {
        let redacted = redactor.redact(format!("x {escaped} y"));
        assert_eq!(redacted, "x {K}4 y", "{escaped}");
    }
    let short = Redactor::new([("{K}".to_owned(), "1234567")]);
    let encoded = BASE64_NOPAD.encode(b"ab1234567");
    assert_eq!(short.redact(encoded.clone()), encoded);
}

#[test]
fn a_value_is_removed_in_hexadecimal_digits() {
    for (value, is_removed) in [("tok/1+\u{e9}", true), ("a1b2c", true), ("a1b2", false)] {
        let redactor = Redactor::new([("{K}".to_owned(), value)]);
        for encoding in [&HEXLOWER, &HEXUPPER] {
            let text = format!("0{}f", encoding.encode(value.as_bytes()));
            let expected = if is_removed { "0{K}f" } else { text.as_str() };
            assert_eq!(redactor.redact(text.clone()), expected);
        }
    }
}

#[test]
fn a_value_that_looks_percent_encoded_is_removed() {
    let redactor = Redactor::new([("K".to_owned(), "a%5Cb%255Cc%2541")]);
    for text in [
        "a%5Cb%255Cc%2541",
        "a%255Cb%25255Cc%252541",
        "a%25255Cb%2525255Cc%25252541",
        "a%2525255Cb%252525255Cc%2525252541",
    ] {
        assert_eq!(redactor.redact(format!("{text}.")), "K.", "{text}");
    }
}

#[test]
fn a_value_that_looks_like_a_reference_is_removed() {
    for value in ["a&amp;bcdef", "a&#38;bcdef"] {
        let redactor = Redactor::new([("K".to_owned(), value)]);
        let escaped = value.replace('&', "&amp;");
        for text in [value, &escaped] {
            assert_eq!(redactor.redact(text.to_owned()), "K", "{text}");
        }
    }
}

#[test]
fn a_text_that_was_cut_ends_before_the_beginning_of_a_value() {
    let value = "long-value";
    let redactor = Redactor::new([("K".to_owned(), value)]);
    for shown in 0..value.len() {
        let (begun, _) = value.split_at(shown);
        let text = format!("{}{value}{begun}", "ä".repeat(200));
        let cut = redactor.redact_cut(text);
        assert!(!cut.contains('l') && cut.starts_with("ääää"), "{cut}");
    }
    assert_eq!(redactor.redact_cut("short".to_owned()), "");
    assert_eq!(
        Redactor::default().redact_cut("as it is".to_owned()),
        "as it is"
    );
}

#[test]
fn a_long_run_of_backslashes_is_read_once() {
    let redactor = Redactor::new([("{{secret:K}}".to_owned(), "long-value")]);
    let run = "\\".repeat(1 << 20);
    let redacted = redactor.redact(format!("{run}x{run}long-value"));
    assert_eq!(redacted, format!("{run}x{{{{secret:K}}}}"));
    let run = "&#92;".repeat(1 << 19);
    let redacted = redactor.redact(format!("{run}lo{run}x long-{run}value"));
    assert_eq!(redacted, format!("{run}lo{run}x {{{{secret:K}}}}"));
}
