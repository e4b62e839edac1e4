//! Reads strings and their escapes.

use super::{Reader, Wrong};

impl Reader<'_> {
    pub(super) fn string(&mut self) -> Result<String, Wrong> {
        let began = self.line;
        let quote = self.next();
        let mut text = String::new();
        loop {
            match self.next() {
                None | Some('\n' | '\r') => {
                    return Err((began, "a string is not closed".to_owned()));
                }
                end if end == quote => return Ok(text),
                Some('\\') => text.extend(self.escape()?),
                Some(other) => text.push(other),
            }
        }
    }

    fn escape(&mut self) -> Result<Option<char>, Wrong> {
        Ok(Some(match self.next() {
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('v') => '\u{b}',
            Some('0') => '\0',
            Some('\n' | '\u{2028}' | '\u{2029}') => return Ok(None),
            Some('\r') => {
                self.take('\n');
                return Ok(None);
            }
            Some('x') => self
                .code(2)
                .and_then(char::from_u32)
                .ok_or_else(|| self.wrong("a wrong escape"))?,
            Some('u') => self.unicode()?,
            Some(other) if !other.is_ascii_digit() => other,
            _ => return Err(self.wrong("a wrong escape")),
        }))
    }

    fn code(&mut self, digits: usize) -> Option<u32> {
        let hex = self.rest.get(..digits)?;
        let code = u32::from_str_radix(hex, 16).ok();
        code.filter(|_| hex.bytes().all(|b| b.is_ascii_hexdigit()))
            .inspect(|_| self.rest = self.rest.get(digits..).unwrap_or_default())
    }

    /// Reads the rest of `\u`, and the second half of a surrogate pair.
    fn unicode(&mut self) -> Result<char, Wrong> {
        let first = self.code(4).ok_or_else(|| self.wrong("a wrong escape"))?;
        if !(0xd800..0xdc00).contains(&first) {
            return char::from_u32(first).ok_or_else(|| self.wrong("half of a surrogate pair"));
        }
        let second = if self.take('\\') && self.take('u') {
            self.code(4)
        } else {
            None
        };
        let second = second.filter(|code| (0xdc00..0xe000).contains(code));
        let second = second.ok_or_else(|| self.wrong("half of a surrogate pair"))?;
        let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        char::from_u32(code).ok_or_else(|| self.wrong("a wrong escape"))
    }
}
