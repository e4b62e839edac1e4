//! Markers in every place that matters, cut in every place.

use super::{MarkupFilter, Tag};
use proptest::prelude::*;

fn filter(pieces: &[&str]) -> (String, Option<Tag>) {
    let mut filter = MarkupFilter::new();
    let mut visible: String = pieces.iter().map(|piece| filter.push(piece)).collect();
    let (rest, tag) = filter.finish();
    visible.push_str(&rest);
    (visible, tag)
}

fn whole(text: &str) -> (String, Option<Tag>) {
    filter(&[text])
}

fn tag(persona: Option<&str>, parts: &[&str]) -> Option<Tag> {
    Some(Tag {
        persona: persona.map(str::to_owned),
        parts: parts.iter().map(|part| (*part).to_owned()).collect(),
    })
}

/// Texts, what is visible of them, and what their markers say.
fn cases() -> Vec<(&'static str, &'static str, Option<Tag>)> {
    let plain = || tag(None, &[]);
    vec![
        ("Hello", "Hello", None),
        ("", "", None),
        ("[[tts]]", "", plain()),
        ("[[tts]] Hello", "Hello", plain()),
        ("Hello [[tts]]", "Hello", plain()),
        ("Hello [[tts]] world", "Hello world", plain()),
        ("Hello[[tts]]world", "Helloworld", plain()),
        ("Hello[[tts]] world", "Hello world", plain()),
        ("Hello [[tts]]world", "Hello world", plain()),
        ("Hello  [[tts]]  world", "Hello world", plain()),
        ("a [[tts]] [[tts:persona=x]] b", "a b", tag(Some("x"), &[])),
        (
            "[[tts:persona=a]][[tts:persona=b]]",
            "",
            tag(Some("a"), &[]),
        ),
        ("[[ tts ]]x", "x", plain()),
        (
            "[[\ttts : persona = Ada.L_1-2 ]]x",
            "x",
            tag(Some("Ada.L_1-2"), &[]),
        ),
        ("Über 👩‍👧 [[tts]] ñ", "Über 👩‍👧 ñ", plain()),
        // Lines.
        ("One\n[[tts]]\nTwo", "One\nTwo", plain()),
        ("One\n\n[[tts]]\n\nTwo", "One\n\nTwo", plain()),
        ("One\n\n[[tts]]\nTwo", "One\n\nTwo", plain()),
        ("One\n[[tts]]\n\nTwo", "One\n\nTwo", plain()),
        ("One\r\n[[tts]]\r\nTwo", "One\r\nTwo", plain()),
        ("One [[tts]]\r\nTwo", "One\r\nTwo", plain()),
        ("One [[tts]]\n  Two", "One\n  Two", plain()),
        ("One\n[[tts]] Two", "One\nTwo", plain()),
        ("One\n  [[tts]]\n   Two", "One\n   Two", plain()),
        ("\n\n[[tts]]\n\nTwo", "Two", plain()),
        ("One\n\n[[tts]]\n", "One", plain()),
        ("One\n\n", "One\n\n", None),
        ("  One ", "  One ", None),
        // Parts.
        (
            "Hi. [[tts]]Say this.[[/tts]] Bye.",
            "Hi. Say this. Bye.",
            tag(None, &["Say this."]),
        ),
        (
            "[[tts:persona=x]] a [[/tts]] b [[tts]]c[[/tts]]",
            "a b c",
            tag(Some("x"), &["a", "c"]),
        ),
        ("[[tts]] a [[tts]]b[[ /tts ]] c", "a b c", tag(None, &["b"])),
        ("[[tts]]a[[/tts]] b [[tts]] c", "a b c", tag(None, &["a"])),
        ("[[tts]] [[/tts]] b", "b", plain()),
        ("a [[/tts]] b", "a b", None),
        (
            "[[tts]]a `[[/tts]]` b[[/tts]]",
            "a `[[/tts]]` b",
            tag(None, &["a `[[/tts]]` b"]),
        ),
        // What only looks like a marker.
        (
            "[[ttsx]] [[tts:persona=]] [[tts:persona=a b]]",
            "[[ttsx]] [[tts:persona=]] [[tts:persona=a b]]",
            None,
        ),
        (
            "[[tts:voice=x]] [[TTS]] [tts] [[t ts]] [[tts] ]",
            "[[tts:voice=x]] [[TTS]] [tts] [[t ts]] [[tts] ]",
            None,
        ),
        ("a [[tts", "a [[tts", None),
        ("a [[tts]", "a [[tts]", None),
        ("[[\ntts]]", "[[\ntts]]", None),
        ("[[[tts]]]", "[]", plain()),
        ("[[tts[[tts]]", "[[tts", plain()),
        // Joined around one that was taken out.
        ("[[t[[tts]]ts]]", "[[tts]", plain()),
        ("[[ [[tts]] tts ]] x", "[[ tts ] x", plain()),
        // Spans.
        ("`[[tts]]`", "`[[tts]]`", None),
        ("`` ` [[tts]] ``", "`` ` [[tts]] ``", None),
        ("a ` b [[tts]] c", "a ` b c", plain()),
        ("a ` b [[tts]] c ` d", "a ` b [[tts]] c ` d", None),
        ("a ` b\n[[tts]] c ` d", "a ` b\n[[tts]] c ` d", None),
        ("a ` b\n\n[[tts]] c ` d", "a ` b\n\nc ` d", plain()),
        ("a ` b [[tts]]\n\nc ` d", "a ` b\n\nc ` d", plain()),
        ("a ` b `` [[tts]] `` c", "a ` b `` [[tts]] `` c", None),
        (
            "a `` b ` [[tts]] ` c [[tts]]",
            "a `` b ` [[tts]] ` c",
            plain(),
        ),
        ("a `` b [[tts]] ` c", "a `` b ` c", plain()),
        ("\\` [[tts]] `", "\\` `", plain()),
        ("\\\\` [[tts]] `", "\\\\` [[tts]] `", None),
        ("`a\\` [[tts]]", "`a\\`", plain()),
        ("\\`` [[tts]] `", "\\`` [[tts]] `", None),
        ("- a ` b\n- [[tts]] ` c", "- a ` b\n- ` c", plain()),
        ("# a ` b\n[[tts]] ` c", "# a ` b\n` c", plain()),
        ("a ` b\n# [[tts]] c `", "a ` b\n# c `", plain()),
        ("a ` b\n---\n[[tts]] c `", "a ` b\n---\nc `", plain()),
        ("a ` b\n> [[tts]] c `", "a ` b\n> c `", plain()),
        ("> a ` b\n> [[tts]] c `", "> a ` b\n> [[tts]] c `", None),
        (
            "was\n1986. a ` b\n1987. [[tts]] c `",
            "was\n1986. a ` b\n1987. [[tts]] c `",
            None,
        ),
        // Fences.
        ("```\n[[tts]]\n```\n", "```\n[[tts]]\n```\n", None),
        ("```\n[[tts]]\n```\n[[tts]]", "```\n[[tts]]\n```\n", plain()),
        (
            "```\n[[tts]]\n```\n[[tts]]\nEnd",
            "```\n[[tts]]\n```\nEnd",
            plain(),
        ),
        (
            "```\n[[tts]]\n``\n[[tts]]",
            "```\n[[tts]]\n``\n[[tts]]",
            None,
        ),
        (
            "````\n```\n[[tts]]\n````\n[[tts]]",
            "````\n```\n[[tts]]\n````\n",
            plain(),
        ),
        ("```\na\n`````\n[[tts]]b", "```\na\n`````\nb", plain()),
        ("``` sh [[tts]]\nx\n```\n", "``` sh [[tts]]\nx\n```\n", None),
        ("``` sh [[tts]]", "``` sh [[tts]]", None),
        ("``` a ``` [[tts]]", "``` a ```", plain()),
        ("``` [[tts]] ``` b", "``` [[tts]] ``` b", None),
        ("``` [[tts]] ` b", "``` ` b", plain()),
        (
            "~~~ a ` [[tts]]\n[[tts]]\n~~~\n[[tts]]",
            "~~~ a ` [[tts]]\n[[tts]]\n~~~\n",
            plain(),
        ),
        (
            "~~~[[tts]] `\n[[tts]]\n~~~",
            "~~~[[tts]] `\n[[tts]]\n~~~",
            None,
        ),
        (
            "~~~\n```\n[[tts]]\n~~~~  \nb [[tts]]",
            "~~~\n```\n[[tts]]\n~~~~  \nb",
            plain(),
        ),
        (
            "   ```\n[[tts]]\n   ```\nb[[tts]]",
            "   ```\n[[tts]]\n   ```\nb",
            plain(),
        ),
        ("    ```\n[[tts]]", "    ```", plain()),
        (
            "```\n[[tts]]\n    ```\n[[tts]]",
            "```\n[[tts]]\n    ```\n[[tts]]",
            None,
        ),
        (
            "a ` b\n```\n[[tts]] `\n```\nc [[tts]]",
            "a ` b\n```\n[[tts]] `\n```\nc",
            plain(),
        ),
        (
            "a ` [[tts]] b\n```\n[[tts]]\n```\nc",
            "a ` b\n```\n[[tts]]\n```\nc",
            plain(),
        ),
        (
            "a ``` b\n``` [[tts]] c\n[[tts]]\n```\nd",
            "a ``` b\n``` [[tts]] c\n[[tts]]\n```\nd",
            None,
        ),
        (
            "1. Do\n   ```sh\n   [[tts]]\n   ```\n   [[tts]] x",
            "1. Do\n   ```sh\n   [[tts]]\n   ```\n   x",
            plain(),
        ),
        (
            "10. Do\n\n    ```sh\n    [[tts]]\n    ```\n",
            "10. Do\n\n    ```sh\n    [[tts]]\n    ```\n",
            None,
        ),
        (
            "- a\n  ```\n  [[tts]]\nb [[tts]]",
            "- a\n  ```\n  [[tts]]\nb",
            plain(),
        ),
        (
            "- ```\n  [[tts]]\n  ```\n- b [[tts]]",
            "- ```\n  [[tts]]\n  ```\n- b",
            plain(),
        ),
        (
            "> ```\n> [[tts]]\n> ```\n> a [[tts]]",
            "> ```\n> [[tts]]\n> ```\n> a",
            plain(),
        ),
        (
            "> ```\n> [[tts]]\na [[tts]]",
            "> ```\n> [[tts]]\na",
            plain(),
        ),
        (
            "> a\n```\n[[tts]]\n```\nb [[tts]]",
            "> a\n```\n[[tts]]\n```\nb",
            plain(),
        ),
        (
            "[[tts]] ```\n[[tts]]\n```\nb",
            "```\n[[tts]]\n```\nb",
            plain(),
        ),
        (
            "[[tts]]     ```\n[[tts]]\n```\nb",
            "```\n[[tts]]\n```\nb",
            plain(),
        ),
        (
            "```\r\n[[tts]]\r\n```\r\na [[tts]]",
            "```\r\n[[tts]]\r\n```\r\na",
            plain(),
        ),
    ]
}

