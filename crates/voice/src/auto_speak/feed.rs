//! Decides as early as possible which text of an answer is spoken. In mode `tagged`, a later marker can exclude text,
//! so text is held back until the markers before and after it are known. The result depends on the text alone, not on
//! the chunks in which it arrives.

use super::script::Step;
use crate::text::markup::Places;
use std::ops::Range;

/// The visible text of an answer, and the length of the part that was handed over.
#[derive(Debug)]
pub(super) struct Feed {
    /// Whether all visible text is spoken, even if markers exclude it.
    speaks_untagged: bool,
    visible: String,
    /// Text before this offset was handed over or is not spoken.
    passed: usize,
    /// The start of the passage that was forwarded last.
    stretch: Option<usize>,
    /// Whether the end of that passage was forwarded.
    is_closed: bool,
    /// The number of persona changes that were forwarded.
    changes: usize,
}

/// A part of the visible text that is spoken on its own.
struct Stretch {
    range: Range<usize>,
    /// Whether the stretch is complete.
    is_closed: bool,
}

impl Feed {
    pub(super) const fn new(speaks_untagged: bool) -> Self {
        Self {
            speaks_untagged,
            visible: String::new(),
            passed: 0,
            stretch: None,
            is_closed: false,
            changes: 0,
        }
    }

    /// Adds visible text. Returns the text that is certainly spoken next.
    pub(super) fn take(&mut self, shown: &str, places: &Places) -> Vec<Step> {
        self.visible.push_str(shown);
        let stretches = self.stretches(places, false);
        self.pass(&stretches, places)
    }

    /// Ends the answer. Returns the rest of the spoken text.
    pub(super) fn finish(mut self, rest: &str, places: &Places) -> Vec<Step> {
        self.visible.push_str(rest);
        let stretches = self.stretches(places, true);
        let mut steps = self.pass(&stretches, places);
        steps.push(Step::End);
        steps
    }

    /// Returns the parts that are certainly spoken, in ascending order. More may follow.
    fn stretches(&self, places: &Places, is_complete: bool) -> Vec<Stretch> {
        let length = self.visible.len();
        let open = |range| Stretch {
            range,
            is_closed: false,
        };
        if self.speaks_untagged {
            return vec![open(0..length)];
        }
        let Some(first) = places.first else {
            return Vec::new();
        };
        // The text after a marker at the beginning is spoken whether or not a pair of markers
        // follows.
        let begins = (first == 0).then(|| 0..places.first_end.unwrap_or(length));
        let Some(pair) = places.pairs.first() else {
            let range = if is_complete { Some(0..length) } else { begins };
            return range.into_iter().map(open).collect();
        };
        let before = begins.filter(|range| range.end <= pair.start);
        let ranges = before.into_iter().chain(places.pairs.iter().cloned());
        let closed = |range| Stretch {
            range,
            is_closed: true,
        };
        ranges.map(closed).collect()
    }

    fn pass(&mut self, stretches: &[Stretch], places: &Places) -> Vec<Step> {
        let mut steps = Vec::new();
        for Stretch { range, is_closed } in stretches {
            if range.end > self.passed {
                self.pass_text(range, places, &mut steps);
            }
            if *is_closed && !self.is_closed && self.stretch == Some(range.start) {
                self.is_closed = true;
                steps.push(Step::Close);
            }
        }
        steps
    }

    fn pass_text(&mut self, range: &Range<usize>, places: &Places, steps: &mut Vec<Step>) {
        let mut at = range.start.max(self.passed);
        if self.stretch != Some(range.start) {
            self.stretch = Some(range.start);
            self.is_closed = false;
            let named = places.personas.iter().take_while(|(place, _)| *place <= at);
            self.changes = named.clone().count();
            let persona = named.last().map(|(_, name)| name.clone());
            steps.push(Step::Begin(persona));
        }
        while let Some((place, name)) = places.personas.get(self.changes)
            && *place < range.end
        {
            steps.extend(self.text(at..*place));
            steps.push(Step::Persona(name.clone()));
            at = at.max(*place);
            self.changes += 1;
        }
        steps.extend(self.text(at..range.end));
        self.passed = range.end;
    }

    fn text(&self, range: Range<usize>) -> Option<Step> {
        let text = self.visible.get(range)?;
        (!text.is_empty()).then(|| Step::Text(text.to_owned()))
    }
}

#[cfg(test)]
mod tests;
