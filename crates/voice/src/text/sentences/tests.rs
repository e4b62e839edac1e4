use super::*;
use crate::text::speakable::speakable_part;

/// Returns the pieces of a text that arrives in steps of this many characters.
fn pieces(text: &str, step: usize, most: Option<usize>) -> Vec<String> {
    let mut sentences = Sentences::default();
    let mut pieces = Vec::new();
    let characters: Vec<char> = text.chars().collect();
    for step in characters.chunks(step) {
        sentences.push(&step.iter().collect::<String>());
        pieces.extend(std::iter::from_fn(|| sentences.next(most)));
    }
    sentences.end();
    pieces.extend(std::iter::from_fn(|| sentences.next(most)));
    pieces.extend(sentences.rest());
    pieces.into_iter().map(|piece| piece.text).collect()
}

#[test]
fn sentences_are_cut_as_soon_as_the_next_one_begins() {
    let text =
        "The first sentence is short. Then Dr. Who speaks about 3.5 things! And the end comes.";
    let expected = [
        "The first sentence is short.",
        " Then Dr. Who speaks about 3.5 things!",
        " And the end comes.",
    ];
    for step in [1, 2, 5, 1000] {
        assert_eq!(pieces(text, step, None), expected, "{step}");
    }
    assert_eq!(pieces(text, 1000, Some(70)).len(), 2);
    let mut sentences = Sentences::default();
    sentences.push("The first sentence is short. ");
    assert_eq!(sentences.next(None), None, "more may follow");
    sentences.push("then");
    assert_eq!(sentences.next(None), None, "it goes on in lowercase");
}

#[test]
fn a_short_sentence_goes_with_the_next_one() {
    let exactly = format!("{}. Next one.", "a".repeat(23));
    assert_eq!(pieces(&exactly, 1, None).len(), 2);
    let one_less = format!("{}. Next one.", "a".repeat(22));
    assert_eq!(pieces(&one_less, 1, None).len(), 1);
}

#[test]
fn nothing_is_lost_and_markup_is_never_cut() {
    let text = "# A title\n\nSome **bold words. And more** of it. Now `code. Not` here. The \
                [link. Text](https://example.com) too. It ends here.\n\n- one item. With two\n- \
                another item. Also\n\n```rust\nlet x = 1. + 2.;\n\nlet Y = 2;\n```\n\n| a. B | c |\n|---|---|\n\
                | d. E | f |\n\nThe last paragraph is long enough. It has two.\n";
    for step in [1, 3, 7, 50, 5000] {
        let pieces = pieces(text, step, None);
        assert_eq!(pieces.concat(), text, "{step}");
        for piece in &pieces {
            assert_eq!(piece.matches("**").count() % 2, 0, "{piece:?}");
            assert_eq!(piece.matches('`').count() % 2, 0, "{piece:?}");
            assert_eq!(
                piece.matches('[').count(),
                piece.matches(')').count(),
                "{piece:?}"
            );
        }
        let said: String = pieces.iter().map(|piece| speakable_part(piece)).collect();
        assert!(!said.contains("let"), "{said}");
        assert!(
            !said.contains('`') && !said.contains('*') && !said.contains('|'),
            "{said}"
        );
        assert!(
            said.contains("one item. With two.") && said.contains("It has two."),
            "{said}"
        );
        assert!(pieces.len() > 4, "{pieces:?}");
    }
}

#[test]
fn what_is_only_code_or_a_note_is_not_spoken() {
    for nothing in [
        "```\nlet x = 1;\n```",
        "[^1]: A note.",
        "---",
        "",
        "<!-- x -->",
    ] {
        assert_eq!(speakable_part(nothing).trim(), "", "{nothing:?}");
    }
    assert_eq!(speakable_part("Plain text."), "Plain text.");
}

#[test]
fn long_code_is_not_parsed_for_each_word() {
    let mut sentences = Sentences::default();
    sentences.push("```\n");
    let mut parsed = 0;
    for _ in 0..20_000 {
        sentences.push("let x = 1;\n");
        let before = sentences.tried;
        assert_eq!(sentences.next(None), None);
        parsed += usize::from(sentences.tried != before);
    }
    assert!(parsed < 120, "{parsed}");
}
