//! Tests for cuts at pauses, and properties of every cut.

use super::pieces;
use proptest::prelude::*;

fn cut(text: &str, max_characters: usize) -> Vec<String> {
    pieces(text, max_characters, usize::MAX)
}

#[test]
fn what_fits_is_one_piece_and_nothing_is_none() {
    assert_eq!(cut("", 10), Vec::<String>::new());
    assert_eq!(cut("0123456789", 10), ["0123456789"]);
    assert_eq!(cut("01234567890", 10), ["0123456789", "0"]);
    assert_eq!(cut("  ", 10), ["  "]);
    assert_eq!(pieces("äöü", 10, 6), ["äöü"]);
    assert_eq!(pieces("äöü", 10, 5), ["äö", "ü"]);
}

#[test]
fn a_cut_is_made_at_the_last_best_place_that_fits() {
    for (text, max, expected) in [
        // A sentence end takes precedence over a later comma and a later space.
        (
            "One is here. Two, three four",
            24,
            vec!["One is here. ", "Two, three four"],
        ),
        (
            "It is. We go. You see. So.",
            16,
            vec!["It is. We go. ", "You see. So."],
        ),
        // A clause end takes precedence over a later space.
        (
            "one two, three four five",
            20,
            vec!["one two, ", "three four five"],
        ),
        ("one two three four", 10, vec!["one two ", "three four"]),
        // At the limit, the white space after it moves to the next piece.
        (
            "Ends here. Then more words.",
            10,
            vec!["Ends here.", " Then more", " words."],
        ),
        (
            "“Stop!” he cried. “Go.” Then",
            24,
            vec!["“Stop!” he cried. “Go.” ", "Then"],
        ),
        (
            "He said “Stop!” Then he",
            20,
            vec!["He said “Stop!” ", "Then he"],
        ),
        (
            "Title\n\nText that goes on",
            16,
            vec!["Title\n\n", "Text that goes ", "on"],
        ),
        (
            "first line\nsecond line goes",
            20,
            vec!["first line\n", "second line goes"],
        ),
    ] {
        assert_eq!(cut(text, max), expected, "{text}");
    }
}

#[test]
fn stops_within_a_sentence_do_not_end_it() {
    for (text, max) in [
        ("Pi is large, 3.14 or so it is", 17),
        ("Go, z.B. Dr. Meier is there now", 20),
        ("So, e.g. The Hague is a city now", 20),
        ("Yes, am 1. Mai is a day off here", 20),
        ("Yes, Prof. Adams is at home now", 20),
        ("Yes, wait... and then go on now", 20),
        ("Yes, J. Smith is at his home now", 20),
    ] {
        let comma = text.find(", ").unwrap() + 2;
        assert_eq!(cut(text, max).first().unwrap(), &text[..comma], "{text}");
    }
    // A year and two punctuation marks end a sentence.
    assert_eq!(cut("It was 2024. Then, it was", 20)[0], "It was 2024. ");
    assert_eq!(cut("Is it Dr.? Yes, it is him", 18)[0], "Is it Dr.? ");
}

#[test]
fn scripts_without_spaces_are_cut_after_their_stops() {
    assert_eq!(
        cut("你好。今天天气很好！我们走吧？好的。", 12),
        ["你好。今天天气很好！", "我们走吧？好的。"]
    );
    assert_eq!(
        cut("「行こう。」と彼は言った。", 8),
        ["「行こう。」", "と彼は言った。"]
    );
    assert_eq!(cut("他走了……我们也走了吧", 8), ["他走了……", "我们也走了吧"]);
    assert_eq!(cut("今天，我们去公园玩", 6), ["今天，", "我们去公园玩"]);
}

#[test]
fn what_a_reader_sees_as_one_character_is_not_cut() {
    let family = "👩‍👩‍👧‍👦";
    let text = family.repeat(3);
    // Each emoji has seven characters.
    assert_eq!(cut(&text, 10), [family, family, family]);
    assert_eq!(
        cut("e\u{301}e\u{301}e\u{301}", 3),
        ["e\u{301}", "e\u{301}", "e\u{301}"]
    );
    // A grapheme cluster that does not fit is split.
    assert_eq!(cut(family, 4).concat(), family);
    assert_eq!(pieces("ä", 1, 1), ["ä"]);
    assert_eq!(cut("ab", 0), ["a", "b"]);
}

#[test]
fn white_space_stays_with_a_word() {
    assert_eq!(cut("abcd ", 4), ["abc", "d "]);
    assert_eq!(cut(" abcd", 4), [" abc", "d"]);
    assert_eq!(cut("Hi there.  \n ", 10), ["Hi ", "there.  \n "]);
    // Not all of the white space fits.
    assert_eq!(cut("a         b", 4), ["a   ", "    ", "  b"]);
}

#[test]
fn a_million_characters_are_cut_in_one_pass() {
    let shapes = [
        "word ".to_owned(),
        "A sentence. ".to_owned(),
        "x".to_owned(),
        "\u{301}".to_owned(),
        "!".to_owned(),
        "。".to_owned(),
        " ".to_owned(),
        "a, ".to_owned(),
        "👩‍".to_owned(),
    ];
    for shape in &shapes {
        for count in [100_000, 1_000_000] {
            let text = shape.repeat(count / shape.chars().count());
            let all = pieces(&text, 4096, 5000);
            assert_eq!(all.concat(), text);
            assert!(all.len() <= count / 500, "{shape:?}: {} pieces", all.len());
        }
    }
}

fn words() -> impl Strategy<Value = String> {
    let word = "[a-zäß。！,.!?…“”0-9]{1,12}";
    let white = prop_oneof![Just(" "), Just("\n"), Just("  "), Just("\n\n")];
    proptest::collection::vec((word, white), 0..40).prop_map(|words| {
        let parts = words.into_iter().map(|(word, white)| word + white);
        parts.collect()
    })
}

proptest! {
    #[test]
    fn pieces_are_the_text_and_within_the_limits(
        text in ".{0,300}",
        max_characters in 1..50_usize,
        max_bytes in 4..120_usize,
    ) {
        let all = pieces(&text, max_characters, max_bytes);
        prop_assert_eq!(all.concat(), text);
        for piece in &all {
            prop_assert!(!piece.is_empty());
            prop_assert!(piece.chars().count() <= max_characters && piece.len() <= max_bytes);
        }
    }

    #[test]
    fn no_piece_of_words_is_white_space_alone(text in words(), max in 8..60_usize) {
        let all = cut(&text, max);
        prop_assert_eq!(all.concat(), text);
        prop_assert!(all.iter().all(|piece| !piece.trim().is_empty()), "{:?}", all);
    }
}
