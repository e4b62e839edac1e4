//! Tests of the parent module.

use super::*;
use proptest::prelude::*;

#[test]
fn what_fits_is_one_part_and_one_more_is_two() {
    let (fits, over) = ("x".repeat(4096), "x".repeat(4097));
    assert_eq!(split(&fits, Limit::Utf16(4096)), [fits.as_str()]);
    let parts = split(&over, Limit::Utf16(4096));
    assert_eq!(parts.iter().map(|p| p.len()).collect::<Vec<_>>(), [4096, 1]);
    assert_eq!(split(&over, Limit::None), [over.as_str()]);
}

#[test]
fn each_limit_counts_in_its_own_units() {
    // An emoji is two UTF-16 units and four bytes.
    assert_eq!(split("😀😀", Limit::Utf16(4)).len(), 1);
    assert_eq!(split("😀😀", Limit::Utf16(3)), ["😀", "😀"]);
    assert_eq!(split("😀😀", Limit::Bytes(8)).len(), 1);
    assert_eq!(split("😀😀", Limit::Bytes(7)), ["😀", "😀"]);
    assert_eq!(split("\"\"", Limit::JsonBytes(4)).len(), 1);
    assert_eq!(split("\"\"", Limit::JsonBytes(3)).len(), 2);
    assert_eq!(split("a\u{1}", Limit::JsonBytes(6)), ["a", "\u{1}"]);
}

#[test]
fn a_line_is_better_than_a_word_and_a_word_than_a_character() {
    assert_eq!(
        split("one two\nthree four", Limit::Utf16(12)),
        ["one two\n", "three four"]
    );
    // A line break too early in the text must not produce a short part.
    assert_eq!(
        split("a\nbbbb cccc dd", Limit::Utf16(12)),
        ["a\nbbbb cccc ", "dd"]
    );
    assert_eq!(split("abcdefgh", Limit::Utf16(3)), ["abc", "def", "gh"]);
    assert_eq!(split("abc\r\ndef", Limit::Utf16(4)), ["abc", "def"]);
}

#[test]
fn what_people_see_as_one_character_stays_one() {
    // An e with a combining accent, and a family joined by zero-width joiners (eleven UTF-16
    // units).
    assert_eq!(split("aae\u{301}", Limit::Utf16(3)), ["aa", "e\u{301}"]);
    let family = "👨‍👩‍👧‍👦";
    let text = format!("ab{family}");
    assert_eq!(split(&text, Limit::Utf16(12)), ["ab", family]);
    assert!(
        split(family, Limit::Utf16(4)).len() > 1,
        "unless it does not fit at all"
    );
}

#[test]
fn escapes_are_not_torn() {
    assert_eq!(split("abc&amp;d", Limit::Utf16(5)), ["abc", "&amp;", "d"]);
    assert_eq!(split("abcd\\*", Limit::Utf16(5)), ["abcd", "\\*"]);
    assert_eq!(split("abc\\\\x", Limit::Utf16(5)), ["abc\\\\", "x"]);
    assert_eq!(split("a & b;cdef", Limit::Utf16(5)), ["a & ", "b;cde", "f"]);
}

#[test]
fn a_code_block_that_fits_stays_in_one_part() {
    let text = "some words before\n```rust\nlet a = 1;\nlet b = 2;\n```\nafter";
    let parts = split(text, Limit::Utf16(45));
    assert_eq!(
        parts,
        [
            "some words before\n",
            "```rust\nlet a = 1;\nlet b = 2;\n```\nafter"
        ]
    );
    assert_eq!(parts.concat(), text);
}

#[test]
fn a_longer_code_block_is_closed_and_opened_again() {
    let text = "x\n~~~sh\none two\nthree four\nfive six\n~~~\nend";
    assert_eq!(
        split(text, Limit::Utf16(24)),
        [
            "x\n~~~sh\none two\n~~~",
            "~~~sh\nthree four\n~~~",
            "~~~sh\nfive six\n~~~\nend",
        ]
    );
    // A line that is cut inside gets a line break before the fence.
    assert_eq!(
        split("```\nabcdefghijkl\n```", Limit::Utf16(16)),
        ["```\nabcdefgh\n```", "```\nijkl\n```"]
    );
}

#[test]
fn a_code_block_in_a_list_or_a_quote_is_closed_and_opened_where_it_is() {
    let list = "- ```sh\n  one two\n  three four\n  ```\nend";
    assert_eq!(
        split(list, Limit::Utf16(36)),
        [
            "- ```sh\n  one two\n  ```",
            "  ```sh\n  three four\n  ```\nend",
        ]
    );
    let quote = "> ```\n> one two\n> three four\n> ```";
    assert_eq!(
        split(quote, Limit::Utf16(30)),
        ["> ```\n> one two\n> ```", "> ```\n> three four\n> ```"]
    );
}

#[test]
fn an_open_block_is_continued_to_the_end() {
    assert_eq!(
        split("```\nab cd ef gh ij", Limit::Utf16(14)),
        ["```\nab cd \n```", "```\nef gh ij"]
    );
}

#[test]
fn nothing_but_space_is_no_part() {
    assert!(split("", Limit::Utf16(3)).is_empty());
    assert!(split(" \n ", Limit::Bytes(1)).is_empty());
    assert_eq!(split("", Limit::None), [""]);
    assert_eq!(split("ab      cd", Limit::Utf16(4)), ["ab  ", "cd"]);
}

proptest! {
    #[test]
    fn no_part_ends_inside_a_code_block(
        text in "(([a-z]{1,9}[ \n])|(\n```[a-z]{0,3}\n)|(\n~~~\n)){0,40}",
        max in 24_usize..80,
    ) {
        let limit = Limit::Utf16(max);
        let parts = split(&text, limit);
        for (number, part) in parts.iter().enumerate() {
            prop_assert!(limit.weigh(part) <= max, "{part:?}");
            let is_last = number + 1 == parts.len();
            let open = blocks(part).iter().any(|block| {
                block.end == part.len() && block.closing == part.len()
            });
            prop_assert!(is_last || !open, "{text:?}: {parts:?}");
        }
        // Only fences are added or lost.
        let words = |text: &str| -> Vec<String> {
            let lines = text.lines().filter(|line| !line.contains("```") && !line.contains("~~~"));
            lines.flat_map(str::split_whitespace).map(str::to_owned).collect()
        };
        let sent: Vec<String> = parts.iter().flat_map(|part| words(part)).collect();
        prop_assert_eq!(sent.concat(), words(&text).concat());
    }

    #[test]
    fn parts_fit_and_hold_all_but_space(
        text in "([a-z😀é&;\\\\\u{301}\u{200d}👨]|[ \n]){0,200}",
        max in 4_usize..40,
    ) {
        for limit in [Limit::Utf16(max), Limit::Bytes(max), Limit::JsonBytes(max)] {
            let parts = split(&text, limit);
            for part in &parts {
                prop_assert!(limit.weigh(part) <= max);
            }
            let seen = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(seen(&parts.concat()), seen(&text));
        }
    }
}
