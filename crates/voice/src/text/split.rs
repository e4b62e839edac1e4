//! Splits a long text into pieces that a provider accepts. Cuts are where a speaker would pause: after a sentence, else
//! after a clause, else between words, else between grapheme clusters (Unicode Standard Annex 29). The text is split in
//! one pass. The text that is examined again for the next piece is no longer than a piece.

mod characters;
mod sentence;

use characters::{is_clause, is_stop, is_wide_clause, is_wide_stop};
use unicode_segmentation::UnicodeSegmentation;

#[cfg(test)]
mod tests;

/// The number of characters after the end of a piece that are examined to decide whether a sentence ends there: closing
/// quotes and brackets, white space and the next letter.
const LOOK_AHEAD_CHARACTERS: usize = 64;

/// The quality of a cut position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Word,
    Clause,
    Sentence,
}

/// Splits a text into pieces of at most `max_characters` and `max_bytes` each. The concatenated pieces are the original
/// text. No piece is empty. A piece of white space alone occurs only if there is more white space than fits beside a
/// word. A single character that exceeds the limit is its own piece.
pub(crate) fn pieces(text: &str, max_characters: usize, max_bytes: usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    // The end of the last word. The text after a cut must contain a word.
    let mut content_end = text.trim_end().len();
    while !rest.is_empty() {
        let limit = fitting(rest, max_characters, max_bytes);
        let end = if limit == rest.len() {
            limit
        } else {
            Window::new(rest, limit, content_end).cut()
        };
        let (piece, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        pieces.push(piece.to_owned());
        content_end = content_end.saturating_sub(end);
        rest = after;
    }
    pieces
}

/// Returns the ends of sentences in a text that may continue, as byte offsets in ascending order. The end of the text
/// is not included, because an end is recognized by the text that follows it.
pub(crate) fn sentence_ends(text: &str) -> Vec<usize> {
    let mut window = Window::new(text, text.len(), text.len());
    window.is_end = false;
    let (mut ends, mut index) = (Vec::new(), 0);
    while index < window.units.len() {
        let first = window.first(index);
        if !first.is_some_and(|c| is_stop(c) || is_wide_stop(c)) {
            index += 1;
            continue;
        }
        window.best = None;
        index = window.stop(index).max(index + 1);
        let end = window.best.filter(|(rank, _)| *rank == Rank::Sentence);
        let goes_on = |at: usize| text.get(at..).is_some_and(|rest| !rest.trim().is_empty());
        ends.extend(end.map(|(_, at)| at).filter(|at| goes_on(*at)));
    }
    ends
}

/// Returns how many bytes fit. At least one character always fits.
fn fitting(text: &str, max_characters: usize, max_bytes: usize) -> usize {
    let mut end = 0;
    for (count, (at, character)) in text.char_indices().enumerate() {
        let next = at + character.len_utf8();
        if count > 0 && (count >= max_characters || next > max_bytes) {
            return end;
        }
        end = next;
    }
    end
}

/// The text examined for one cut: grapheme clusters with their positions.
struct Window<'a> {
    units: Vec<(usize, &'a str)>,
    /// The end of the last unit.
    length: usize,
    /// Whether the window reaches the end of the text.
    is_end: bool,
    limit: usize,
    content_end: usize,
    /// Whether a word has begun.
    has_word: bool,
    best: Option<(Rank, usize)>,
}

impl<'a> Window<'a> {
    fn new(rest: &'a str, limit: usize, content_end: usize) -> Self {
        let behind = rest.get(limit..).unwrap_or_default();
        let length = match behind.char_indices().nth(LOOK_AHEAD_CHARACTERS) {
            Some((at, _)) => limit + at,
            None => rest.len(),
        };
        let seen = rest.get(..length).unwrap_or(rest);
        Self {
            units: seen.grapheme_indices(true).collect(),
            length,
            is_end: length == rest.len(),
            limit,
            content_end,
            has_word: false,
            best: None,
        }
    }

    fn first(&self, index: usize) -> Option<char> {
        self.units.get(index)?.1.chars().next()
    }

    fn start(&self, index: usize) -> usize {
        self.units.get(index).map_or(self.length, |unit| unit.0)
    }

    fn is_white(&self, index: usize) -> bool {
        let unit = self.units.get(index);
        unit.is_some_and(|unit| unit.1.chars().all(char::is_whitespace))
    }

    /// Returns the first unit at or after `index` for which `is` is false.
    fn skip(&self, mut index: usize, is: impl Fn(&Self, usize) -> bool) -> usize {
        while index < self.units.len() && is(self, index) {
            index += 1;
        }
        index
    }

    /// Returns the position of the cut.
    fn cut(mut self) -> usize {
        let mut index = 0;
        while index < self.units.len() && self.start(index) <= self.limit {
            let next = if self.is_white(index) {
                self.white(index)
            } else {
                let next = self.visible(index);
                self.has_word = true;
                next
            };
            index = next;
        }
        match self.best {
            Some((_, at)) => at,
            None => self.forced(),
        }
    }

    /// Records a position unless a better one exists. If two positions are equally good, the later one wins.
    fn consider(&mut self, rank: Rank, at: usize) {
        let leaves_words = self.has_word && at < self.content_end;
        let is_better = self.best.is_none_or(|(best, _)| rank >= best);
        if leaves_words && is_better && at > 0 && at <= self.limit {
            self.best = Some((rank, at));
        }
    }

    /// Handles white space. The cut follows the white space, or is inside it if the white space does not fit entirely.
    /// The position before it has already been ranked.
    fn white(&mut self, index: usize) -> usize {
        let end = self.skip(index, Self::is_white);
        let lines = (index..end).filter(|at| self.is_line_end(*at)).count();
        let before = match self.best {
            Some((rank, at)) if at == self.start(index) => rank,
            _ => Rank::Word,
        };
        let rank = before.max(match lines {
            0 => Rank::Word,
            1 => Rank::Clause,
            _ => Rank::Sentence,
        });
        for at in index..=end {
            let at = self.start(at);
            if at > self.limit {
                break;
            }
            self.consider(rank, at);
        }
        end
    }

    fn is_line_end(&self, index: usize) -> bool {
        let unit = self.units.get(index);
        unit.is_some_and(|unit| unit.1.ends_with(['\n', '\r', '\u{2028}', '\u{2029}']))
    }

    /// Handles any other unit. Returns the next index.
    fn visible(&mut self, index: usize) -> usize {
        let Some(first) = self.first(index) else {
            return index + 1;
        };
        if is_stop(first) || is_wide_stop(first) {
            return self.stop(index);
        }
        let next = index + 1;
        let is_white = self.is_white(next);
        self.has_word = true;
        if is_wide_clause(first) || (is_clause(first) && is_white) {
            self.consider(Rank::Clause, self.start(next));
        }
        next
    }

    /// Returns a cut where no good position exists: between two grapheme clusters, or inside a cluster that does not
    /// fit.
    fn forced(&self) -> usize {
        let starts = self.units.iter().map(|unit| unit.0).rev();
        let mut fitting = starts.filter(|at| (1..=self.limit).contains(at));
        let word = self.start(self.skip(0, Self::is_white));
        let leaves_words = |at: &usize| *at > word && *at < self.content_end;
        let first = fitting.clone().next();
        fitting
            .find(leaves_words)
            .or_else(|| Some(self.limit).filter(leaves_words))
            .or(first)
            .unwrap_or(self.limit)
    }
}
