//! Tests for every Markdown construct, and for texts without any.

use super::speakable;
use proptest::prelude::*;

#[test]
fn marks_go_and_words_stay() {
    for (text, said) in [
        ("**Bold** and *soft* and ~~old~~", "Bold and soft and old"),
        ("***Both*** __here__", "Both here"),
        ("# Title\n\nText", "Title.\n\nText"),
        ("# Really?\nText", "Really?\n\nText"),
        ("Title\n=====\nText", "Title.\n\nText"),
        ("## 标题\n正文", "标题。\n\n正文"),
        ("Call `main()` now", "Call main() now"),
        ("\\*not bold\\*", "*not bold*"),
        ("**Result:** 2*3*4 = 24", "Result: 2*3*4 = 24"),
        ("In 2024*new* or *2*", "In 2024new or 2"),
        ("Fish &amp; chips", "Fish & chips"),
        ("> Quoted *text*\n> goes on", "Quoted text\ngoes on"),
        ("One\n\n---\n\nTwo", "One\n\nTwo"),
        ("Done ✅ **now** 🎉", "Done ✅ now 🎉"),
    ] {
        assert_eq!(speakable(text), said, "{text:?}");
    }
}

#[test]
fn lists_pause_after_each_item() {
    for (text, said) in [
        ("- one\n- two!\n- three", "one.\ntwo!\nthree."),
        ("Do:\n\n1. this\n2. that", "Do:\n1. this.\n2. that."),
        ("1) this\n2) that", "1) this.\n2) that."),
        (
            "- one\n  - inner\n  - more\n- two",
            "one.\ninner.\nmore.\ntwo.",
        ),
        ("- one\n\n  second\n\n- two", "one.\nsecond.\ntwo."),
        (
            "1. **one**\n\n   second\n2. two",
            "1. one.\nsecond.\n2. two.",
        ),
        ("- [ ] open\n- [x] done", "open.\ndone."),
        ("* one\n\nText", "one.\n\nText"),
    ] {
        assert_eq!(speakable(text), said, "{text:?}");
    }
}

#[test]
fn links_say_their_text_or_their_host() {
    for (text, said) in [
        (
            "See [the page](https://example.com/a?b=c).",
            "See the page.",
        ),
        ("See <https://www.example.com/x>.", "See example.com."),
        (
            "**See** https://example.com/a_b_c/d?e=f.",
            "See example.com.",
        ),
        (
            "**See** (http://example.com:8080/x), now",
            "See (example.com), now",
        ),
        (
            "[https://example.com/a](https://example.com/a)",
            "example.com",
        ),
        ("[](https://example.com/a)", "example.com"),
        (
            "**Write** to <mail@example.com>",
            "Write to mail@example.com",
        ),
        (
            "**See** ftp://example.com/x and https://a.example/y",
            "See ftp://example.com/x and a.example",
        ),
        ("![A red house](house.png) **here**", "A red house here"),
        ("[page][1]\n\n[1]: https://example.com", "page"),
        ("[![logo](a.png)](https://example.com)", "logo"),
    ] {
        assert_eq!(speakable(text), said, "{text:?}");
    }
}

#[test]
fn tables_are_said_cell_by_cell() {
    assert_eq!(
        speakable("| Name | Age |\n|---|---:|\n| Ada | 36 |\n| Bob | |"),
        "Name, Age.\n\nAda, 36.\n\nBob."
    );
}

#[test]
fn code_footnotes_and_tags_are_not_said() {
    for (text, said) in [
        ("Run:\n\n```sh\nls -l\n```\n\nDone", "Run:\n\nDone"),
        ("- Run\n  ```sh\n  ls -l\n  ```\n- Done", "Run.\nDone."),
        ("~~~\nx\n~~~\nEnd", "End"),
        ("Text[^1] goes.\n\n[^1]: A *note*.", "Text goes."),
        ("A <b>bold</b> word<br>and more", "A bold word\nand more"),
        ("<div class=\"x\">\nHello <i>you</i>\n</div>", "Hello you"),
        ("<!-- hidden -->\n\nShown", "Shown"),
        ("<script>alert('x')</script>\n\nShown", "Shown"),
    ] {
        assert_eq!(speakable(text), said, "{text:?}");
    }
}

