//! Runs the operations of a page.

use super::{Reader, Resources};
use crate::pdf::{
    MAX_TEXT_BYTES,
    font::float,
    load::MAX_STREAM_BYTES,
    matrix::{Matrix, Vector},
    state::{Graphics, State},
};
use lopdf::{
    Document, Object, Stream,
    content::{Content, Operation},
};
use std::time::Instant;

/// The maximum number of forms of a page that are read.
const MAX_FORMS: usize = 1000;

/// The maximum nesting of forms.
const MAX_FORM_DEPTH: usize = 5;

/// A gap of this size within a line separates words, in em.
const WORD_GAP: f32 = 0.17;

/// A distance of this size across the line begins a new line, in em.
const LINE_GAP: f32 = 0.5;

/// A distance of this size across the line begins a new paragraph, in em.
const PARAGRAPH_GAP: f32 = 1.7;

/// The end of the last string on the page, and its size.
#[derive(Clone, Copy)]
pub(super) struct End {
    x: f32,
    y: f32,
    size: f32,
}

pub(super) struct Run<'r, 'd> {
    pub(super) reader: &'r mut Reader<'d>,
    pub(super) out: String,
    pub(super) end: Option<End>,
}

impl<'d> Run<'_, 'd> {
    pub(super) fn content(
        &mut self,
        content: &[u8],
        resources: &Resources<'d>,
        graphics: Graphics<'d>,
        depth: usize,
    ) {
        let mut state = State::new(graphics);
        for operation in Content::decode_iter(content) {
            let Ok(operation) = operation else {
                return;
            };
            if Instant::now() > self.reader.until || self.out.len() > MAX_TEXT_BYTES {
                return;
            }
            match (operation.operator.as_str(), operation.operands.as_slice()) {
                ("Do", [Object::Name(name)]) if depth < MAX_FORM_DEPTH => {
                    self.form(name, resources, &state.graphics, depth);
                }
                ("Tf", [Object::Name(name), size]) => {
                    let font = resources.find(self.reader.document, b"Font", name);
                    let font = font.and_then(|font| font.as_dict().ok());
                    state.graphics.font = font.map(|font| self.reader.font(font));
                    state.graphics.size = size.as_float().unwrap_or(1.0);
                }
                _ => self.operation(&mut state, &operation),
            }
        }
    }

    /// Reads a form, which is content with its own resources.
    fn form(
        &mut self,
        name: &[u8],
        resources: &Resources<'d>,
        graphics: &Graphics<'d>,
        depth: usize,
    ) {
        let document = self.reader.document;
        let found = resources.find(document, b"XObject", name);
        let Some(form) = found.and_then(|form| form.as_stream().ok()) else {
            return;
        };
        let kind = form.dict.get(b"Subtype").and_then(Object::as_name);
        if !kind.is_ok_and(|kind| kind == b"Form") || self.reader.forms >= MAX_FORMS {
            return;
        }
        self.reader.forms += 1;
        let Some(content) = plain(form) else {
            return;
        };
        let mut graphics = graphics.clone();
        if let Ok(Object::Array(numbers)) = form.dict.get_deref(b"Matrix", document)
            && let Some(matrix) = matrix(document, numbers)
        {
            graphics.ctm = matrix.then(graphics.ctm);
        }
        let own = form.dict.get_deref(b"Resources", document);
        let own = own.and_then(Object::as_dict).into_iter();
        let resources = Resources(own.chain(resources.0.iter().copied()).collect());
        self.content(&content, &resources, graphics, depth + 1);
    }

    fn operation(&mut self, state: &mut State<'d>, operation: &Operation) {
        let operands = operation.operands.as_slice();
        match (operation.operator.as_str(), operands) {
            ("Tj", [Object::String(string, _)]) => self.show(state, string),
            ("'", [Object::String(string, _)]) => {
                state.next_line();
                self.show(state, string);
            }
            ("\"", [word, character, Object::String(string, _)]) => {
                state.graphics.word_space = word.as_float().unwrap_or(0.0);
                state.graphics.character_space = character.as_float().unwrap_or(0.0);
                state.next_line();
                self.show(state, string);
            }
            ("TJ", [Object::Array(items)]) => {
                for item in items {
                    if let Object::String(string, _) = item {
                        self.show(state, string);
                    } else if let Some(back) = float(self.reader.document, item) {
                        state.advance(-back / 1000.0 * state.graphics.size);
                    }
                }
            }
            (operator, _) => {
                let numbers = operands.iter().map(|number| number.as_float().ok());
                let numbers: Option<Vec<f32>> = numbers.take(6).collect();
                state.set(operator, &numbers.unwrap_or_default());
            }
        }
    }

    fn show(&mut self, state: &mut State<'d>, string: &[u8]) {
        let Some(font) = state.graphics.font.clone() else {
            return;
        };
        let mut text = String::new();
        let shown = font.write(string, &mut text);
        let (start, size) = state.position();
        self.separate(start, size, state.direction());
        for c in text.chars() {
            if let Some(letters) = letters_of(c) {
                self.out.push_str(letters);
            } else if !c.is_whitespace() {
                self.out.push(c);
            } else if !self.out.ends_with(char::is_whitespace) {
                self.out.push(' ');
            }
        }
        let graphics = &state.graphics;
        let spaces = shown.codes * graphics.character_space + shown.spaces * graphics.word_space;
        state.advance(shown.width * graphics.size + spaces);
        let ((x, y), _) = state.position();
        self.end = Some(End { x, y, size });
    }

    /// Ends the line or the word if the next string does not continue the last one.
    fn separate(&mut self, (x, y): Vector, size: f32, direction: Vector) {
        let Some(end) = self.end else {
            return;
        };
        let (dx, dy) = (x - end.x, y - end.y);
        let along = dx * direction.0 + dy * direction.1;
        let across = dy * direction.0 - dx * direction.1;
        let size = size.max(end.size).max(f32::MIN_POSITIVE);
        let separator = if across < -PARAGRAPH_GAP * size || across > LINE_GAP * size {
            "\n\n"
        } else if across < -LINE_GAP * size {
            "\n"
        } else if (along > WORD_GAP * size || along < -size)
            && !self.out.ends_with(char::is_whitespace)
        {
            " "
        } else {
            ""
        };
        if separator.starts_with('\n') {
            self.out.truncate(self.out.trim_end().len());
        }
        self.out.push_str(separator);
    }
}

/// Returns the letters of a ligature.
const fn letters_of(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{fb00}' => "ff",
        '\u{fb01}' => "fi",
        '\u{fb02}' => "fl",
        '\u{fb03}' => "ffi",
        '\u{fb04}' => "ffl",
        '\u{fb05}' | '\u{fb06}' => "st",
        _ => return None,
    })
}

fn plain(stream: &Stream) -> Option<Vec<u8>> {
    stream.get_plain_content_with_limit(MAX_STREAM_BYTES).ok()
}

fn matrix(document: &Document, numbers: &[Object]) -> Option<Matrix> {
    let numbers = numbers.iter().map(|number| float(document, number));
    let numbers: Option<Vec<f32>> = numbers.take(6).collect();
    Matrix::from_numbers(&numbers?)
}
