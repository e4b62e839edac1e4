//! The index of a JSON text: the start and end of each value. The caller must have validated the text with
//! `serde_json`. Invalid text causes an error, never a panic.

use indexmap::IndexMap;

use super::{MAX_DEPTH, PayloadError};

/// The position of a value in the text, and its children.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub start: u32,
    pub end: u32,
    pub inside: Inside,
}

#[derive(Clone, Debug)]
pub(super) enum Inside {
    Null,
    Bool,
    Number,
    String,
    Array(Box<[Tree]>),
    // Boxed, because most values are not objects and every value has the size of the largest variant.
    Object(Box<IndexMap<Box<str>, Tree>>),
}

impl Tree {
    /// Indexes a text that is one JSON value.
    pub fn index(text: &str) -> Result<Self, PayloadError> {
        if u32::try_from(text.len()).is_err() {
            return Err(PayloadError::TooLarge);
        }
        let mut scanner = Scanner { text, at: 0 };
        let tree = scanner.value(MAX_DEPTH)?;
        scanner.space();
        if scanner.at == text.len() {
            Ok(tree)
        } else {
            Err(scanner.lost())
        }
    }
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Skips white space, then consumes `byte` if it is next.
    fn take(&mut self, byte: u8) -> bool {
        self.space();
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    /// Returns the error for text that is unexpectedly not valid JSON.
    fn lost(&self) -> PayloadError {
        PayloadError::NotJson {
            line: 1,
            column: self.at,
        }
    }

    fn value(&mut self, depth: usize) -> Result<Tree, PayloadError> {
        self.space();
        let start = self.at;
        let inside = match self.peek().ok_or_else(|| self.lost())? {
            b'{' => self.object(depth)?,
            b'[' => self.array(depth)?,
            b'"' => {
                self.string()?;
                Inside::String
            }
            first => {
                self.word();
                match first {
                    b'n' => Inside::Null,
                    b't' | b'f' => Inside::Bool,
                    _ => Inside::Number,
                }
            }
        };
        let place = |at: usize| u32::try_from(at).map_err(|_| PayloadError::TooLarge);
        Ok(Tree {
            start: place(start)?,
            end: place(self.at)?,
            inside,
        })
    }

    fn array(&mut self, depth: usize) -> Result<Inside, PayloadError> {
        let depth = depth.checked_sub(1).ok_or(PayloadError::TooDeep)?;
        self.at += 1;
        let mut items = Vec::new();
        if self.take(b']') {
            return Ok(Inside::Array(items.into()));
        }
        loop {
            items.push(self.value(depth)?);
            if self.take(b']') {
                return Ok(Inside::Array(items.into()));
            }
            if !self.take(b',') {
                return Err(self.lost());
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Inside, PayloadError> {
        let depth = depth.checked_sub(1).ok_or(PayloadError::TooDeep)?;
        self.at += 1;
        let mut members = IndexMap::new();
        if self.take(b'}') {
            return Ok(Inside::Object(Box::new(members)));
        }
        loop {
            self.space();
            let start = self.at;
            self.string()?;
            let raw = self.text.get(start..self.at).ok_or_else(|| self.lost())?;
            let key = super::text::decode(raw).into_owned().into_boxed_str();
            if !self.take(b':') {
                return Err(self.lost());
            }
            let value = self.value(depth)?;
            // If a key is repeated, the last value is used, at the position of the first.
            members.insert(key, value);
            if self.take(b'}') {
                return Ok(Inside::Object(Box::new(members)));
            }
            if !self.take(b',') {
                return Err(self.lost());
            }
        }
    }

    /// Skips a string, including both quotes.
    fn string(&mut self) -> Result<(), PayloadError> {
        if self.peek() != Some(b'"') {
            return Err(self.lost());
        }
        self.at += 1;
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'"' => return Ok(()),
                b'\\' => self.at += 1,
                _ => {}
            }
        }
        Err(self.lost())
    }

    /// Skips a number or literal.
    fn word(&mut self) {
        while let Some(byte) = self.peek() {
            if matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r') {
                return;
            }
            self.at += 1;
        }
    }
}
