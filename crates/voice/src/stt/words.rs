//! Derives word timestamps from the pieces of a recognizer.
//!
//! A piece may be a word, a part of a word, a single letter or a part of a letter. Models mark word boundaries in
//! different ways. The pieces are therefore aligned with the final text byte by byte, and each word gets the times of
//! its pieces.

use super::Word;

/// A piece of text with its times.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Piece {
    /// The bytes, which may split letters.
    pub(super) bytes: Vec<u8>,
    /// In seconds.
    pub(super) start: f64,
    /// In seconds.
    pub(super) end: f64,
}

/// Returns the words of the text with their times. The result is empty if the pieces do not match the text, for example
/// after number words were converted to digits.
pub(super) fn words(text: &str, pieces: &[Piece]) -> Vec<Word> {
    let mut bytes = pieces.iter().flat_map(|piece| {
        let visible = |byte: &u8| !byte.is_ascii_whitespace();
        let bytes = piece.bytes.iter().copied().filter(visible);
        bytes.map(move |byte| (byte, piece))
    });
    let mut words = Vec::new();
    for word in split(text) {
        let mut times: Option<(f64, f64)> = None;
        for wanted in word.bytes() {
            match bytes.next() {
                Some((byte, piece)) if byte.eq_ignore_ascii_case(&wanted) => {
                    let start = times.map_or(piece.start, |(start, _)| start);
                    times = Some((start, piece.end.max(start)));
                }
                _ => return Vec::new(),
            }
        }
        if let Some((start, end)) = times {
            let word = word.to_owned();
            words.push(Word { word, start, end });
        }
    }
    words
}

/// Splits at white space. Chinese characters and Japanese syllables are words of their own, with the
/// punctuation that follows.
fn split(text: &str) -> Vec<&str> {
    text.split_whitespace().flat_map(split_run).collect()
}

fn split_run(run: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut from = 0;
    let mut after_one = false;
    for (at, letter) in run.char_indices() {
        let alone = stands_alone(letter);
        if at > 0 && (alone || (after_one && letter.is_alphanumeric())) {
            words.extend(run.get(from..at));
            from = at;
        }
        after_one = alone || (after_one && !letter.is_alphanumeric());
    }
    words.extend(run.get(from..));
    words
}

/// Kana and Chinese characters, by Unicode block.
const fn stands_alone(letter: char) -> bool {
    matches!(letter,
        '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn piece(bytes: impl Into<Vec<u8>>, start: f64, end: f64) -> Piece {
        Piece {
            bytes: bytes.into(),
            start,
            end,
        }
    }

    fn word(word: &str, start: f64, end: f64) -> Word {
        Word {
            word: word.to_owned(),
            start,
            end,
        }
    }

    #[test]
    fn parts_of_words_and_of_letters_become_words() {
        let pieces = [
            piece(" He", 0.0, 0.2),
            piece("llo", 0.2, 0.5),
            piece(",", 0.5, 0.5),
            piece(b" \xc3".as_slice(), 0.6, 0.7),
            piece(b"\xa4h".as_slice(), 0.7, 0.8),
            piece(".", 0.8, 0.8),
        ];
        let both = vec![word("Hello,", 0.0, 0.5), word("äh.", 0.6, 0.8)];
        assert_eq!(words("Hello, äh.", &pieces), both);
        // Some pieces are missing from the text, and some text is missing from the pieces.
        assert_eq!(words("Hello, eh.", &pieces), []);
        assert_eq!(words("Hello, äh. Yes", &pieces), []);
    }

    #[test]
    fn chinese_is_cut_by_characters() {
        assert_eq!(
            split("你好，world。再见 ok3"),
            ["你", "好，", "world。", "再", "见", "ok3"]
        );
        assert_eq!(split(" "), [""; 0]);
    }

    proptest! {
        #[test]
        fn nothing_of_a_text_is_lost(text in "\\PC{0,40}", cut in 1_usize..5) {
            let whole: String = split(&text).concat();
            let shown: String = text.split_whitespace().collect();
            prop_assert_eq!(&whole, &shown);
            // Every word gets its times, however the bytes are split.
            let pieces: Vec<Piece> =
                text.as_bytes().chunks(cut).map(|bytes| piece(bytes, 1.0, 2.0)).collect();
            let ascii_space_only = text.split_whitespace().eq(text.split_ascii_whitespace());
            if ascii_space_only {
                prop_assert_eq!(words(&text, &pieces).len(), split(&text).len());
            }
        }
    }
}
