//! Text that a person reviews before a decision. Characters that are invisible, or that change how others
//! are displayed, become visible escapes such as `\u{202E}`.
//!
//! The escaped characters are control characters, bidirectional controls, characters without a glyph, tags,
//! variation selectors, private-use characters and noncharacters. Joiners are escaped even where a script
//! or an emoji sequence needs them: the reviewer sees the exact characters. The escaping is not injective,
//! because text that contains the six characters `\u{41}` looks like an escape. The number of escapes
//! distinguishes the two.

use std::borrow::Cow;
use std::fmt::Write;

/// Text in which every character is visible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visible<'a> {
    pub text: Cow<'a, str>,
    /// The number of escaped characters.
    pub hidden: usize,
}

/// Escapes text that must fit on one line.
pub fn line(text: &str) -> Visible<'_> {
    keeping(text, |_| false)
}

/// Escapes text that may contain newlines and tabs.
pub fn lines(text: &str) -> Visible<'_> {
    keeping(text, |c| matches!(c, '\n' | '\t'))
}

/// Escapes text but keeps the invisible characters for which `is_kept` returns true.
pub fn keeping(text: &str, is_kept: impl Fn(char) -> bool) -> Visible<'_> {
    escaping(text, |c| hides(c) && !is_kept(c))
}

/// Escapes the characters for which `is_escaped` returns true.
pub fn escaping(text: &str, is_escaped: impl Fn(char) -> bool) -> Visible<'_> {
    let hidden = text.chars().filter(|c| is_escaped(*c)).count();
    if hidden == 0 {
        let text = Cow::Borrowed(text);
        return Visible { text, hidden };
    }
    let mut escaped = String::with_capacity(text.len() + hidden * 8);
    for c in text.chars() {
        if is_escaped(c) {
            // Writing to a string cannot fail.
            let _ = write!(escaped, "\\u{{{:X}}}", u32::from(c));
        } else {
            escaped.push(c);
        }
    }
    let text = Cow::Owned(escaped);
    Visible { text, hidden }
}

/// Returns whether every character of a name is visible. Two different visible names never look the same because of
/// hidden characters. Joiners and variation selectors may follow a character outside ASCII, as emoji and some
/// scripts need them.
pub fn is_name(text: &str) -> bool {
    let mut before = ' ';
    text.chars().all(|c| {
        let joins = matches!(c, '\u{200C}' | '\u{200D}' | '\u{FE0E}' | '\u{FE0F}');
        let is_allowed = !hides(c) || joins && !before.is_ascii();
        before = c;
        is_allowed
    })
}

