//! Builds the visible text: removes markers and normalizes the white space around them.

use super::marker::{self, Marker, Match};
use super::{Places, Tag};

/// The maximum size of the white space to hold back, in bytes.
const MAX_WHITE: usize = 1024;

/// The text since an opening marker.
#[derive(Debug)]
struct Part {
    start: usize,
    text: String,
}

/// The visible text and the content of the markers.
#[derive(Debug, Default)]
pub(super) struct Output {
    ready: String,
    last: Option<char>,
    /// White space that is held back until the next character.
    white: String,
    /// White space before a removed marker. Set until visible text follows.
    before: Option<String>,
    /// The end of the visible text, which may become a marker.
    tail: String,
    parts: Vec<String>,
    part: Option<Part>,
    /// The length of the visible text so far.
    length: usize,
    places: Places,
}

impl Output {
    /// Takes the text that is ready.
    pub(super) fn take(&mut self) -> String {
        std::mem::take(&mut self.ready)
    }

    /// Returns whether nothing is visible yet.
    const fn is_empty(&self) -> bool {
        self.last.is_none()
    }

    /// Adds a character of text, or a visible character of code.
    pub(super) fn text(&mut self, character: char) {
        if super::is_white(character) {
            self.white.push(character);
            if self.white.len() > MAX_WHITE {
                self.pass_white();
            }
            return;
        }
        self.pass_white();
        self.guarded(character);
    }

    /// Adds white space of a fenced block, or a character of a marker in code.
    pub(super) fn code(&mut self, character: char) {
        self.pass_white();
        self.tail.clear();
        self.show(character);
    }

    /// Removes a marker and records its content.
    pub(super) fn marker(&mut self, marker: Marker) {
        let white = self.settled_white();
        self.before = Some(white);
        match marker {
            Marker::Open(persona) => {
                self.places.first.get_or_insert(self.length);
                if self.part.is_some() {
                    self.places.first_end.get_or_insert(self.length);
                }
                if let Some(persona) = persona {
                    self.places.personas.push((self.length, persona));
                }
                self.part = Some(Part {
                    start: self.length,
                    text: String::new(),
                });
            }
            Marker::Close => {
                let Some(part) = self.part.take() else { return };
                self.places.first_end.get_or_insert(self.length);
                if !part.text.trim().is_empty() {
                    self.parts.push(part.text.trim().to_owned());
                    self.places.pairs.push(part.start..self.length);
                }
            }
        }
    }

    pub(super) const fn places(&self) -> &Places {
        &self.places
    }

    /// Returns the rest of the text, the tag, and the positions of the markers.
    pub(super) fn finish(mut self) -> (String, Option<Tag>, Places) {
        if self.before.is_none() {
            self.pass_white();
        }
        let tag = self.places.first.map(|_| Tag {
            persona: self.places.personas.first().map(|(_, name)| name.clone()),
            parts: self.parts,
        });
        (self.ready, tag, self.places)
    }

    fn pass_white(&mut self) {
        if self.before.is_some() || !self.white.is_empty() {
            let white = self.settled_white();
            white.chars().for_each(|c| self.guarded(c));
        }
    }

    /// Returns the white space that remains before this position.
    fn settled_white(&mut self) -> String {
        let white = std::mem::take(&mut self.white);
        match self.before.take() {
            None => white,
            Some(_) if self.is_empty() => String::new(),
            // The start of the line is in the output already.
            Some(before) if self.last == Some('\n') => {
                let joined = joined(&format!("\n{before}"), &white);
                let rest = joined.split_once('\n');
                rest.map_or_else(String::new, |(_, rest)| rest.to_owned())
            }
            Some(before) => joined(&before, &white),
        }
    }

    /// Appends a character unless it would complete a marker. All real markers have been removed, so such a marker
    /// results from their removal.
    fn guarded(&mut self, character: char) {
        if self.tail.is_empty() && character != '[' {
            self.show(character);
            return;
        }
        self.tail.push(character);
        loop {
            match marker::read(&self.tail) {
                Match::Yes(_) => {
                    self.tail.pop();
                    return;
                }
                Match::Maybe => break,
                Match::No => {
                    let next = self.tail.char_indices().skip(1).find(|(_, c)| *c == '[');
                    let next = next.map_or(self.tail.len(), |(at, _)| at);
                    self.tail.drain(..next);
                    if self.tail.is_empty() {
                        break;
                    }
                }
            }
        }
        self.show(character);
    }

    fn show(&mut self, character: char) {
        self.last = Some(character);
        self.ready.push(character);
        self.length += character.len_utf8();
        if let Some(part) = &mut self.part {
            part.text.push(character);
        }
    }
}

/// Merges the white space before and after a marker.
fn joined(before: &str, after: &str) -> String {
    let lines = |text: &str| text.matches('\n').count();
    let upto_last = |text: &str| -> String {
        let end = text.rfind('\n').map_or(0, |at| at + 1);
        text.get(..end).unwrap_or_default().to_owned()
    };
    // The text from the first line ending on. The line ending may have one or two characters.
    let from_first = after.trim_start_matches([' ', '\t']);
    match (lines(before), lines(after)) {
        (0, 0) if before.is_empty() && after.is_empty() => String::new(),
        (0, 0) => " ".to_owned(),
        (_, 0) => before.to_owned(),
        (0, _) => from_first.to_owned(),
        (above, below) => {
            let body = if above >= below {
                upto_last(before)
            } else {
                upto_last(from_first)
            };
            let indent = after.rsplit('\n').next().unwrap_or_default();
            body + indent
        }
    }
}
