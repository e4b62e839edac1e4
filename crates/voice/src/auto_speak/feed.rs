//! Decides which text of an answer is spoken, as early as that is certain. In mode `tagged`, a later marker can
//! exclude text, so text is held back until the markers before and after it are known. The result depends on the
//! text alone, not on how it arrives.

use super::script::Step;
use crate::text::markup::Places;
use std::ops::Range;

/// The visible text of an answer, and the length of the part that was handed over.
#[derive(Debug)]
pub(super) struct Feed {
    /// Whether all visible text is spoken, whatever the markers say.
    speaks_untagged: bool,
    visible: String,
    /// Text before this offset was handed over or is not spoken.
    passed: usize,
    /// The start of the stretch that was forwarded last.
    stretch: Option<usize>,
    /// Whether its end was handed over.
    is_closed: bool,
    /// Number of forwarded changes of the persona.
    changes: usize,
}

/// A part of the visible text that is spoken on its own.
struct Stretch {
    range: Range<usize>,
    /// Whether it cannot grow.
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

    /// The parts that are certainly spoken, in ascending order. More may follow.
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
        // A marker at the beginning: the text after it is spoken whether or not a pair follows.
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
mod tests {
    use super::*;
    use crate::text::markup::MarkupFilter;

    /// The forwarded text for each piece, and at the end. `>` begins a stretch, `<` closes it.
    fn fed(speaks_untagged: bool, pieces: &[&str]) -> Vec<String> {
        let (mut filter, mut feed) = (MarkupFilter::new(), Feed::new(speaks_untagged));
        let mut passed = Vec::new();
        for piece in pieces {
            let shown = filter.push(piece);
            passed.push(written(feed.take(&shown, filter.places())));
        }
        let (rest, places) = filter.finish_with_places();
        passed.push(written(feed.finish(&rest, &places)));
        passed
    }

    fn written(steps: Vec<Step>) -> String {
        let one = |step| match step {
            Step::Begin(None) => ">".to_owned(),
            Step::Begin(Some(persona)) => format!(">({persona})"),
            Step::Persona(persona) => format!("({persona})"),
            Step::Text(text) => text,
            Step::Close => "<".to_owned(),
            Step::End => String::new(),
        };
        steps.into_iter().map(one).collect()
    }

    #[test]
    fn without_markers_all_text_passes_at_once_or_none() {
        let pieces = ["One. ", "Two."];
        assert_eq!(fed(true, &pieces), [">One.", " Two.", ""]);
        assert_eq!(fed(false, &pieces), ["", "", ""]);
    }

    #[test]
    fn markers_exclude_nothing_where_everything_is_spoken() {
        let pieces = ["One. ", "[[tts]]Two.", "[[/tts]]", " Three."];
        assert_eq!(fed(true, &pieces), [">One.", " Two.", "", " Three.", ""]);
        assert_eq!(fed(true, &["Well. [[tts]]", "Listen."])[1], " Listen.");
    }

    #[test]
    fn after_a_marker_at_the_beginning_text_passes_at_once() {
        assert_eq!(
            fed(false, &["[[tts]]One. ", "Two."]),
            [">One.", " Two.", ""]
        );
        let pieces = [
            "[[tts]]One.",
            "[[/tts]] Not this. ",
            "[[tts]]",
            "Two.",
            "[[/tts]]",
            " End.",
        ];
        assert_eq!(
            fed(false, &pieces),
            [">One.", "<", "", "", "> Two.<", "", ""]
        );
        // Text that ends only at a second opening marker is spoken too.
        let pieces = ["[[tts]]One. ", "[[tts]]Two. ", "[[/tts]]", "Not this."];
        assert_eq!(fed(false, &pieces), [">One.", "", "<> Two.<", "", ""]);
        assert_eq!(fed(false, &pieces[..2]), [">One.", "", " Two. "]);
    }

    #[test]
    fn a_later_marker_waits_for_its_pair_or_the_end() {
        let pieces = ["Well. ", "[[tts]]", "Listen."];
        assert_eq!(fed(false, &pieces), ["", "", "", ">Well. Listen."]);
        let pieces = [
            "Well. ",
            "[[tts]]Listen.",
            "[[/tts]]",
            " End. ",
            "[[tts]]Not closed.",
        ];
        assert_eq!(fed(false, &pieces), ["", "", "> Listen.<", "", "", ""]);
    }

    #[test]
    fn a_persona_speaks_from_its_marker_on() {
        let pieces = [
            "One. ",
            "[[tts:persona=ada]]Two. [[tts]]Three. ",
            "[[tts:persona=bob]]",
            "Four.",
        ];
        assert_eq!(
            fed(true, &pieces),
            [">One.", "(ada) Two. Three.", "", "(bob) Four.", ""]
        );
        assert_eq!(fed(true, &["[[tts:persona=ada]]One."])[0], ">(ada)One.");
        let late = ["Well. [[tts:persona=ada]]Listen."];
        assert_eq!(fed(false, &late)[1], ">Well.(ada) Listen.");
        let pairs =
            "[[tts:persona=ada]]A.[[/tts]] No. [[tts:persona=bob]]B.[[/tts]][[tts]]C.[[/tts]]";
        assert_eq!(fed(false, &[pairs])[0], ">(ada)A.<>(bob) B.<>(bob)C.<");
    }

    #[test]
    fn how_the_text_arrives_makes_no_difference() {
        let texts = [
            "Well. [[tts:persona=ada]]Listen.[[/tts]] No. `[[tts]]` [[tts]]And this.[[/tts]] No.",
            "[[tts]]One. [[tts:persona=bob]]Two. [[/tts]] Not. ```\n[[tts]]\n``` [[tts]]open",
            "[[tts]] [[/tts]]One. [[tts]]Two",
            "[[tts]]One. `[[tts]] Two. [[/tts]]` Three.",
        ];
        for text in texts {
            for speaks_untagged in [true, false] {
                let whole = fed(speaks_untagged, &[text]).concat();
                for cut in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
                    let (a, b) = text.split_at(cut);
                    assert_eq!(fed(speaks_untagged, &[a, b]).concat(), whole, "{a:?} {b:?}");
                }
                let single: Vec<&str> = text.split("").collect();
                assert_eq!(fed(speaks_untagged, &single).concat(), whole);
            }
        }
    }
}