/// Returns whether a character is invisible or changes how others are displayed (Unicode 17: general categories Cc,
/// Cf, Zl, Zp and Co, the property `Default_Ignorable_Code_Point`, and letters that render blank).
pub fn hides(c: char) -> bool {
    if c.is_control() {
        return true;
    }
    if c.is_ascii() {
        return false;
    }
    matches!(u32::from(c),
        // Soft hyphen, combining grapheme joiner.
        0xAD | 0x34F
        // Arabic number signs and letter mark, Syriac and Arabic format characters.
        | 0x600..=0x605 | 0x61C | 0x6DD | 0x70F | 0x890..=0x891 | 0x8E2
        // Hangul fillers, Khmer vowels without a glyph.
        | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x3164 | 0xFFA0
        // Mongolian variation selectors.
        | 0x180B..=0x180F
        // Zero-width characters, directional controls, line and paragraph separators, invisible operators.
        | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F
        // The blank Braille pattern.
        | 0x2800
        // Variation selectors, byte order mark, interlinear annotations, object replacement character.
        | 0xFE00..=0xFE0F | 0xFEFF | 0xFFF0..=0xFFFC
        // Private-use characters.
        | 0xE000..=0xF8FF | 0xF0000..=0x0010_FFFF
        // Format characters of Kaithi, hieroglyphs, shorthand and musical notation.
        | 0x110BD | 0x110CD | 0x13430..=0x1343F | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A
        // Tags and further variation selectors.
        | 0xE0000..=0xE0FFF
    ) || u32::from(c) & 0xFFFE == 0xFFFE
        || (0xFDD0..=0xFDEF).contains(&u32::from(c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_shows_stays_as_it_is() {
        for text in ["", "rm -rf ~", "Grüße, 世界", "שלום", "a\\u{202E}b", "🙂"] {
            let visible = line(text);
            assert!(matches!(visible.text, Cow::Borrowed(_)), "{text}");
            assert_eq!((visible.text.as_ref(), visible.hidden), (text, 0));
        }
    }

    #[test]
    fn what_hides_or_reorders_is_escaped_and_counted() {
        for (text, shown, hidden) in [
            ("cat gpj.\u{202e}exe", "cat gpj.\\u{202E}exe", 1),
            ("a\u{200b}\u{feff}b", "a\\u{200B}\\u{FEFF}b", 2),
            ("\u{e0041}\u{e007f}", "\\u{E0041}\\u{E007F}", 2),
            ("\u{1b}[2J\u{9b}", "\\u{1B}[2J\\u{9B}", 2),
            ("👩\u{200d}💻", "👩\\u{200D}💻", 1),
            ("\u{2066}x\u{2069}", "\\u{2066}x\\u{2069}", 2),
        ] {
            let visible = line(text);
            assert_eq!((visible.text.as_ref(), visible.hidden), (shown, hidden));
        }
    }

    #[test]
    fn lines_and_tabs_stay_only_where_there_may_be_lines() {
        assert_eq!(line("a\n\tb").text, "a\\u{A}\\u{9}b");
        assert_eq!(lines("a\n\tb\r\n").text, "a\n\tb\\u{D}\n");
        assert_eq!(lines("a\u{2028}b").text, "a\\u{2028}b");
    }

    #[test]
    fn names_have_no_hidden_characters() {
        for name in [
            "",
            "Phone",
            "Grüße, 世界",
            "שלום",
            "👩\u{200D}💻",
            "❤\u{FE0F}",
            "نامه\u{200C}ها",
        ] {
            assert!(is_name(name), "{name}");
        }
        for name in [
            "a\u{202E}b",
            "a\u{200B}b",
            "a\u{200D}b",
            "\u{200D}",
            "a\u{E0041}",
            "a\nb",
            "🙂\u{2060}",
        ] {
            assert!(!is_name(name), "{name:?}");
        }
    }

    #[test]
    fn every_character_of_the_contract_is_escaped() {
        let listed = [
            0x61C..=0x61C,
            0x200E..=0x200F,
            0x202A..=0x202E,
            0x2066..=0x2069,
        ]
        .into_iter()
        .chain([0xAD..=0xAD, 0x34F..=0x34F, 0x115F..=0x1160, 0x17B4..=0x17B5])
        .chain([
            0x180B..=0x180F,
            0x200B..=0x200D,
            0x2060..=0x206F,
            0xFEFF..=0xFEFF,
        ])
        .chain([
            0x3164..=0x3164,
            0xFFA0..=0xFFA0,
            0xFE00..=0xFE0F,
            0xFFF9..=0xFFFB,
        ])
        .chain([0xE0000..=0xE007F, 0xE0100..=0xE01EF, 0..=0x1F, 0x7F..=0x9F]);
        for code in listed.flatten() {
            assert!(char::from_u32(code).is_some_and(hides), "{code:X}");
        }
    }

    /// Generates any character. Invisible characters are more frequent than in a uniform distribution.
    fn character() -> impl Strategy<Value = char> {
        let hidden: Vec<char> = ('\0'..=char::MAX)
            .filter(|c| hides(*c))
            .step_by(97)
            .collect();
        prop_oneof![any::<char>(), prop::sample::select(hidden)]
    }

    proptest! {
        #[test]
        fn nothing_hidden_is_left(characters in prop::collection::vec(character(), 0..40)) {
            let text: String = characters.iter().collect();
            let visible = line(&text);
            prop_assert!(!visible.text.chars().any(hides));
            prop_assert_eq!(visible.hidden, characters.iter().filter(|c| hides(**c)).count());
            let twice = line(&visible.text);
            prop_assert_eq!(twice.hidden, 0);
            prop_assert_eq!(&twice.text, &visible.text);
        }
    }
}