#[test]
fn a_text_is_never_left_without_words() {
    assert_eq!(speakable("```sh\nls -l\n```"), "ls -l");
    assert_eq!(
        speakable("[1]: https://example.com"),
        "[1]: https://example.com"
    );
    assert_eq!(speakable("<!-- only this -->"), "<!-- only this -->");
    assert_eq!(speakable("[^1]: Only a note."), "[^1]: Only a note.");
    assert_eq!(speakable("---"), "");
    assert_eq!(speakable(""), "");
}

#[test]
fn prose_comes_back_as_it_is() {
    for text in [
        "2 * 3 * 4 = 24",
        "2*3*4 = 24",
        "2**3**2 = 512",
        "snake_case_name and _other",
        "a < b && c > d",
        "Vec<T> is a list of <your-name>",
        "several   spaces   here",
        "  leading spaces",
        "        many leading spaces\n\n    again\tand a tab",
        "blank\n\n\n\nlines\n\n",
        "\n\nfirst",
        "#hashtag and C# and #1",
        "1. Mai",
        "1. Mai ist frei.\n\nSo ist es.",
        "2024. Ein Jahr",
        "12) zwölf",
        "See https://example.com/a_b_c?d=e&f=g.",
        "Preis: 5 €, ~10 Minuten, 100 %",
        "Tabs\there\r\nand lines\r\n",
        "trailing two  \nspaces  ",
        "He said: \"No!\" -- and left...",
        "C:\\Users\\me",
        "[brackets] and (more) {and more}",
        "x ^ y | z",
        "+1 and -1",
        "👩‍👩‍👧‍👦 ñ 你好。",
        "`",
        " ",
    ] {
        assert_eq!(speakable(text), text);
    }
}

#[test]
fn large_and_deep_texts_take_one_pass() {
    for text in [
        "> ".repeat(20_000),
        "- ".repeat(20_000),
        "[".repeat(100_000),
        "![".repeat(50_000),
        "*a ".repeat(50_000),
        "**a_".repeat(50_000),
        "`".repeat(100_000),
        "<a ".repeat(50_000),
        "<!-- ".repeat(50_000),
        "<div>\n".repeat(20_000),
        "https://".repeat(20_000),
        "://".repeat(100_000),
        "- a\n".repeat(50_000),
        "|a".repeat(20_000) + "\n" + &"|-".repeat(20_000),
        "[^1]: ".repeat(20_000),
        "A plain sentence. ".repeat(50_000),
    ] {
        let said = speakable(&text);
        assert!(said.len() <= text.len() * 2);
        assert_eq!(
            said.contains(char::is_alphanumeric),
            text.contains(char::is_alphanumeric)
        );
    }
}

proptest! {
    #[test]
    fn plain_prose_is_not_touched(
        sentences in proptest::collection::vec("[A-ZÄ][a-zäöüß]{1,8}( {1,3}[a-z0-9]{1,4}(_[a-z0-9]{1,3})?[,;:]?){0,8}[.!?]", 0..6),
        white in "[ \n]{1,4}",
    ) {
        let text = sentences.join(&white);
        prop_assert_eq!(speakable(&text), text);
    }

    #[test]
    fn any_text_with_words_has_words_left(text in "[a-z*_`#>\\-|\\[\\]()<!~0-9.\n ]{0,60}") {
        let said = speakable(&text);
        let has_words = |text: &str| text.contains(char::is_alphanumeric);
        prop_assert_eq!(has_words(&said), has_words(&text), "{:?}", said);
    }
}
