//! JSON5 (<https://spec.json5.org>), of which JSON is a subset, with the line of each value.

mod strings;

use super::node::{Content, MAX_DEPTH, Node};

/// The mistake and its line.
type Wrong = (usize, String);

struct Reader<'a> {
    rest: &'a str,
    line: usize,
}

/// Reads a document.
pub fn read(text: &str) -> Result<Node, Wrong> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader {
        rest: text,
        line: 1,
    };
    let root = reader.value(0)?;
    reader.skip()?;
    if reader.rest.is_empty() {
        Ok(root)
    } else {
        Err(reader.wrong("expected the end of the file"))
    }
}

impl Reader<'_> {
    fn wrong(&self, reason: &str) -> Wrong {
        (self.line, reason.to_owned())
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next()?;
        self.rest = chars.as_str();
        if next == '\n' {
            self.line += 1;
        }
        Some(next)
    }

    fn take(&mut self, expected: char) -> bool {
        let is_there = self.peek() == Some(expected);
        if is_there {
            self.next();
        }
        is_there
    }

    /// Skips white space and comments.
    fn skip(&mut self) -> Result<(), Wrong> {
        loop {
            if self.peek().is_some_and(char::is_whitespace) || self.peek() == Some('\u{feff}') {
                self.next();
            } else if self.rest.starts_with("//") {
                while self.peek().is_some_and(|c| c != '\n') {
                    self.next();
                }
            } else if self.rest.starts_with("/*") {
                let began = self.line;
                while !self.rest.starts_with("*/") {
                    if self.next().is_none() {
                        return Err((began, "a comment is not closed".to_owned()));
                    }
                }
                self.next();
                self.next();
            } else {
                return Ok(());
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, Wrong> {
        self.skip()?;
        let line = self.line;
        if depth > MAX_DEPTH {
            return Err(self.wrong("the document is nested too deeply"));
        }
        let value = match self.peek() {
            Some('{') => self.map(depth)?,
            Some('[') => self.list(depth)?,
            Some('"' | '\'') => Content::Text(self.string()?),
            Some(_) => self.word()?,
            None => return Err(self.wrong("expected a value")),
        };
        Ok(Node { line, value })
    }

    fn map(&mut self, depth: usize) -> Result<Content, Wrong> {
        self.next();
        let mut fields: Vec<(String, Node)> = Vec::new();
        loop {
            self.skip()?;
            if self.take('}') {
                return Ok(Content::Map(fields));
            }
            let key = match self.peek() {
                Some('"' | '\'') => self.string()?,
                _ => self.name()?,
            };
            if fields.iter().any(|(known, _)| *known == key) {
                return Err(self.wrong(&format!("`{key}` appears twice")));
            }
            self.skip()?;
            if !self.take(':') {
                return Err(self.wrong("expected `:`"));
            }
            fields.push((key, self.value(depth + 1)?));
            self.skip()?;
            if !self.take(',') && self.peek() != Some('}') {
                return Err(self.wrong("expected `,` or `}`"));
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Content, Wrong> {
        self.next();
        let mut items = Vec::new();
        loop {
            self.skip()?;
            if self.take(']') {
                return Ok(Content::List(items));
            }
            items.push(self.value(depth + 1)?);
            self.skip()?;
            if !self.take(',') && self.peek() != Some(']') {
                return Err(self.wrong("expected `,` or `]`"));
            }
        }
    }

    fn name(&mut self) -> Result<String, Wrong> {
        let mut name = String::new();
        while let Some(next) = self
            .peek()
            .filter(|c| c.is_alphanumeric() || matches!(c, '$' | '_'))
        {
            name.push(next);
            self.next();
        }
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.wrong("expected the name of a field"));
        }
        Ok(name)
    }

    /// `true`, `false`, `null` or a number.
    fn word(&mut self) -> Result<Content, Wrong> {
        let mut word = String::new();
        while let Some(next) = self
            .peek()
            .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
        {
            word.push(next);
            self.next();
        }
        match word.as_str() {
            "true" => Ok(Content::Flag(true)),
            "false" => Ok(Content::Flag(false)),
            "null" => Ok(Content::Null),
            number if is_number(number) => Ok(Content::Text(word)),
            _ => Err(self.wrong("expected a value")),
        }
    }
}

fn is_number(word: &str) -> bool {
    let digits = word.trim_start_matches(['+', '-']);
    let is_hex = digits
        .strip_prefix("0x")
        .is_some_and(|hex| !hex.is_empty() && hex.bytes().all(|b| b.is_ascii_hexdigit()));
    is_hex
        || digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
            && digits.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests;
