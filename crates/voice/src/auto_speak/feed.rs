//! Decides which text of an answer can be spoken before the answer is complete. What the markers request is
//! certain only at the end, so text is held back where a later marker could exclude it.

use crate::text::markup::{MarkupProgress, Tag};

/// The text of an answer, and how much of it was passed on.
#[derive(Debug)]
pub(super) struct Feed {
    /// Whether an answer without markers is spoken.
    speaks_untagged: bool,
    visible: String,
    fed: String,
}

/// What remains when the answer is complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Remainder {
    /// The text to speak after what was passed on.
    pub(super) rest: String,
    /// Whether text that was passed on and is not spoken yet must not be spoken.
    pub(super) replaces: bool,
    /// Everything that the answer speaks.
    pub(super) whole: String,
}

impl Feed {
    pub(super) const fn new(speaks_untagged: bool) -> Self {
        Self {
            speaks_untagged,
            visible: String::new(),
            fed: String::new(),
        }
    }

    /// Adds visible text. Returns the text that is certainly spoken next.
    pub(super) fn take(&mut self, shown: &str, markers: MarkupProgress<'_>) -> Option<String> {
        self.visible.push_str(shown);
        let joined;
        let certain: &str = if markers.opened == 0 {
            if !self.speaks_untagged {
                return None;
            }
            &self.visible
        } else if !markers.is_first {
            // The whole answer or only a part of it: the end decides.
            return None;
        } else if !markers.parts.is_empty() {
            joined = markers.parts.join("\n");
            &joined
        } else if markers.opened == 1 {
            // It is spoken whether or not a closing marker follows.
            &self.visible
        } else {
            return None;
        };
        let more = certain.strip_prefix(self.fed.as_str())?;
        if more.is_empty() {
            return None;
        }
        let more = more.to_owned();
        self.fed.push_str(&more);
        Some(more)
    }

    /// The answer is complete. `None` if it is not spoken.
    pub(super) fn finish(mut self, rest: &str, tag: Option<&Tag>) -> Option<Remainder> {
        self.visible.push_str(rest);
        let whole = match tag {
            None if !self.speaks_untagged => return None,
            Some(tag) if !tag.parts.is_empty() => tag.parts.join("\n"),
            _ => self.visible,
        };
        let rest = whole.strip_prefix(self.fed.as_str()).map(str::to_owned);
        Some(Remainder {
            replaces: rest.is_none(),
            rest: rest.unwrap_or_else(|| whole.clone()),
            whole,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::markup::MarkupFilter;

    /// What is passed on for each piece, and what remains.
    fn fed(speaks_untagged: bool, pieces: &[&str]) -> (Vec<String>, Option<Remainder>) {
        let (mut filter, mut feed) = (MarkupFilter::new(), Feed::new(speaks_untagged));
        let mut passed = Vec::new();
        for piece in pieces {
            let shown = filter.push(piece);
            passed.extend(feed.take(&shown, filter.progress()));
        }
        let (rest, tag) = filter.finish();
        (passed, feed.finish(&rest, tag.as_ref()))
    }

    fn remainder(rest: &str, replaces: bool, whole: &str) -> Remainder {
        Remainder {
            rest: rest.to_owned(),
            replaces,
            whole: whole.to_owned(),
        }
    }

    #[test]
    fn an_answer_without_markers_passes_at_once_or_not_at_all() {
        let (passed, rest) = fed(true, &["One. ", "Two."]);
        assert_eq!(passed, ["One.", " Two."]);
        assert_eq!(rest, Some(remainder("", false, "One. Two.")));
        let (passed, rest) = fed(false, &["One. ", "Two."]);
        assert_eq!((passed.len(), rest), (0, None));
    }

    #[test]
    fn a_first_marker_lets_text_pass_and_a_later_one_waits_for_the_end() {
        for speaks_untagged in [true, false] {
            let (passed, rest) = fed(speaks_untagged, &["[[tts]]One. ", "Two."]);
            assert_eq!(passed, ["One.", " Two."]);
            assert_eq!(rest, Some(remainder("", false, "One. Two.")));
            let pair = [
                "[[tts]]One.",
                "[[/tts]] Not this. ",
                "[[tts]]",
                "Two.[[/tts]]",
                " End.",
            ];
            let (passed, rest) = fed(speaks_untagged, &pair);
            assert_eq!(passed, ["One.", "\nTwo."]);
            assert_eq!(rest, Some(remainder("", false, "One.\nTwo.")));
        }
        let (passed, rest) = fed(false, &["Well. ", "[[tts]]", "Listen."]);
        assert_eq!(passed.len(), 0);
        assert_eq!(
            rest,
            Some(remainder("Well. Listen.", false, "Well. Listen."))
        );
        let (passed, rest) = fed(false, &["Well. ", "[[tts]]Listen.[[/tts]]", " End."]);
        assert_eq!(
            (passed.len(), rest),
            (0, Some(remainder("Listen.", false, "Listen.")))
        );
    }

    #[test]
    fn a_part_that_is_not_closed_is_not_spoken_after_one_that_is() {
        let (passed, rest) = fed(true, &["[[tts]]A.[[/tts]] B. ", "[[tts]]C. ", "D."]);
        assert_eq!(passed, ["A."]);
        assert_eq!(rest, Some(remainder("", false, "A.")));
    }

    #[test]
    fn a_late_pair_replaces_what_waits() {
        let (passed, rest) = fed(true, &["One. ", "Two. ", "[[tts]]Three.[[/tts]]"]);
        assert_eq!(passed, ["One.", " Two."]);
        assert_eq!(rest, Some(remainder("Three.", true, "Three.")));
    }
}
