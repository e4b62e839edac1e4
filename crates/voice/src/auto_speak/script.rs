//! Splits an answer into the parts that are spoken, while its text arrives.

use crate::text::{Piece, Sentences, pieces, speakable_part};
use std::collections::VecDeque;

/// A step of the answer.
#[derive(Debug)]
pub(crate) enum Step {
    /// The start of a passage that is spoken separately, with the persona that the model chose for it.
    Begin(Option<String>),
    /// More text of the passage.
    Text(String),
    /// The persona that the model chose for the text that follows.
    Persona(String),
    /// The passage has ended.
    Close,
    /// The answer is complete.
    End,
}

/// The text of one answer.
#[derive(Debug, Default)]
pub(crate) struct Script {
    /// The passages that are not spoken yet.
    text: VecDeque<Sentences>,
    /// The next parts.
    next: VecDeque<Piece>,
    /// Everything that is spoken.
    whole: String,
    has_begun: bool,
    is_complete: bool,
}

impl Script {
    pub(crate) fn take(&mut self, step: Step) {
        match (step, self.text.back_mut()) {
            (Step::Begin(persona), last) => {
                if let Some(last) = last {
                    last.end();
                }
                if !self.whole.is_empty() {
                    self.whole.push('\n');
                }
                self.text.push_back(Sentences::new(persona));
            }
            (Step::Text(text), Some(last)) => {
                self.whole.push_str(&text);
                last.push(&text);
            }
            (Step::Persona(persona), Some(last)) => last.change(persona),
            (Step::Close, Some(last)) => last.end(),
            (Step::End, last) => {
                if let Some(last) = last {
                    last.end();
                }
                self.is_complete = true;
            }
            // The passage has already been spoken.
            (Step::Text(_) | Step::Persona(_) | Step::Close, None) => {}
        }
    }

    /// Returns whether the answer is complete.
    pub(crate) const fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Returns whether a part can be spoken now. A part has at most `limit` characters.
    pub(crate) fn has_next(&mut self, limit: usize) -> bool {
        while self.next.is_empty() {
            let Some(text) = self.text.front_mut() else {
                return false;
            };
            // The first sentence is a part of its own, so that speech begins early.
            let most = self.has_begun.then_some(limit);
            let piece = match text.next(most) {
                None if text.is_over() => text.rest(),
                piece => piece,
            };
            match piece {
                Some(piece) => self.next.extend(parts(&piece, limit)),
                None if text.is_over() => drop(self.text.pop_front()),
                None => return false,
            }
        }
        true
    }

    /// Takes the next part.
    pub(crate) fn next(&mut self, limit: usize) -> Option<Piece> {
        if !self.has_next(limit) {
            return None;
        }
        self.has_begun = true;
        self.next.pop_front()
    }

    /// Everything that is spoken.
    pub(crate) fn into_whole(self) -> String {
        self.whole
    }
}

/// Returns the parts in which a piece of Markdown is spoken; none if nothing in it is spoken.
fn parts(piece: &Piece, limit: usize) -> Vec<Piece> {
    let said = speakable_part(&piece.text);
    let has_words = |text: &str| text.contains(char::is_alphanumeric);
    let is_silent = |c: char| c.is_whitespace() || c.is_control();
    // A punctuation mark alone, next to code or a note, is not spoken.
    if said.chars().all(is_silent) || (has_words(&piece.text) && !has_words(&said)) {
        return Vec::new();
    }
    let texts = if piece.text.chars().nth(limit).is_none() {
        vec![piece.text.trim().to_owned()]
    } else {
        pieces(&said, limit, usize::MAX)
    };
    let part = |text| Piece {
        text,
        persona: piece.persona.clone(),
    };
    let texts = texts
        .into_iter()
        .filter(|text| !text.chars().all(is_silent));
    texts.map(part).collect()
}
