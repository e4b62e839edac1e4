//! Structured values of header fields (RFC 5322, section 3.2): words, quoted strings and marks, without comments.

/// A part of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    Quoted(String),
    Mark(char),
}

impl Token {
    /// The text of a word or a quoted string.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Word(text) | Self::Quoted(text) => Some(text),
            Self::Mark(_) => None,
        }
    }
}

/// Splits a value. `None` if a comment or a quoted string does not end, or a parenthesis closes nothing.
pub(super) fn tokens(value: &str, marks: &[char]) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut word = String::new();
    let mut rest = value.chars();
    loop {
        let next = rest.next();
        let is_end = next.is_none_or(|c| {
            c.is_ascii_whitespace() || matches!(c, '"' | '(' | ')') || marks.contains(&c)
        });
        if is_end && !word.is_empty() {
            tokens.push(Token::Word(std::mem::take(&mut word)));
        }
        match next {
            None => return Some(tokens),
            Some('"') => tokens.push(Token::Quoted(quoted(&mut rest)?)),
            Some('(') => skip_comment(&mut rest)?,
            Some(')') => return None,
            Some(c) if marks.contains(&c) => tokens.push(Token::Mark(c)),
            Some(c) if is_end => debug_assert!(c.is_ascii_whitespace()),
            Some(c) => word.push(c),
        }
    }
}

fn quoted(rest: &mut std::str::Chars<'_>) -> Option<String> {
    let mut text = String::new();
    loop {
        match rest.next()? {
            '"' => return Some(text),
            '\\' => text.push(rest.next()?),
            c => text.push(c),
        }
    }
}

fn skip_comment(rest: &mut std::str::Chars<'_>) -> Option<()> {
    let mut depth = 1_u32;
    while depth > 0 {
        match rest.next()? {
            '(' => depth = depth.saturating_add(1),
            ')' => depth = depth.saturating_sub(1),
            '\\' => {
                rest.next()?;
            }
            _ => {}
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_skipped_and_quotes_hide_marks() {
        let word = |text: &str| Token::Word(text.to_owned());
        let read = tokens(r#"a (x (y\)) ;) b="c;\"d" ;e"#, &[';', '=']).unwrap();
        let expected = [
            word("a"),
            word("b"),
            Token::Mark('='),
            Token::Quoted("c;\"d".to_owned()),
            Token::Mark(';'),
            word("e"),
        ];
        assert_eq!(read, expected);
        for open in ["(a", "\"a", "a)", "(a\\)", "\"a\\"] {
            assert_eq!(tokens(open, &[]), None, "{open}");
        }
    }
}
