//! Cuts a Markdown text into sentences while it arrives. A cut must not depend on later text. Cuts are therefore made
//! between two blocks, and after a sentence of a top-level paragraph if no markup before it can still be open. Lists,
//! tables, quotes and code are complete when they are cut off.

#[cfg(test)]
mod tests;

use super::speakable::options;
use super::split::sentence_ends;
use pulldown_cmark::{Event, Parser, Tag};
use std::collections::VecDeque;
use std::ops::Range;

/// The shortest piece, in characters. A very short sentence sounds better together with the next
/// one.
const LEAST_CHARACTERS: usize = 24;

/// An arriving text, without the parts that were already taken.
#[derive(Debug, Default)]
pub(crate) struct Sentences {
    source: String,
    /// The length of the text at the last search that found no cut.
    tried: usize,
    /// The persona for the beginning of the text.
    persona: Option<String>,
    /// The positions of other personas, in ascending order. They begin at the next cut.
    changes: VecDeque<(usize, String)>,
    is_over: bool,
}

/// A piece of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) text: String,
    /// The persona that speaks it.
    pub(crate) persona: Option<String>,
}

impl Sentences {
    pub(crate) fn new(persona: Option<String>) -> Self {
        Self {
            persona,
            ..Self::default()
        }
    }

    pub(crate) fn push(&mut self, text: &str) {
        self.source.push_str(text);
    }

    /// Another persona speaks what follows.
    pub(crate) fn change(&mut self, persona: String) {
        self.tried = 0;
        self.changes.push_back((self.source.len(), persona));
    }

    /// Takes the text up to the first cut. With `most`, takes the text up to the last cut within `most` characters, if
    /// there is one. Returns `None` while there is no cut.
    pub(crate) fn next(&mut self, most: Option<usize>) -> Option<Piece> {
        // A long block is not parsed again for each new word.
        if self.tried > 0 && self.source.len() < self.tried + self.tried / 8 {
            return None;
        }
        let cuts = self.cuts();
        let at = match most {
            None => cuts.first(),
            Some(most) => {
                let count = |at: &usize| self.source.get(..*at).map_or(0, |t| t.chars().count());
                let fitting = cuts.iter().rfind(|at| count(at) <= most);
                fitting.or_else(|| cuts.first())
            }
        };
        let Some(at) = at else {
            self.tried = self.source.len();
            return None;
        };
        Some(self.take(*at))
    }

    /// Marks the text as ended, which allows a new search for cuts.
    pub(crate) const fn end(&mut self) {
        self.tried = 0;
        self.is_over = true;
    }

    pub(crate) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Takes the rest; `None` if it is blank.
    pub(crate) fn rest(&mut self) -> Option<Piece> {
        let rest = self.take(self.source.len());
        Some(rest).filter(|rest| !rest.text.trim().is_empty())
    }

    fn take(&mut self, at: usize) -> Piece {
        self.tried = 0;
        let rest = self.source.split_off(at);
        let piece = Piece {
            text: std::mem::replace(&mut self.source, rest),
            persona: self.persona.clone(),
        };
        while let Some((_, persona)) = self.changes.pop_front_if(|(place, _)| *place <= at) {
            self.persona = Some(persona);
        }
        for (place, _) in &mut self.changes {
            *place -= at;
        }
        piece
    }

    /// Returns the cut positions in ascending order, up to the next change of the persona.
    fn cuts(&self) -> Vec<usize> {
        let change = self.changes.front().map(|(place, _)| *place);
        let mut cuts = cuts(&self.source, change);
        let until = change.and_then(|change| cuts.iter().copied().find(|at| *at >= change));
        let is_long = |at: usize| {
            let before = self.source.get(..at).unwrap_or_default().trim();
            before.chars().nth(LEAST_CHARACTERS - 1).is_some()
        };
        cuts.retain(|at| match until {
            Some(until) if *at >= until => *at == until,
            _ => is_long(*at),
        });
        cuts
    }
}

/// Returns the cut positions in ascending order. Includes `wanted` if it is a cut position.
fn cuts(source: &str, wanted: Option<usize>) -> Vec<usize> {
    let (blocks, plain) = outline(source);
    let Some((last, before)) = blocks.split_last() else {
        return Vec::new();
    };
    let next_blocks = before.iter().skip(1).chain(blocks.last());
    let mut cuts = Vec::new();
    for (block, next) in before.iter().zip(next_blocks) {
        cuts.extend(sentence_cuts(source, block, &plain, wanted));
        cuts.push(next.range.start);
    }
    cuts.extend(sentence_cuts(source, last, &plain, wanted));
    cuts
}

/// A block of the top level.
struct Block {
    range: Range<usize>,
    is_paragraph: bool,
}

/// Returns the blocks of the top level, and the text of their paragraphs outside markup.
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

/// Returns the ends of sentences before which all markup of the paragraph is closed. Includes `wanted` if all markup
/// before it is closed.
fn sentence_cuts(
    source: &str,
    block: &Block,
    plain: &[Range<usize>],
    wanted: Option<usize>,
) -> Vec<usize> {
    if !block.is_paragraph {
        return Vec::new();
    }
    let inside = plain
        .iter()
        .filter(|text| block.range.start <= text.start && text.end <= block.range.end);
    let mut allowed = Vec::new();
    for text in inside {
        let words = source.get(text.clone()).unwrap_or_default();
        // Text that contains one of these characters may become markup.
        let open = words.find(['`', '*', '_', '[', '<', '|', '~', '$', '\\']);
        let end = open.map_or(text.end, |at| text.start + at);
        allowed.push(text.start..end);
        if open.is_some() {
            break;
        }
    }
    let paragraph = source.get(block.range.clone()).unwrap_or_default();
    let ends = sentence_ends(paragraph).into_iter();
    let mut cuts: Vec<usize> = ends
        .map(|at| block.range.start + at)
        .chain(wanted)
        .collect();
    cuts.retain(|at| {
        let mut allowed = allowed.iter();
        allowed.any(|text| text.start <= *at && *at <= text.end)
    });
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}
