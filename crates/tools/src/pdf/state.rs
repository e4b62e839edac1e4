//! The state of a page's content: the graphics state and the text position (ISO 32000-1, 8.4 and 9.3).

use super::font::Font;
use super::matrix::{Matrix, Vector};
use std::rc::Rc;

/// The maximum number of saved graphics states.
const MAX_SAVED: usize = 100;

/// The state that `q` saves.
#[derive(Clone)]
pub(super) struct Graphics<'d> {
    pub(super) ctm: Matrix,
    pub(super) font: Option<Rc<Font<'d>>>,
    pub(super) size: f32,
    pub(super) character_space: f32,
    pub(super) word_space: f32,
    pub(super) scale: f32,
    pub(super) leading: f32,
    pub(super) rise: f32,
}

impl Default for Graphics<'_> {
    fn default() -> Self {
        Self {
            ctm: Matrix::IDENTITY,
            font: None,
            size: 1.0,
            character_space: 0.0,
            word_space: 0.0,
            scale: 1.0,
            leading: 0.0,
            rise: 0.0,
        }
    }
}

/// The state of one content.
pub(super) struct State<'d> {
    pub(super) graphics: Graphics<'d>,
    saved: Vec<Graphics<'d>>,
    text: Matrix,
    line: Matrix,
}

impl<'d> State<'d> {
    pub(super) const fn new(graphics: Graphics<'d>) -> Self {
        Self {
            graphics,
            saved: Vec::new(),
            text: Matrix::IDENTITY,
            line: Matrix::IDENTITY,
        }
    }

    /// Applies an operator whose operands are all numbers.
    pub(super) fn set(&mut self, operator: &str, numbers: &[f32]) {
        let graphics = &mut self.graphics;
        match (operator, numbers) {
            ("q", []) if self.saved.len() < MAX_SAVED => self.saved.push(graphics.clone()),
            ("Q", []) => {
                if let Some(saved) = self.saved.pop() {
                    *graphics = saved;
                }
            }
            ("cm", numbers) => {
                if let Some(matrix) = Matrix::from_numbers(numbers) {
                    graphics.ctm = matrix.then(graphics.ctm);
                }
            }
            ("BT", []) => (self.text, self.line) = (Matrix::IDENTITY, Matrix::IDENTITY),
            ("Tm", numbers) => {
                if let Some(matrix) = Matrix::from_numbers(numbers) {
                    (self.text, self.line) = (matrix, matrix);
                }
            }
            ("Td", [x, y]) => self.move_line(*x, *y),
            ("TD", [x, y]) => {
                graphics.leading = -y;
                self.move_line(*x, *y);
            }
            ("T*", []) => self.next_line(),
            ("Tc", [space]) => graphics.character_space = *space,
            ("Tw", [space]) => graphics.word_space = *space,
            ("Tz", [percent]) => graphics.scale = percent / 100.0,
            ("TL", [leading]) => graphics.leading = *leading,
            ("Ts", [rise]) => graphics.rise = *rise,
            _ => {}
        }
    }

    pub(super) fn next_line(&mut self) {
        self.move_line(0.0, -self.graphics.leading);
    }

    fn move_line(&mut self, x: f32, y: f32) {
        self.line = Matrix::translation(x, y).then(self.line);
        self.text = self.line;
    }

    /// Moves along the line. The distance is given before horizontal scaling.
    pub(super) fn advance(&mut self, distance: f32) {
        let moved = Matrix::translation(distance * self.graphics.scale, 0.0);
        self.text = moved.then(self.text);
    }

    /// Returns the start of the next string on the page, and its size.
    pub(super) fn position(&self) -> (Vector, f32) {
        let raised = Matrix::translation(0.0, self.graphics.rise);
        let place = raised.then(self.text).then(self.graphics.ctm);
        let height = place.y.0.hypot(place.y.1);
        (place.origin, self.graphics.size.abs() * height)
    }

    /// Returns the direction of the line on the page, of length 1.
    pub(super) fn direction(&self) -> Vector {
        let (x, y) = self.text.then(self.graphics.ctm).x;
        let length = x.hypot(y);
        if length > 0.0 {
            (x / length, y / length)
        } else {
            (1.0, 0.0)
        }
    }
}
