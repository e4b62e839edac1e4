//! What an answer says about its own speech: `[[tts]]`, `[[tts:persona=x]]` and `[[/tts]]`, taken out of a
//! text as it streams. Pure.
//!
//! **Markers.** A marker marks the whole answer as to be spoken; where a closing one follows, only what
//! stands between such pairs is. The first persona that is named counts. Blanks and tabs are taken
//! around each word of a marker. What only looks like one stays as it is: `[[ttsx]]`, `[[tts:persona=]]`,
//! and one that the text ends in. If taking a marker out joins its neighbours to another one, the
//! last bracket of that one is dropped.
//!
//! **White space.** At the beginning and at the end of the text a marker takes the white space around it
//! along. Within a line one blank stays where there was white space on either side. At the beginning of a
//! line the white space behind it goes, at the end of one that before it; alone on a line it takes the
//! line along, and of the empty lines around it the larger number stays.
//!
//! **Code.** Markers in code are text. Fenced blocks are told as `CommonMark` 0.31 does (section 4.5),
//! within block quotes and list items as well; indented code blocks are not told from text. A code
//! span (section 6.1) is open from a run of backticks to the next one of the same length in its
//! paragraph; a paragraph ends with an empty line, a heading, a rule, a new list item, a deeper quote,
//! a fence, or the text. If it ends before the span is closed there was no span, and the runs behind the
//! first one are looked at again. Raw HTML and links are not told from text.
//!
//! **Streaming.** Text passes at once, even in a span that is still open. Three things wait: white
//! space, for the character behind it; what may become a marker, at most 128 bytes; and a
//! marker in an open span with everything behind it, until the span is closed or its paragraph has ended.

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

/// What an answer says about its own speech.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tag {
    /// The persona that is to speak.
    pub persona: Option<String>,
    /// What is to be spoken; everything visible when empty.
    pub parts: Vec<String>,
}

/// Takes markers out of a text that comes in pieces.
#[derive(Debug, Default)]
pub struct MarkupFilter {
    /// What may become a marker.
    candidate: String,
    blocks: Blocks,
    spans: Spans,
    /// Backticks just read, whose number is not known yet.
    run: Option<Run>,
    /// Whether they began a line.
    run_begins_line: bool,
    /// Whether an odd number of backslashes was read last.
    is_escaped: bool,
    output: Output,
}

impl MarkupFilter {
    /// A filter at the beginning of a text.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next piece; gives back the visible text that is certain by now.
    pub fn push(&mut self, piece: &str) -> String {
        for character in piece.chars() {
            self.step(character);
        }
        self.output.take()
    }

    /// The text has ended: the rest of the visible text, and what the markers said, if there was one.
    pub fn finish(mut self) -> (String, Option<Tag>) {
        for character in std::mem::take(&mut self.candidate).chars() {
            self.literal(character);
        }
        self.end_run();
        self.spans.end_of_fence_line(&mut self.output);
        self.spans.end_of_paragraph(&mut self.output);
        self.output.finish()
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

    /// The candidate is none; another may begin within it.
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

    /// A character that is no part of a marker, outside fences.
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
