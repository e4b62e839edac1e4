//! Tests markers in all relevant positions, with the text cut at every position.

use super::cases::{CASES, Says};
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

/// Returns the tag that a case expects.
fn said(says: Says) -> Option<Tag> {
    let (persona, parts) = says?;
    Some(Tag {
        persona: persona.map(str::to_owned),
        parts: parts.iter().map(|part| (*part).to_owned()).collect(),
    })
}

#[test]
fn markers_go_and_what_they_say_is_known() {
    for (text, visible, says) in CASES {
        assert_eq!(
            whole(text),
            ((*visible).to_owned(), said(*says)),
            "{text:?}"
        );
    }
}

#[test]
fn every_cut_gives_the_same() {
    for (text, visible, says) in CASES {
        let expected = ((*visible).to_owned(), said(*says));
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
    for (text, ..) in CASES {
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
    // The marker is in an open span. The text after it is held back until the span is resolved.
    let mut filter = MarkupFilter::new();
    assert_eq!(filter.push("a ` b [[tts]] c"), "a ` b");
    assert_eq!(filter.push(" d\n"), "");
    assert_eq!(filter.push("\ne"), " c d\n\ne");
    let mut filter = MarkupFilter::new();
    assert_eq!(filter.push("a ` b [[tts]] c"), "a ` b");
    assert_eq!(filter.push("`"), "");
    assert_eq!(filter.push(" d"), " [[tts]] c` d");
}

fn of(persona: &str) -> Tag {
    Tag {
        persona: Some(persona.to_owned()),
        parts: Vec::new(),
    }
}

#[test]
fn a_persona_and_a_marker_are_no_longer_than_they_may_be() {
    let id = "x".repeat(64);
    assert_eq!(whole(&format!("[[tts:persona={id}]]")).1, Some(of(&id)));
    let long = format!("[[tts:persona={id}x]]");
    assert_eq!(whole(&long), (long.clone(), None));
    let blanks = |count: usize| format!("[[{}tts]]", " ".repeat(count));
    assert_eq!(
        whole(&blanks(128 - 7)),
        (String::new(), Some(Tag::default()))
    );
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
        "- ".repeat(100_000) + "```\n" + &"\n".repeat(200_000) + "[[tts]]",
        runs,
    ] {
        let (visible, _) = whole(&text);
        assert!(visible.len() <= text.len());
    }
}

#[test]
fn markers_of_long_texts_are_the_same_in_pieces() {
    for piece in [
        "a [[tts]] `` b ",
        "` [[tts]] a\n",
        "> ```\n> [[tts]]```\n> ```\n",
    ] {
        let pieces = vec![piece; 2_000];
        assert_eq!(filter(&pieces), whole(&pieces.concat()), "{piece:?}");
    }
}

/// Returns texts composed of the relevant parts.
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
        // All visible characters outside markers are present and in order.
        let mut all = visible.chars();
        prop_assert!(rest.chars().all(|c| all.any(|other| other == c)), "{}", visible);
    }
}