#[test]
fn markers_go_and_what_they_say_is_known() {
    for (text, visible, tag) in cases() {
        assert_eq!(whole(text), (visible.to_owned(), tag), "{text:?}");
    }
}

#[test]
fn every_cut_gives_the_same() {
    for (text, visible, tag) in cases() {
        let expected = (visible.to_owned(), tag);
        for (at, _) in text.char_indices() {
            let (one, two) = text.split_at(at);
            assert_eq!(filter(&[one, two]), expected, "{one:?} {two:?}");
            for (then, _) in two.char_indices() {
                let (two, three) = two.split_at(then);
                assert_eq!(
                    filter(&[one, two, three]),
                    expected,
                    "{one:?} {two:?} {three:?}"
                );
            }
        }
        let letters: Vec<String> = text.chars().map(String::from).collect();
        let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
        assert_eq!(filter(&letters), expected, "{text:?}");
    }
}

#[test]
fn what_is_visible_has_no_marker_left() {
    for (text, ..) in cases() {
        let visible = whole(text).0;
        assert_eq!(whole(&visible), (visible, None), "{text:?}");
    }
}

#[test]
fn text_passes_at_once() {
    let mut filter = MarkupFilter::new();
    assert_eq!(filter.push("Hel"), "Hel");
    assert_eq!(filter.push("lo, `wor"), "lo, `wor");
    assert_eq!(filter.push("ld [1] "), "ld [1]");
    assert_eq!(filter.push("x [["), " x");
    assert_eq!(filter.push("y"), " [[y");
    assert_eq!(
        filter.push("\n```rust\nlet x = 1;\n"),
        "\n```rust\nlet x = 1;\n"
    );
    // A marker in a span that is open: what is behind it waits, and no longer than for the span.
    let mut filter = MarkupFilter::new();
    assert_eq!(filter.push("a ` b [[tts]] c"), "a ` b");
    assert_eq!(filter.push(" d\n"), "");
    assert_eq!(filter.push("\ne"), " c d\n\ne");
    let mut filter = MarkupFilter::new();
    assert_eq!(filter.push("a ` b [[tts]] c"), "a ` b");
    assert_eq!(filter.push("`"), "");
    assert_eq!(filter.push(" d"), " [[tts]] c` d");
}

