//! Finds where a sentence ends.

use super::{
    Rank, Window,
    characters::{is_closing, is_stop, is_wide, is_wide_stop},
};

/// The longest word that may be an abbreviation.
const MAX_ABBREVIATION: usize = 12;

/// Lowercase abbreviations that end in a full stop within a sentence. Single letters and two-digit numbers also count
/// as abbreviations.
const ABBREVIATIONS: &[&str] = &[
    "abs", "anm", "approx", "apr", "art", "aug", "bd", "betr", "bsp", "bzgl", "bzw", "ca", "cf",
    "chap", "co", "corp", "dec", "dept", "dez", "dipl", "dr", "ed", "eds", "engl", "esp", "est",
    "evtl", "exkl", "feb", "ff", "fig", "fr", "frl", "geb", "gen", "ggf", "gov", "hr", "hrsg",
    "inc", "inkl", "jan", "jr", "jul", "jun", "kap", "lat", "ltd", "max", "messrs", "min", "mio",
    "mr", "mrs", "ms", "mrd", "mt", "nov", "nr", "no", "oct", "okt", "p", "pp", "prof", "rd",
    "ref", "rev", "sec", "sen", "sep", "sept", "sog", "sr", "st", "std", "str", "tel", "univ",
    "usf", "vgl", "viz", "vol", "vs", "zit", "zzgl",
];

impl Window<'_> {
    /// Handles a stop and the punctuation that belongs to it.
    pub(super) fn stop(&mut self, index: usize) -> usize {
        let is_mark = |window: &Self, at: usize| {
            let first = window.first(at);
            first.is_some_and(|c| is_stop(c) || is_wide_stop(c) || is_closing(c))
        };
        let end = self.skip(index, is_mark);
        let is_before_wide = self.first(end).is_some_and(is_wide);
        let is_wide = (index..end).any(|at| {
            let first = self.first(at);
            first.is_some_and(|c| is_wide_stop(c) || (c == '…' && is_before_wide))
        });
        self.has_word = true;
        if is_wide || self.ends_sentence(index, end) {
            self.consider(Rank::Sentence, self.start(end));
        }
        end
    }

    fn ends_sentence(&self, index: usize, end: usize) -> bool {
        if end == self.units.len() {
            return self.is_end;
        }
        if !self.is_white(end) {
            return false;
        }
        let next = self.first(self.skip(end, Self::is_white));
        if next.is_some_and(char::is_lowercase) {
            return false;
        }
        // Several marks, as in "etc..." or "Dr.?", do not form an abbreviation.
        let is_lone_dot = self.first(index) == Some('.') && end == index + 1;
        !(is_lone_dot && self.is_abbreviation(index))
    }

    /// Returns whether the word before this full stop is an abbreviation.
    fn is_abbreviation(&self, dot: usize) -> bool {
        let is_part = |at: &usize| {
            let first = self.first(*at);
            first.is_some_and(|c| c.is_alphanumeric() || c == '.')
        };
        let before = (dot.saturating_sub(MAX_ABBREVIATION)..dot).rev();
        let length = before.take_while(is_part).count();
        let units = self.units.get(dot - length..dot).unwrap_or_default();
        let word: String = units.iter().map(|unit| unit.1.to_lowercase()).collect();
        let last = word.rsplit('.').next().unwrap_or_default();
        let characters = last.chars().count();
        let is_short_number =
            (1..=2).contains(&characters) && last.chars().all(|c| c.is_ascii_digit());
        let is_letter = characters == 1 && last.chars().all(char::is_alphabetic);
        is_short_number || is_letter || ABBREVIATIONS.contains(&last)
    }
}
