//! Structured values of header fields (RFC 5322, section 3.2): words, quoted strings and marks, without comments.

/// A part of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    Quoted(String),
    Mark(char),
}

impl Token {
    /// Returns the text of a word or a quoted string.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Word(text) | Self::Quoted(text) => Some(text),
            Self::Mark(_) => None,
        }
    }
}

/// The position of a comment next to a character other than `;`. Programs disagree on whether that is a comment.
pub(super) const TOUCHING: Token = Token::Mark('(');

/// Splits a value. Returns `None` if a comment or a quoted string does not end, if a closing parenthesis has no opening
/// one, or if a comment could end in two places.
pub(super) fn tokens(value: &str, marks: &[char]) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut word = String::new();
    let mut rest = value.chars();
    let mut before = None;
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
            Some('(') => {
                skip_comment(&mut rest)?;
                if !(is_apart(before) && is_apart(rest.clone().next())) {
                    tokens.push(TOUCHING);
                }
            }
            Some(')') => return None,
            Some(c) if marks.contains(&c) => tokens.push(Token::Mark(c)),
            Some(c) if is_end => debug_assert!(c.is_ascii_whitespace()),
            Some(c) => word.push(c),
        }
        before = next;
    }
}

/// Returns whether a comment may appear next to a character, or the beginning or end of a value.
fn is_apart(beside: Option<char>) -> bool {
    beside.is_none_or(|c| c.is_ascii_whitespace() || c == ';')
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

/// Skips a comment after its first parenthesis. Returns `None` if it does not end, or if quotes decide where it ends.
/// Some servers write quoted strings into comments, although quotes have no meaning there.
fn skip_comment(rest: &mut std::str::Chars<'_>) -> Option<()> {
    let mut depth = 1_u32;
    let mut is_quoted = false;
    while depth > 0 {
        match rest.next()? {
            '(' | ')' if is_quoted => return None,
            '(' => depth = depth.saturating_add(1),
            ')' => depth = depth.saturating_sub(1),
            '"' => is_quoted = !is_quoted,
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
        for touching in ["a(b)", "a=(b)", "(a)b", "\"a\"(b)", "a (b)(c)"] {
            assert!(tokens(touching, &['=']).unwrap().contains(&TOUCHING));
        }
        assert_eq!(tokens("(a);(b) ; (c)", &[';']).unwrap().len(), 2);
        assert_eq!(tokens(r#"(a "b" c) d"#, &[]).unwrap(), [word("d")]);
        for open in [
            "(a", "\"a", "a)", "(a\\)", "\"a\\", "(\"a) b", "(\"a)\")", "(\"(\")",
        ] {
            assert_eq!(tokens(open, &[]), None, "{open}");
        }
    }
}