#[test]
fn a_persona_and_a_marker_are_no_longer_than_they_may_be() {
    let id = "x".repeat(64);
    assert_eq!(
        whole(&format!("[[tts:persona={id}]]")).1,
        tag(Some(&id), &[])
    );
    let long = format!("[[tts:persona={id}x]]");
    assert_eq!(whole(&long), (long.clone(), None));
    let blanks = |count: usize| format!("[[{}tts]]", " ".repeat(count));
    assert_eq!(whole(&blanks(128 - 7)), (String::new(), tag(None, &[])));
    assert_eq!(whole(&blanks(128 - 6)), (blanks(128 - 6), None));
    let mut filter = MarkupFilter::new();
    assert_eq!(filter.push(&format!("[[{}", " ".repeat(125))), "");
    assert!(filter.push(" x").starts_with("[["));
}

#[test]
fn white_space_does_not_wait_without_end() {
    let mut filter = MarkupFilter::new();
    assert_eq!(filter.push(&" ".repeat(1024)), "");
    assert_eq!(filter.push(" ").len(), 1025);
}

#[test]
fn long_texts_take_one_pass() {
    let runs: String = (1..700)
        .map(|length| "`".repeat(length) + " [[tts]] ")
        .collect();
    for text in [
        "[".repeat(500_000),
        "[[tts".repeat(100_000),
        "`a [[tts]] ".repeat(30_000),
        "[[tts]] ".repeat(60_000),
        "[[t[[tts]]".repeat(40_000),
        "```x`\n[[tts]]".repeat(30_000),
        "- ".repeat(200_000),
        "> ".repeat(200_000),
        " ".repeat(500_000),
        runs,
    ] {
        let (visible, _) = whole(&text);
        assert!(visible.len() <= text.len());
    }
}

