//! Separates reasoning in `<think>` tags from the answer. Many open models write these tags at the beginning of their
//! text (`DeepSeek` R1, Qwen 3, `SmolLM` 3; their chat templates define the tags).

/// The tags that begin and end reasoning.
const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    Reasoning(String),
}

/// Splits an answer that arrives in pieces. Only reasoning at the beginning is recognized. A tag later in the answer is
/// text.
#[derive(Debug, Default)]
pub(crate) struct ThinkSplitter {
    state: State,
    /// The undecided text: at most a part of a tag, or blanks.
    held: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Only blanks so far.
    #[default]
    Beginning,
    Reasoning,
    /// Reasoning has ended. Blanks before the answer are dropped.
    Between,
    Answer,
}

impl ThinkSplitter {
    /// Takes the next piece of text.
    pub(crate) fn push(&mut self, text: &str) -> Vec<Piece> {
        let mut out = Vec::new();
        if self.state == State::Answer {
            return vec![Piece::Text(text.to_owned())];
        }
        self.held.push_str(text);
        while self.step(&mut out) {}
        out
    }

    /// Ends the text.
    pub(crate) fn finish(&mut self) -> Option<Piece> {
        let rest = std::mem::take(&mut self.held);
        match self.state {
            State::Between => None,
            _ if rest.is_empty() => None,
            State::Reasoning => Some(Piece::Reasoning(rest)),
            State::Beginning | State::Answer => Some(Piece::Text(rest)),
        }
    }

    /// Decides about a part of the withheld text. Returns false if more text is needed.
    fn step(&mut self, out: &mut Vec<Piece>) -> bool {
        match self.state {
            State::Beginning => {
                let said = self.held.trim_start();
                if let Some(rest) = said.strip_prefix(OPEN) {
                    self.held = rest.to_owned();
                    self.state = State::Reasoning;
                    return true;
                }
                if !OPEN.starts_with(said) {
                    self.state = State::Answer;
                    out.push(Piece::Text(std::mem::take(&mut self.held)));
                }
                false
            }
            State::Reasoning => {
                if let Some((reasoning, rest)) = self.held.split_once(CLOSE) {
                    push_reasoning(out, reasoning);
                    self.held = rest.to_owned();
                    self.state = State::Between;
                    return true;
                }
                let keep = partial_tag(&self.held);
                let rest = self.held.split_off(self.held.len() - keep);
                push_reasoning(out, &self.held);
                self.held = rest;
                false
            }
            State::Between => {
                let said = self.held.trim_start().to_owned();
                self.held.clear();
                if !said.is_empty() {
                    self.state = State::Answer;
                    out.push(Piece::Text(said));
                }
                false
            }
            State::Answer => false,
        }
    }
}

fn push_reasoning(out: &mut Vec<Piece>, text: &str) {
    if !text.is_empty() {
        out.push(Piece::Reasoning(text.to_owned()));
    }
}

/// Returns the length of the suffix of `text` that may be the beginning of the closing tag.
fn partial_tag(text: &str) -> usize {
    let longest = CLOSE.len() - 1;
    let ends = (1..=longest.min(text.len())).rev();
    let mut ends = ends.filter(|&length| {
        let tag = CLOSE.get(..length);
        tag.is_some_and(|tag| text.ends_with(tag))
    });
    ends.next().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the text and the reasoning of an answer in these pieces.
    fn split<'a>(pieces: impl IntoIterator<Item = &'a str>) -> (String, String) {
        let mut splitter = ThinkSplitter::default();
        let (mut text, mut reasoning) = (String::new(), String::new());
        let mut all = Vec::new();
        for piece in pieces {
            all.extend(splitter.push(piece));
        }
        all.extend(splitter.finish());
        for piece in all {
            match piece {
                Piece::Text(more) => text.push_str(&more),
                Piece::Reasoning(more) => reasoning.push_str(&more),
            }
        }
        (text, reasoning)
    }

    #[test]
    fn only_reasoning_at_the_beginning_is_taken_out() {
        for (said, text, reasoning) in [
            ("Hello", "Hello", ""),
            ("  Hello", "  Hello", ""),
            ("<think>Hm.</think>\n\nHello", "Hello", "Hm."),
            ("\n<think>\nHm.\n</think>Hello", "Hello", "\nHm.\n"),
            ("<think></think>Hello", "Hello", ""),
            ("<think>never ends", "", "never ends"),
            ("<think>never ends </thi", "", "never ends </thi"),
            ("<thing>x</thing>", "<thing>x</thing>", ""),
            ("<thi", "<thi", ""),
            ("A <think>b</think>", "A <think>b</think>", ""),
            (
                "<think>a</think>b <think>c</think>",
                "b <think>c</think>",
                "a",
            ),
            ("<think>a </think b</think>c", "c", "a </think b"),
            ("", "", ""),
        ] {
            let expected = (text.to_owned(), reasoning.to_owned());
            assert_eq!(split([said]), expected, "{said:?}");
        }
    }

    proptest! {
        #[test]
        fn however_it_is_split(
            said in "(<think>|</think>|<|/|think| |\n|a|ä){0,12}",
            cuts in proptest::collection::vec(0_usize..60, 0..8),
        ) {
            let mut cuts: Vec<usize> =
                cuts.into_iter().map(|cut| said.floor_char_boundary(cut.min(said.len()))).collect();
            cuts.extend([0, said.len()]);
            cuts.sort_unstable();
            let pieces = cuts.windows(2).map(|pair| &said[pair[0]..pair[1]]);
            prop_assert_eq!(split(pieces), split([said.as_str()]));
        }
    }
}
