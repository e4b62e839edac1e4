//! Cuts a Markdown text into sentences while it arrives. A cut is made only where later text cannot change how
//! the text before it is spoken: between two blocks, or after a sentence of a top-level paragraph that has no
//! markup before it which may still be open. Lists, tables, quotes and code are therefore complete when they are
//! cut off.

#[cfg(test)]
mod tests;

use super::speakable::options;
use super::split::sentence_ends;
use pulldown_cmark::{Event, Parser, Tag};
use std::ops::Range;

/// The shortest piece. Very short sentences sound better with the next one.
const LEAST_CHARACTERS: usize = 24;

/// A text that arrives, without what was taken from it.
#[derive(Debug, Default)]
pub(crate) struct Sentences {
    source: String,
    /// The length of the text when it contained no cut.
    tried: usize,
}

impl Sentences {
    pub(crate) fn push(&mut self, text: &str) {
        self.source.push_str(text);
    }

    /// Takes the text up to the first cut, or up to the last one within `most` characters if there is one.
    /// `None` while there is no cut.
    pub(crate) fn next(&mut self, most: Option<usize>) -> Option<String> {
        // A long block is not parsed again for each of its words.
        if self.tried > 0 && self.source.len() < self.tried + self.tried / 8 {
            return None;
        }
        let at = match most {
            None => cuts(&self.source).into_iter().next(),
            Some(most) => {
                let all = cuts(&self.source);
                let count = |at: &usize| self.source.get(..*at).map_or(0, |t| t.chars().count());
                let fitting = all.iter().copied().rfind(|at| count(at) <= most);
                fitting.or_else(|| all.first().copied())
            }
        };
        let Some(at) = at else {
            self.tried = self.source.len();
            return None;
        };
        self.tried = 0;
        let rest = self.source.split_off(at);
        Some(std::mem::replace(&mut self.source, rest))
    }

    /// The text has ended: cuts are looked for again.
    pub(crate) const fn end(&mut self) {
        self.tried = 0;
    }

    /// Takes the rest; `None` if it is blank.
    pub(crate) fn rest(&mut self) -> Option<String> {
        self.tried = 0;
        Some(std::mem::take(&mut self.source)).filter(|text| !text.trim().is_empty())
    }
}

/// Where the text can be cut, in ascending order.
fn cuts(source: &str) -> Vec<usize> {
    let (blocks, plain) = outline(source);
    let Some((last, before)) = blocks.split_last() else {
        return Vec::new();
    };
    let next_blocks = before.iter().skip(1).chain(blocks.last());
    let mut cuts = Vec::new();
    for (block, next) in before.iter().zip(next_blocks) {
        cuts.extend(sentence_cuts(source, block, &plain));
        cuts.push(next.range.start);
    }
    cuts.extend(sentence_cuts(source, last, &plain));
    let is_long = |at: &usize| {
        let before = source.get(..*at).unwrap_or_default().trim();
        before.chars().nth(LEAST_CHARACTERS - 1).is_some()
    };
    cuts.retain(is_long);
    cuts
}

/// A block of the top level.
struct Block {
    range: Range<usize>,
    is_paragraph: bool,
}

/// The blocks of the top level, and the text of their paragraphs outside markup.
fn outline(source: &str) -> (Vec<Block>, Vec<Range<usize>>) {
    let (mut blocks, mut plain, mut depth) = (Vec::new(), Vec::new(), 0_usize);
    for (event, range) in Parser::new_ext(source, options()).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                if depth == 0 {
                    let is_paragraph = matches!(tag, Tag::Paragraph);
                    blocks.push(Block {
                        range,
                        is_paragraph,
                    });
                }
                depth += 1;
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            Event::Text(_) | Event::SoftBreak | Event::HardBreak if depth == 1 => plain.push(range),
            // A rule.
            _ if depth == 0 => blocks.push(Block {
                range,
                is_paragraph: false,
            }),
            _ => {}
        }
    }
    (blocks, plain)
}

/// The ends of sentences in a paragraph before which all markup is closed.
fn sentence_cuts(source: &str, block: &Block, plain: &[Range<usize>]) -> Vec<usize> {
    if !block.is_paragraph {
        return Vec::new();
    }
    let inside = plain
        .iter()
        .filter(|text| block.range.start <= text.start && text.end <= block.range.end);
    let mut allowed = Vec::new();
    for text in inside {
        let words = source.get(text.clone()).unwrap_or_default();
        // Text with such a character may become markup.
        let open = words.find(['`', '*', '_', '[', '<', '|', '~', '$', '\\']);
        let end = open.map_or(text.end, |at| text.start + at);
        allowed.push(text.start..end);
        if open.is_some() {
            break;
        }
    }
    let paragraph = source.get(block.range.clone()).unwrap_or_default();
    let ends = sentence_ends(paragraph).into_iter();
    ends.map(|at| block.range.start + at)
        .filter(|at| {
            allowed
                .iter()
                .any(|text| text.start <= *at && *at <= text.end)
        })
        .collect()
}