/// Texts of the parts that matter.
fn marked_up() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => Just("[[tts]]"),
        2 => Just("[[tts:persona=x]]"),
        2 => Just("[[/tts]]"),
        4 => Just("`"),
        2 => Just("``"),
        2 => Just("```"),
        1 => Just("~~~"),
        4 => Just("\n"),
        2 => Just("\n\n"),
        5 => Just(" "),
        3 => Just("wörd"),
        1 => Just("- "),
        1 => Just("> "),
        1 => Just("1. "),
        1 => Just("# "),
        1 => Just("["),
        1 => Just("[[t"),
        1 => Just("ts]]"),
        1 => Just("\\"),
        1 => Just("\r\n"),
    ];
    proptest::collection::vec(part, 0..30).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn cuts_do_not_matter(text in marked_up(), cuts in proptest::collection::vec(0..300_usize, 0..6)) {
        let mut places: Vec<usize> = cuts.into_iter().filter(|at| text.is_char_boundary(*at)).collect();
        places.sort_unstable();
        let mut pieces = Vec::new();
        let mut start = 0;
        for place in places {
            pieces.push(&text[start..place]);
            start = place;
        }
        pieces.push(&text[start..]);
        prop_assert_eq!(filter(&pieces), whole(&text));
    }

    #[test]
    fn without_brackets_nothing_changes(text in "[a-z `~\n\\\\>#*-]{0,80}") {
        prop_assert_eq!(whole(&text), (text, None));
    }

    #[test]
    fn anything_else_stays(text in "\\PC{0,80}") {
        prop_assume!(!text.contains("[["));
        prop_assert_eq!(whole(&text), (text, None));
    }

    #[test]
    fn what_goes_is_markers_and_white_space(text in marked_up()) {
        let kept = |text: &str| -> String { text.chars().filter(|c| !" \n\r".contains(*c)).collect() };
        let visible = kept(&whole(&text).0);
        let mut rest = kept(&text);
        for marker in ["[[tts:persona=x]]", "[[/tts]]", "[[tts]]"] {
            rest = rest.replace(marker, "");
        }
        prop_assume!(!rest.contains("tts]"));
        // Every visible character outside markers is there, in its order.
        let mut all = visible.chars();
        prop_assert!(rest.chars().all(|c| all.any(|other| other == c)), "{}", visible);
    }
}
