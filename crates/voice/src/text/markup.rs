//! The speech markers of an answer: `[[tts]]`, `[[tts:persona=x]]` and `[[/tts]]`. Removes them from a text
//! as it streams.
//!
//! **Markers.** A marker requests that the whole answer be spoken. If closing markers follow, only the text
//! inside such pairs is spoken. A persona speaks from its marker on. Spaces and tabs are allowed around each word
//! of a marker. Text that only resembles a marker is unchanged: `[[ttsx]]`, `[[tts:persona=]]`, and an
//! incomplete marker at the end. If removing a marker would form another one from its surroundings, the last
//! bracket of that one is dropped.
//!
//! **White space.** At the start and at the end of the text, a marker is removed together with the white
//! space around it. Within a line, one space remains if there was white space on either side. At the start of
//! a line the white space after the marker is removed, and at the end of a line the white space before it. A
//! marker alone on a line is removed with its line; of the empty lines before and after it, the larger number
//! remains.
//!
//! **Code.** Markers in code are text. Fenced blocks are recognized as in `CommonMark` 0.31 (section 4.5),
//! including inside block quotes and list items. Indented code blocks are treated as text. A code span
//! (section 6.1) extends from a run of backticks to the next run of the same length in its paragraph. A
//! paragraph ends with an empty line, a heading, a rule, a new list item, a deeper quote, a fence, or the end
//! of the text. If it ends before the span is closed, there is no span, and the runs after the first one are
//! examined again. Raw HTML and links are treated as text.
//!
//! **Streaming.** Text passes immediately, even in an open span. Held back are: white space, until the next character;
//! a possible marker, at most 128 bytes; and a marker in an open span with everything after it, until the span is
//! closed or its paragraph ends.

mod blocks;
#[cfg(test)]
mod cases;
mod marker;
mod output;
mod spans;
#[cfg(test)]
mod tests;

use blocks::{Blocks, Step};
use marker::Match;
use output::Output;
use spans::{Run, Spans};
use std::ops::Range;

/// The request of an answer's markers.
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
    /// The marker that ended what the first one began: a closing marker, or another opening one.
    pub(crate) first_end: Option<usize>,
    /// The closed pairs that contain more than white space.
    pub(crate) pairs: Vec<Range<usize>>,
    /// The personas that are named, in order.
    pub(crate) personas: Vec<(usize, String)>,
}

/// Removes markers from a text that arrives in pieces.
#[derive(Debug, Default)]
pub struct MarkupFilter {
    /// Text that may become a marker.
    candidate: String,
    blocks: Blocks,
    spans: Spans,
    /// The current run of backticks, whose length is not known yet.
    run: Option<Run>,
    /// Whether the run began a line.
    run_begins_line: bool,
    /// Whether the text so far ends in an odd number of backslashes.
    is_escaped: bool,
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
        self.output.take()
    }

    /// The markers of the visible text so far.
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
        self.end_run();
        self.spans.end_of_fence_line(&mut self.output);
        self.spans.end_of_paragraph(&mut self.output);
    }

    fn step(&mut self, character: char) {
        if self.blocks.in_fence() && self.blocks.feed(character) != Step::LeftFence {
            self.output.code(character);
            return;
        }
        let may_begin = character == '[' && !self.blocks.is_behind_tildes();
        if self.candidate.is_empty() && !may_begin {
            self.literal(character);
            return;
        }
        self.end_run_before(character);
        self.candidate.push(character);
        self.try_candidate();
    }

    fn try_candidate(&mut self) {
        while !self.candidate.is_empty() {
            match marker::read(&self.candidate) {
                Match::Maybe => return,
                Match::Yes(marker) => {
                    let raw = std::mem::take(&mut self.candidate);
                    self.blocks.marker(self.output.is_empty());
                    self.is_escaped = false;
                    self.spans.marker(marker, raw, &mut self.output);
                }
                Match::No => self.give_up_candidate(),
            }
        }
    }

    /// The candidate is not a marker; another one may begin inside it.
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

    /// Processes a character that is not part of a marker, outside fences.
    fn literal(&mut self, character: char) {
        self.end_run_before(character);
        if character == '`' && !self.blocks.is_behind_tildes() {
            self.backtick();
            return;
        }
        let step = self.blocks.feed(character);
        if character == '\n'
            && let Some(fence) = self.spans.end_of_fence_line(&mut self.output)
        {
            self.blocks.open_backtick_fence(fence);
            self.output.code(character);
            return;
        }
        if step == Step::ParagraphEnds {
            self.spans.end_of_paragraph(&mut self.output);
        }
        if self.blocks.in_fence() {
            self.output.code(character);
        } else {
            self.plain(character);
        }
    }

    fn plain(&mut self, character: char) {
        self.is_escaped = character == '\\' && !self.is_escaped;
        self.spans.text(character, &mut self.output);
    }

    fn backtick(&mut self) {
        if let Some(run) = &mut self.run {
            run.length += 1;
        } else {
            self.run_begins_line = self.blocks.may_begin_fence();
            self.spans.no_fence_line(&mut self.output);
            self.run = Some(Run {
                length: 1,
                is_escaped: self.is_escaped,
            });
        }
        self.blocks.feed('`');
        self.plain('`');
    }

    fn end_run_before(&mut self, character: char) {
        if character != '`' {
            self.end_run();
        }
    }

    fn end_run(&mut self) {
        let Some(run) = self.run.take() else { return };
        if self.run_begins_line && run.length >= 3 {
            self.spans.fence_line(run);
        } else {
            self.spans.run(run, &mut self.output);
        }
    }
}
