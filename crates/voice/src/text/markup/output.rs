//! What becomes visible: markers taken out, and the white space around them put right. Pure.

use super::Tag;
use super::marker::{self, Marker, Match};

/// The most white space that waits, in bytes.
const MAX_WHITE: usize = 1024;

/// Visible text, and what the markers said.
#[derive(Debug, Default)]
pub(super) struct Output {
    ready: String,
    last: Option<char>,
    /// White space that waits for what follows.
    white: String,
    /// White space before a marker that was taken out and after which nothing visible came.
    before: Option<String>,
    /// The end of the visible text that may become a marker.
    tail: String,
    is_tagged: bool,
    persona: Option<String>,
    parts: Vec<String>,
    part: Option<String>,
}

impl Output {
    /// The text that is ready.
    pub(super) fn take(&mut self) -> String {
        std::mem::take(&mut self.ready)
    }

    /// Whether nothing is visible yet.
    pub(super) const fn is_empty(&self) -> bool {
        self.last.is_none()
    }

    /// A character outside code.
    pub(super) fn text(&mut self, character: char) {
        if matches!(character, ' ' | '\t' | '\n' | '\r') {
            self.white.push(character);
            if self.white.len() > MAX_WHITE {
                self.pass_white();
            }
            return;
        }
        self.pass_white();
        self.guarded(character);
    }

    /// A character of code.
    pub(super) fn code(&mut self, character: char) {
        self.pass_white();
        self.tail.clear();
        self.show(character);
    }

    /// A marker, which goes.
    pub(super) fn marker(&mut self, marker: Marker) {
        let white = self.settled_white();
        self.before = Some(white);
        match marker {
            Marker::Open(persona) => {
                self.is_tagged = true;
                if self.persona.is_none() {
                    self.persona = persona;
                }
                self.part = Some(String::new());
            }
            Marker::Close => {
                let part = self.part.take().unwrap_or_default();
                if !part.trim().is_empty() {
                    self.parts.push(part.trim().to_owned());
                }
            }
        }
    }

    /// The rest of the text, and the tag.
    pub(super) fn finish(mut self) -> (String, Option<Tag>) {
        if self.before.is_none() {
            self.pass_white();
        }
        let tag = Tag {
            persona: self.persona,
            parts: self.parts,
        };
        (self.ready, self.is_tagged.then_some(tag))
    }

    fn pass_white(&mut self) {
        if self.before.is_some() || !self.white.is_empty() {
            let white = self.settled_white();
            white.chars().for_each(|c| self.guarded(c));
        }
    }

    /// What stays of the white space before this place.
    fn settled_white(&mut self) -> String {
        let white = std::mem::take(&mut self.white);
        match self.before.take() {
            None => white,
            Some(_) if self.is_empty() => String::new(),
            // The line's beginning has been shown already.
            Some(before) if self.last == Some('\n') => {
                let joined = joined(&format!("\n{before}"), &white);
                let rest = joined.split_once('\n');
                rest.map_or_else(String::new, |(_, rest)| rest.to_owned())
            }
            Some(before) => joined(&before, &white),
        }
    }

    /// Shows a character, unless it would complete a marker: those that were there have been taken out, so
    /// this one came together around them.
    fn guarded(&mut self, character: char) {
        if self.tail.is_empty() && character != '[' {
            self.show(character);
            return;
        }
        self.tail.push(character);
        loop {
            match marker::read(&self.tail) {
                Match::Yes(_) => {
                    self.tail.pop();
                    return;
                }
                Match::Maybe => break,
                Match::No => {
                    let next = self.tail.char_indices().skip(1).find(|(_, c)| *c == '[');
                    let next = next.map_or(self.tail.len(), |(at, _)| at);
                    self.tail.drain(..next);
                    if self.tail.is_empty() {
                        break;
                    }
                }
            }
        }
        self.show(character);
    }

    fn show(&mut self, character: char) {
        self.last = Some(character);
        self.ready.push(character);
        if let Some(part) = &mut self.part {
            part.push(character);
        }
    }
}

/// White space before and after a marker, in one.
fn joined(before: &str, after: &str) -> String {
    let lines = |text: &str| text.matches('\n').count();
    let upto_last = |text: &str| -> String {
        let end = text.rfind('\n').map_or(0, |at| at + 1);
        text.get(..end).unwrap_or_default().to_owned()
    };
    // From the first line's end, be it one character or two.
    let from_first = after.trim_start_matches([' ', '\t']);
    match (lines(before), lines(after)) {
        (0, 0) if before.is_empty() && after.is_empty() => String::new(),
        (0, 0) => " ".to_owned(),
        (_, 0) => before.to_owned(),
        (0, _) => from_first.to_owned(),
        (above, below) => {
            let body = if above >= below {
                upto_last(before)
            } else {
                upto_last(from_first)
            };
            let indent = after.rsplit('\n').next().unwrap_or_default();
            body + indent
        }
    }
}
