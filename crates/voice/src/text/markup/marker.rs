//! Parses markers.

/// The longest marker, in bytes. The limit bounds the white space inside a marker.
const MAX_BYTES: usize = 128;
/// The longest persona ID.
const MAX_PERSONA: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    /// `[[tts]]`, `[[tts:persona=x]]`
    Open(Option<String>),
    /// `[[/tts]]`
    Close,
}

/// Whether a text is a marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Match {
    Yes(Marker),
    /// The text is the beginning of a marker.
    Maybe,
    No,
}

/// Why parsing stopped.
enum Stop {
    /// The text ended.
    End,
    /// The text is not a marker.
    Wrong,
}

struct Reader<'a>(&'a str);

impl<'a> Reader<'a> {
    fn literal(&mut self, expected: &str) -> Result<(), Stop> {
        if let Some(rest) = self.0.strip_prefix(expected) {
            self.0 = rest;
            return Ok(());
        }
        Err(if expected.starts_with(self.0) {
            Stop::End
        } else {
            Stop::Wrong
        })
    }

    /// Returns the next character that is not white space.
    fn next(&mut self) -> Result<char, Stop> {
        self.0 = self.0.trim_start_matches([' ', '\t']);
        self.0.chars().next().ok_or(Stop::End)
    }

    fn word(&mut self, expected: &str) -> Result<(), Stop> {
        self.next()?;
        self.literal(expected)
    }

    fn persona(&mut self) -> Result<&'a str, Stop> {
        self.next()?;
        let is_other = |c: char| !(c.is_ascii_alphanumeric() || "._-".contains(c));
        let (name, is_whole) = match self.0.find(is_other) {
            Some(end) => (self.0.get(..end).unwrap_or_default(), true),
            None => (self.0, false),
        };
        if name.is_empty() || name.len() > MAX_PERSONA {
            return Err(Stop::Wrong);
        }
        if !is_whole {
            return Err(Stop::End);
        }
        self.0 = self.0.get(name.len()..).unwrap_or_default();
        Ok(name)
    }

    fn marker(&mut self) -> Result<Marker, Stop> {
        self.literal("[[")?;
        if self.next()? == '/' {
            self.literal("/")?;
            self.word("tts")?;
            self.word("]]")?;
            return Ok(Marker::Close);
        }
        self.literal("tts")?;
        let mut persona = None;
        if self.next()? == ':' {
            self.literal(":")?;
            self.word("persona")?;
            self.word("=")?;
            persona = Some(self.persona()?.to_owned());
        }
        self.word("]]")?;
        Ok(Marker::Open(persona))
    }
}

/// Returns whether `text` is a marker. The function is called again for each new character, so a match ends at the end
/// of `text`.
pub(super) fn read(text: &str) -> Match {
    match Reader(text).marker() {
        Ok(marker) => Match::Yes(marker),
        Err(Stop::End) if text.len() < MAX_BYTES => Match::Maybe,
        Err(_) => Match::No,
    }
}
