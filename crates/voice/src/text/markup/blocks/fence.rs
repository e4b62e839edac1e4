//! Tracks a fenced code block to its closing fence or the end of its container.

/// The effect of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Inside,
    /// The character ended the line of the closing fence.
    Closed,
    /// The line does not belong to the list item or quote that contains the block.
    Left {
        column: usize,
        quotes: usize,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// Only white space and quote markers so far.
    Start,
    /// A number of fence characters.
    Run(usize),
    /// Enough fence characters, and white space.
    Trail,
    Content,
}

/// A fenced code block.
#[derive(Debug)]
pub(super) struct Fence {
    mark: char,
    length: usize,
    /// The content column of its list item.
    base: usize,
    /// The quote depth of the block.
    depth: usize,
    line: Line,
    column: usize,
    quotes: usize,
}

impl Fence {
    /// A block whose first line follows.
    pub(super) const fn new(mark: char, length: usize, base: usize, depth: usize) -> Self {
        Self {
            mark,
            length,
            base,
            depth,
            line: Line::Start,
            column: 0,
            quotes: 0,
        }
    }

    /// A block whose opening fence line continues.
    pub(super) const fn in_its_line(mark: char, length: usize, base: usize, depth: usize) -> Self {
        let mut fence = Self::new(mark, length, base, depth);
        fence.line = Line::Content;
        fence
    }

    pub(super) fn feed(&mut self, c: char) -> Step {
        if c == '\n' {
            return self.end_line();
        }
        match self.line {
            Line::Start => match c {
                ' ' => self.column += 1,
                '\t' => self.column = (self.column / 4 + 1) * 4,
                '\r' => {}
                '>' if self.quotes < self.depth => {
                    self.quotes += 1;
                    self.column += 1;
                }
                _ if self.quotes < self.depth || self.column < self.base => {
                    return Step::Left {
                        column: self.column,
                        quotes: self.quotes,
                    };
                }
                _ if c == self.mark && self.is_near() => self.line = Line::Run(1),
                _ => self.line = Line::Content,
            },
            Line::Run(count) => {
                self.line = match c {
                    _ if c == self.mark => Line::Run(count + 1),
                    ' ' | '\t' | '\r' if count >= self.length => Line::Trail,
                    _ => Line::Content,
                };
            }
            Line::Trail if matches!(c, ' ' | '\t' | '\r') => {}
            Line::Trail | Line::Content => self.line = Line::Content,
        }
        Step::Inside
    }

    /// Whether a closing fence may be here: indented at most three columns, plus one per quote for its space.
    fn is_near(&self) -> bool {
        let content = self.base.max(2 * self.depth);
        self.column <= content + 3
    }

    fn end_line(&mut self) -> Step {
        let is_closed = match self.line {
            Line::Run(count) => count >= self.length,
            Line::Trail => true,
            Line::Start => self.quotes < self.depth,
            Line::Content => false,
        };
        self.line = Line::Start;
        self.column = 0;
        self.quotes = 0;
        if is_closed {
            Step::Closed
        } else {
            Step::Inside
        }
    }
}
