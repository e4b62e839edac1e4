//! The mapping of a font's codes to Unicode, `ToUnicode` (ISO 32000-1, 9.10.3; Adobe Technical Note 5014).
//!
//! Ranges are stored as ranges. A few bytes can define a range of billions of codes. The library would expand it to one
//! entry per code.

mod tokens;

use std::collections::BTreeMap;
use tokens::{Token, Tokens};

/// The longest code, in bytes.
const MAX_CODE_BYTES: usize = 4;
/// How many ranges of valid codes are used.
const MAX_SPACES: usize = 100;

/// The mapping.
#[derive(Debug, Default)]
pub(super) struct UnicodeMap {
    /// The ranges of valid codes of each length.
    spaces: Vec<(Code, Code)>,
    /// Ranges of codes, by the first code.
    ranges: BTreeMap<Code, (u32, Target)>,
}

/// A length and a code. The length comes first in comparisons, because codes of different lengths
/// differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Code {
    length: usize,
    number: u32,
}

#[derive(Debug)]
enum Target {
    /// The text of the first code, in UTF-16. The last unit grows with the code.
    First(Vec<u16>),
    Each(Vec<Vec<u16>>),
}

impl UnicodeMap {
    pub(super) fn parse(source: &[u8]) -> Self {
        let mut map = Self::default();
        let mut tokens = Tokens(source);
        while let Some(token) = tokens.next() {
            match token {
                Token::Word(b"begincodespacerange") => map.read_spaces(&mut tokens),
                Token::Word(b"beginbfchar") => map.read_characters(&mut tokens),
                Token::Word(b"beginbfrange") => map.read_ranges(&mut tokens),
                _ => {}
            }
        }
        map
    }

    fn read_spaces(&mut self, tokens: &mut Tokens<'_>) {
        while let Some(Token::Hex(first)) = tokens.next() {
            let Some(Token::Hex(last)) = tokens.next() else {
                return;
            };
            if let (Some(first), Some(last)) = (Code::of(&first), Code::of(&last))
                && first.length == last.length
                && self.spaces.len() < MAX_SPACES
            {
                self.spaces.push((first, last));
            }
        }
    }

    fn read_characters(&mut self, tokens: &mut Tokens<'_>) {
        while let Some(Token::Hex(code)) = tokens.next() {
            let Some(Token::Hex(text)) = tokens.next() else {
                return;
            };
            if let Some(code) = Code::of(&code) {
                let target = Target::First(utf16(&text));
                self.ranges.insert(code, (code.number, target));
            }
        }
    }

    fn read_ranges(&mut self, tokens: &mut Tokens<'_>) {
        while let Some(Token::Hex(first)) = tokens.next() {
            let Some(Token::Hex(last)) = tokens.next() else {
                return;
            };
            let target = match tokens.next() {
                Some(Token::Hex(text)) => Target::First(utf16(&text)),
                Some(Token::Word(b"[")) => {
                    let mut texts = Vec::new();
                    while let Some(Token::Hex(text)) = tokens.next() {
                        texts.push(utf16(&text));
                    }
                    Target::Each(texts)
                }
                _ => return,
            };
            if let (Some(first), Some(last)) = (Code::of(&first), Code::of(&last)) {
                self.ranges.insert(first, (last.number, target));
            }
        }
    }

    /// Returns the length of the first code of a string in bytes, if the mapping defines the code.
    pub(super) fn code_length(&self, bytes: &[u8]) -> Option<usize> {
        (1..=MAX_CODE_BYTES.min(bytes.len())).find(|length| {
            let code = bytes.get(..*length).and_then(Code::of);
            code.is_some_and(|code| self.spaces.iter().any(|space| code.is_in(space)))
        })
    }

    /// Appends the text of a code.
    pub(super) fn write(&self, code: &[u8], out: &mut String) {
        if let Some(text) = Code::of(code).and_then(|code| self.find(code)) {
            out.extend(char::decode_utf16(text).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)));
        } else {
            out.push(char::REPLACEMENT_CHARACTER);
        }
    }

    fn find(&self, code: Code) -> Option<Vec<u16>> {
        let (first, (last, target)) = self.ranges.range(..=code).next_back()?;
        if first.length != code.length || code.number > *last {
            return None;
        }
        let distance = code.number - first.number;
        match target {
            Target::First(text) => {
                let mut text = text.clone();
                let unit = text.last_mut()?;
                *unit = unit.wrapping_add(u16::try_from(distance).ok()?);
                Some(text)
            }
            Target::Each(texts) => texts.get(usize::try_from(distance).ok()?).cloned(),
        }
    }
}

impl Code {
    fn of(bytes: &[u8]) -> Option<Self> {
        let is_code = (1..=MAX_CODE_BYTES).contains(&bytes.len());
        is_code.then(|| Self {
            length: bytes.len(),
            number: number(bytes),
        })
    }

    /// Returns whether each byte is between the bytes of the two limits at the same position.
    fn is_in(self, (first, last): &(Self, Self)) -> bool {
        let bytes = |code: Self| code.number.to_be_bytes();
        let limits = bytes(*first).into_iter().zip(bytes(*last));
        self.length == first.length
            && bytes(self)
                .into_iter()
                .zip(limits)
                .all(|(byte, (low, high))| (low..=high).contains(&byte))
    }
}

/// Returns the number that at most four bytes represent.
pub(super) fn number(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .fold(0, |sum, byte| (sum << 8) | u32::from(*byte))
}

fn utf16(bytes: &[u8]) -> Vec<u16> {
    let units = bytes.chunks(2);
    units
        .map(|unit| u16::try_from(number(unit)).unwrap_or(0))
        .collect()
}

#[cfg(test)]
mod tests;
