//! The speech markers of an answer: `[[tts]]`, `[[tts:persona=x]]` and `[[/tts]]`. Removes them from a text as it
//! streams.
//!
//! **Markers.** A marker requests that the whole answer be spoken. If closing markers follow, only the text inside such
//! pairs is spoken. A persona speaks from its marker on. Spaces and tabs are allowed around each word of a marker. Text
//! that only resembles a marker is unchanged: `[[ttsx]]`, `[[tts:persona=]]`, and an incomplete marker at the end. If
//! the text around a removed marker would form a new marker, the last bracket of the new marker is dropped.
//!
//! **White space.** At the start and at the end of the text, a marker is removed together with the white space around
//! it. Within a line, one space remains if there was white space on either side. At the start of a line, the white
//! space after the marker is removed. At the end of a line, the white space before the marker is removed. A marker
//! alone on a line is removed with its line. Of the empty lines before and after it, the larger number remains.
//!
//! **Code.** Markers in code are text. The Markdown parser finds the code: fenced blocks, also in quotes and list
//! items, and code spans. The parser reads the text without its markers. In an indented block, code begins at a
//! backtick and ends with the line. Raw HTML and links are treated as text.
//!
//! **Streaming.** Text passes immediately, even in an open span. Three things are held back: white space, until the
//! next character; a possible marker, at most 128 bytes; and a marker after an open backtick with all text after it,
//! until the span is closed or a complete line shows that its paragraph has ended. In a long text, markers are decided
//! in groups, so the time is linear.

#[cfg(test)]
mod cases;
mod code;
mod marker;
mod outline;
mod output;
#[cfg(test)]
mod tests;

use marker::{Marker, Match};
use outline::Outline;
use output::Output;
use std::collections::VecDeque;
use std::ops::Range;

/// A text of up to this many bytes is parsed again for each piece.
const ALWAYS_PARSED: usize = 16 * 1024;
/// A longer text is parsed again when it has grown by this fraction of the excess.
const GROWTH: usize = 32;

/// The speech that an answer's markers request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tag {
    /// The first persona that is named.
    pub persona: Option<String>,
    /// The texts to speak; if empty, the whole visible text.
    pub parts: Vec<String>,
}

/// The positions of a text's markers, as byte offsets in its visible text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Places {
    /// The first opening marker.
    pub(crate) first: Option<usize>,
    /// The marker that ended the passage of the first marker: a closing marker, or another opening
    /// one.
    pub(crate) first_end: Option<usize>,
    /// The closed pairs that contain more than white space.
    pub(crate) pairs: Vec<Range<usize>>,
    /// The personas that are named, in order.
    pub(crate) personas: Vec<(usize, String)>,
}

/// A part of the text whose effect is not known yet.
#[derive(Debug)]
enum Item {
    Character(char),
    /// A marker, and its text.
    Marker(Marker, String),
}

/// Removes markers from a text that arrives in pieces.
#[derive(Debug, Default)]
pub struct MarkupFilter {
    /// Text that may become a marker.
    candidate: String,
    outline: Outline,
    /// White space, and everything from the first undecided marker on, with positions in the outline.
    waiting: VecDeque<(usize, Item)>,
    /// The number of markers in `waiting`.
    markers: usize,
    /// The length of the outline at which it is parsed again.
    next_parse: usize,
    output: Output,
}

impl MarkupFilter {
    pub fn new() -> Self {
        Self::default()
    }

    /// Processes the next piece. Returns the visible text that is final.
    pub fn push(&mut self, piece: &str) -> String {
        for character in piece.chars() {
            self.step(character);
        }
        self.settle(false);
        self.output.take()
    }

    /// Returns the markers of the visible text so far.
    pub(crate) const fn places(&self) -> &Places {
        self.output.places()
    }

    /// Ends the text. Returns the rest of the visible text, and the tag if there was a marker.
    pub fn finish(mut self) -> (String, Option<Tag>) {
        self.end();
        let (rest, tag, _) = self.output.finish();
        (rest, tag)
    }

    /// Ends the text. Returns the rest of the visible text, and the positions of the markers.
    pub(crate) fn finish_with_places(mut self) -> (String, Places) {
        self.end();
        let (rest, _, places) = self.output.finish();
        (rest, places)
    }

    fn end(&mut self) {
        for character in std::mem::take(&mut self.candidate).chars() {
            self.literal(character);
        }
        self.settle(true);
    }

    fn step(&mut self, character: char) {
        if self.candidate.is_empty() && character != '[' {
            self.literal(character);
            return;
        }
        self.candidate.push(character);
        self.try_candidate();
    }

    fn try_candidate(&mut self) {
        while !self.candidate.is_empty() {
            match marker::read(&self.candidate) {
                Match::Maybe => return,
                Match::Yes(marker) => {
                    let raw = std::mem::take(&mut self.candidate);
                    let at = self.outline.marker();
                    self.waiting.push_back((at, Item::Marker(marker, raw)));
                    self.markers += 1;
                }
                Match::No => self.give_up_candidate(),
            }
        }
    }

    /// Handles a candidate that is not a marker. Another marker may begin inside it.
    fn give_up_candidate(&mut self) {
        let candidate = std::mem::take(&mut self.candidate);
        let mut characters = candidate.chars();
        if let Some(first) = characters.next() {
            self.literal(first);
        }
        for character in characters {
            if self.candidate.is_empty() && character != '[' {
                self.literal(character);
            } else {
                self.candidate.push(character);
            }
        }
    }

    /// Processes a character that is not part of a marker.
    fn literal(&mut self, character: char) {
        let at = self.outline.push(character);
        self.waiting.push_back((at, Item::Character(character)));
        if self.markers == 0 && !is_white(character) {
            self.pass_text();
        }
    }

    /// Passes the waiting characters if there is no marker among them. White space before text is the same inside and
    /// outside code.
    fn pass_text(&mut self) {
        for (_, item) in self.waiting.drain(..) {
            if let Item::Character(character) = item {
                self.output.text(character);
            }
        }
    }

    /// Passes the text that later text cannot change.
    fn settle(&mut self, is_complete: bool) {
        if self.markers == 0 && !self.outline.has_fence() {
            self.pass_text();
        }
        let length = self.outline.length();
        if self.waiting.is_empty() || (!is_complete && length < self.next_parse) {
            return;
        }
        self.next_parse = length + length.saturating_sub(ALWAYS_PARSED) / GROWTH;
        let code = self.outline.code();
        while let Some((at, item)) = self.waiting.pop_front() {
            match item {
                Item::Character(c) if is_white(c) && code.has_fenced(at, c) => self.output.code(c),
                Item::Character(c) => self.output.text(c),
                Item::Marker(marker, raw) => {
                    let Some(is_code) = code.contains(at, is_complete) else {
                        self.waiting.push_front((at, Item::Marker(marker, raw)));
                        return;
                    };
                    self.markers -= 1;
                    if is_code {
                        raw.chars().for_each(|c| self.output.code(c));
                    } else {
                        self.output.marker(marker);
                    }
                }
            }
        }
    }
}

const fn is_white(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r')
}
