//! Splits a map into tokens.

pub(super) enum Token<'t> {
    Hex(Vec<u8>),
    Word(&'t [u8]),
}

pub(super) struct Tokens<'t>(pub(super) &'t [u8]);

impl<'t> Iterator for Tokens<'t> {
    type Item = Token<'t>;

    fn next(&mut self) -> Option<Token<'t>> {
        loop {
            self.0 = self.0.trim_ascii_start();
            if !self.0.starts_with(b"%") {
                break;
            }
            let end = self.0.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            self.0 = self.0.get(end?..)?;
        }
        if self.0.starts_with(b"<") && !self.0.starts_with(b"<<") {
            let digits = self.take(|byte| byte == b'>').get(1..)?;
            self.0 = self.0.get(1..).unwrap_or_default();
            return Some(Token::Hex(unhex(digits)));
        }
        let is_single = matches!(self.0.first()?, b'[' | b']' | b'<' | b'>');
        let word = if is_single {
            let (word, rest) = self.0.split_at_checked(1)?;
            self.0 = rest;
            word
        } else {
            self.take(|byte| {
                byte.is_ascii_whitespace() || matches!(byte, b'[' | b']' | b'<' | b'>')
            })
        };
        Some(Token::Word(word))
    }
}

impl<'t> Tokens<'t> {
    /// Takes the bytes before the first one for which `ends` returns true.
    fn take(&mut self, ends: impl Fn(u8) -> bool) -> &'t [u8] {
        let end = self.0.iter().position(|byte| ends(*byte));
        let (taken, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        self.0 = rest;
        taken
    }
}

/// Decodes hex digits. A missing last digit is 0 (ISO 32000-1, 7.3.4.3).
fn unhex(digits: &[u8]) -> Vec<u8> {
    let digits = digits
        .iter()
        .filter_map(|byte| char::from(*byte).to_digit(16));
    let digits: Vec<u32> = digits.collect();
    let bytes = digits.chunks(2).map(|pair| match pair {
        [high, low] => high * 16 + low,
        [high] => high * 16,
        _ => 0,
    });
    bytes.filter_map(|byte| u8::try_from(byte).ok()).collect()
}
