//! Reduces a text to the characters that determine its blocks and code spans. Other characters become letters, so the
//! Markdown parser finds no links, HTML or entities. Only an open code span or fence then depends on later text.

use super::code::Code;

/// The maximum number of quotes and list items that begin on one line. The parser checks every open one for each line.
const MAX_NESTING: usize = 100;

/// The state after a marker at the start of a line. The text after the marker then starts the line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Removed {
    #[default]
    None,
    /// Only white space follows so far.
    Before,
    /// A run of this character follows. A letter is added after the run, so that the run may open a fence but cannot
    /// close one.
    BeforeRun(char),
}

/// The reduced text. All characters are ASCII.
#[derive(Debug, Default)]
pub(super) struct Outline {
    text: String,
    /// Whether the line contains more than white space and characters that may begin a block.
    in_text: bool,
    /// The number of quotes and list items that the line may have begun.
    nesting: usize,
    removed: Removed,
    has_fence: bool,
}

impl Outline {
    pub(super) fn length(&self) -> usize {
        self.text.len()
    }

    /// Returns whether the text may contain a fence.
    pub(super) const fn has_fence(&self) -> bool {
        self.has_fence
    }

    /// Adds a marker and returns its position. Code that contains the marker begins before this
    /// position.
    pub(super) fn marker(&mut self) -> usize {
        let at = self.text.len();
        if self.in_text {
            self.letter();
        } else {
            self.removed = Removed::Before;
        }
        at
    }

    /// Adds a character that is not part of a marker. Returns its position.
    pub(super) fn push(&mut self, character: char) -> usize {
        match self.removed {
            // A line ending is one character.
            _ if character == '\r' => return self.text.len(),
            Removed::Before if matches!(character, ' ' | '\t') => {
                let is_needed = !self.text.is_empty() && !self.text.ends_with([' ', '\t', '\n']);
                if is_needed {
                    self.text.push(' ');
                }
                return self.text.len();
            }
            Removed::Before if matches!(character, '`' | '~') => {
                self.removed = Removed::BeforeRun(character);
            }
            // The line is not empty. A quote mark here does not continue the quote of the preceding line.
            Removed::Before if matches!(character, '>' | '\n') => self.letter(),
            Removed::BeforeRun(run) if run != character => self.letter(),
            Removed::BeforeRun(_) => {}
            Removed::Before | Removed::None => self.removed = Removed::None,
        }
        let at = self.text.len();
        self.add(character);
        at
    }

    fn add(&mut self, character: char) {
        if character == '>' || self.text.ends_with([' ', '\t']) {
            self.nesting += 1;
        }
        let may_begin_block = !self.in_text && self.nesting <= MAX_NESTING;
        let kept = match character {
            // The parser accepts only spaces after a closing fence.
            '\t' if self.in_text => ' ',
            '\n' | ' ' | '\t' | '`' | '~' | '\\' => character,
            '0'..='9' | '>' | '-' | '*' | '+' | '.' | ')' | '#' | '=' | '_' if may_begin_block => {
                character
            }
            _ => 'x',
        };
        self.in_text |= matches!(kept, 'x' | '`' | '~' | '\\');
        if kept == '\n' {
            self.in_text = false;
            self.nesting = 0;
        }
        self.text.push(kept);
        self.has_fence |= self.text.ends_with("```") || self.text.ends_with("~~~");
    }

    fn letter(&mut self) {
        self.text.push('x');
        self.in_text = true;
        self.removed = Removed::None;
    }

    /// Finds the code in the text so far.
    pub(super) fn code(&mut self) -> Code {
        let length = self.text.len();
        if self.removed != Removed::None {
            // The line continues after the marker, so it is not empty.
            self.text.push('x');
        }
        let code = Code::find(&self.text, length);
        self.text.truncate(length);
        code
    }
}
