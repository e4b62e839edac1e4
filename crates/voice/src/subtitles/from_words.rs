//! Builds readable cues from words, with breaks where the speaker pauses.

use super::{MAX_CUE, MAX_LINE, MAX_LINES, time};
use crate::stt::{Segment, Word};
use std::time::Duration;

/// Silence after which a new cue begins.
const PAUSE: Duration = Duration::from_millis(800);

/// A word that fits on a line.
struct Part {
    text: String,
    start: Duration,
    end: Duration,
}

#[derive(Default)]
struct Cue {
    lines: Vec<String>,
    start: Duration,
    end: Duration,
}

/// Returns the cues of these words.
pub(super) fn cues(words: &[Word]) -> Vec<Segment> {
    let mut cues = Vec::new();
    let mut cue = Cue::default();
    for part in parts(words) {
        if cue.is_over_before(&part) || !cue.add(&part.text) {
            cues.extend(std::mem::take(&mut cue).segment());
            cue.add(&part.text);
            cue.start = part.start;
        }
        if cue.end < cue.start {
            cue.end = cue.start;
        }
        cue.end = cue.end.max(part.end).min(cue.start + MAX_CUE);
    }
    cues.extend(cue.segment());
    cues
}

/// Returns the words. Splits words that are longer than a line, and replaces invalid times by the times of adjacent
/// words.
fn parts(words: &[Word]) -> Vec<Part> {
    let mut parts = Vec::with_capacity(words.len());
    let mut last = Duration::ZERO;
    for word in words {
        let start = time(word.start).unwrap_or(last).max(last);
        let end = time(word.end).unwrap_or(start).max(start);
        let text: String = word.word.split_whitespace().collect::<Vec<_>>().join(" ");
        let characters: Vec<char> = text.chars().collect();
        for piece in characters.chunks(MAX_LINE) {
            parts.push(Part {
                text: piece.iter().collect(),
                start,
                end,
            });
        }
        last = start;
    }
    parts
}

impl Cue {
    fn is_over_before(&self, part: &Part) -> bool {
        let ends_sentence = self.lines.last().is_some_and(|line| {
            let line = line.trim_end_matches(['"', '\'', '”', '’', '»', ')', '」', '』']);
            line.ends_with(['.', '!', '?', '…', '。', '！', '？'])
        });
        self.lines.is_empty()
            || ends_sentence
            || part.start.saturating_sub(self.end) >= PAUSE
            || part.end.saturating_sub(self.start) > MAX_CUE
    }

    /// Adds a word if it fits.
    fn add(&mut self, text: &str) -> bool {
        if let Some(line) = self.lines.last_mut() {
            let gap = if is_joined(line, text) { "" } else { " " };
            let length = line.chars().count() + gap.len() + text.chars().count();
            if length <= MAX_LINE {
                line.push_str(gap);
                line.push_str(text);
                return true;
            }
        }
        if self.lines.len() >= MAX_LINES {
            return false;
        }
        self.lines.push(text.to_owned());
        true
    }

    fn segment(self) -> Option<Segment> {
        (!self.lines.is_empty()).then(|| Segment {
            text: self.lines.join("\n"),
            start: self.start.as_secs_f64(),
            end: self.end.as_secs_f64(),
        })
    }
}

/// Returns whether no space separates the two texts, as before punctuation and in scripts without
/// spaces.
fn is_joined(before: &str, after: &str) -> bool {
    let is_wide = |c: char| matches!(c, '\u{3000}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ff00}'..='\u{ffef}');
    let is_mark = |c: char| ".,;:!?…%)]}”’»".contains(c);
    let (last, first) = (before.chars().next_back(), after.chars().next());
    after.chars().all(is_mark) || (last.is_some_and(is_wide) && first.is_some_and(is_wide))
}
