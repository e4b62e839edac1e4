//! Tracks the `CommonMark` block structure, one character at a time: whether a line is in a fenced block,
//! whether a fence may begin, and where a paragraph ends.

mod fence;

use fence::Fence;

/// The effect of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Nothing,
    /// The preceding paragraph has ended.
    ParagraphEnds,
    /// The container of the fenced block has ended before this character, and with it the block. Feed the
    /// character again.
    LeftFence,
}

/// The parse state at the beginning of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Line {
    /// Only white space and markers of quotes and list items so far.
    #[default]
    Start,
    /// One of `-`, `*` and `+`.
    Bullet(char),
    /// Digits of a list item.
    Number { digits: usize, is_one: bool },
    /// Digits followed by their delimiter.
    NumberMark { is_one: bool },
    /// A number of `#`.
    Hashes(usize),
    /// A number of `~`.
    Tildes(usize),
    /// A number of equal rule characters, and white space.
    Rule(char, usize),
    /// Text.
    Rest,
    /// The text of a heading.
    Heading,
}

/// Whether a marker was removed from a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mark {
    #[default]
    None,
    /// The marker began the line. The white space after it is removed too.
    Before,
    Seen,
}

/// The structure so far.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    line: Line,
    column: usize,
    /// The column where the content of the line's container begins.
    base: usize,
    /// Content columns of the open list items, outermost first.
    items: Vec<usize>,
    quotes: usize,
    /// The quote depth of the preceding paragraph, and the number of quote markers on the preceding line.
    quotes_before: usize,
    quotes_of_line_before: usize,
    /// Whether open list items have been compared with this line's indent.
    is_placed: bool,
    mark: Mark,
    /// Whether the preceding line belongs to a paragraph.
    in_paragraph: bool,
    fence: Option<Fence>,
}

impl Blocks {
    pub(super) const fn in_fence(&self) -> bool {
        self.fence.is_some()
    }

    /// Whether backticks at this position may begin a fence.
    pub(super) fn may_begin_fence(&mut self) -> bool {
        if self.line != Line::Start {
            return false;
        }
        self.place();
        self.indent() <= 3
    }

    /// Whether any following character turns the preceding tildes into a fence.
    pub(super) const fn is_behind_tildes(&self) -> bool {
        matches!(self.line, Line::Tildes(3..))
    }

    /// Records a marker that is removed at this position.
    pub(super) fn marker(&mut self, is_first: bool) {
        self.mark = Mark::Seen;
        if self.line == Line::Start {
            self.mark = Mark::Before;
            if is_first {
                self.column = 0;
            }
        }
    }

    /// Opens a fence of this many backticks. The end of its line has been fed already.
    pub(super) fn open_backtick_fence(&mut self, length: usize) {
        let base = self.items.last().copied().unwrap_or(0);
        self.fence = Some(Fence::new('`', length, base, self.quotes_of_line_before));
        self.in_paragraph = false;
        self.quotes_before = self.quotes_of_line_before;
    }

    /// Processes the next character.
    pub(super) fn feed(&mut self, character: char) -> Step {
        if let Some(fence) = &mut self.fence {
            match fence.feed(character) {
                fence::Step::Inside => return Step::Nothing,
                fence::Step::Closed => {
                    self.fence = None;
                    self.new_line(false);
                    return Step::Nothing;
                }
                fence::Step::Left { column, quotes } => {
                    self.fence = None;
                    self.new_line(false);
                    self.column = column;
                    self.quotes = quotes;
                    return Step::LeftFence;
                }
            }
        }
        self.outside(character)
    }

    fn outside(&mut self, character: char) -> Step {
        if self.mark == Mark::Before {
            if matches!(character, ' ' | '\t') {
                return Step::Nothing;
            }
            self.mark = Mark::Seen;
        }
        let step = match character {
            '\n' => self.end_line(),
            '\r' => Step::Nothing,
            _ => self.within(character),
        };
        if character != '\n' {
            self.advance(character);
        }
        step
    }

    fn advance(&mut self, character: char) {
        self.column = match character {
            '\t' => (self.column / 4 + 1) * 4,
            _ => self.column + 1,
        };
    }

    fn indent(&self) -> usize {
        self.column.saturating_sub(self.base)
    }

    /// Ends the list items that the line does not belong to.
    fn place(&mut self) {
        if !self.is_placed {
            self.is_placed = true;
            while self.items.last().is_some_and(|item| *item > self.column) {
                self.items.pop();
            }
            self.base = self.base.max(self.items.last().copied().unwrap_or(0));
        }
    }

    fn within(&mut self, c: char) -> Step {
        let is_white = matches!(c, ' ' | '\t');
        match self.line {
            Line::Start => return self.start(c),
            Line::Bullet(_) if is_white => return self.item(),
            Line::Bullet(mark) if mark == c && mark != '+' => self.line = Line::Rule(mark, 2),
            Line::Number { digits, is_one } => match c {
                '0'..='9' if digits < 9 => {
                    self.line = Line::Number {
                        digits: digits + 1,
                        is_one: false,
                    };
                }
                '.' | ')' => self.line = Line::NumberMark { is_one },
                _ => self.line = Line::Rest,
            },
            Line::NumberMark { is_one } if is_white => {
                if is_one || !self.items.is_empty() || !self.in_paragraph {
                    return self.item();
                }
                self.line = Line::Rest;
            }
            Line::Hashes(count) if c == '#' && count < 6 => self.line = Line::Hashes(count + 1),
            Line::Hashes(_) if is_white => {
                self.line = Line::Heading;
                return Step::ParagraphEnds;
            }
            Line::Tildes(count) if c == '~' => self.line = Line::Tildes(count + 1),
            Line::Tildes(count) if count >= 3 => {
                self.open_tilde_fence(count);
                return Step::ParagraphEnds;
            }
            Line::Rule(mark, count) if c == mark => self.line = Line::Rule(mark, count + 1),
            Line::Rule(..) if is_white => {}
            Line::Heading => {}
            _ => self.line = Line::Rest,
        }
        Step::Nothing
    }

    fn start(&mut self, c: char) -> Step {
        if matches!(c, ' ' | '\t') {
            return Step::Nothing;
        }
        self.place();
        self.line = match c {
            _ if self.indent() > 3 => Line::Rest,
            '>' => {
                self.quotes += 1;
                // The space after the marker is part of it. Counting one too many is harmless.
                self.base = self.column + 2;
                if self.quotes > self.quotes_before {
                    return Step::ParagraphEnds;
                }
                return Step::Nothing;
            }
            '-' | '*' | '+' => Line::Bullet(c),
            '0'..='9' => Line::Number {
                digits: 1,
                is_one: c == '1',
            },
            '#' => Line::Hashes(1),
            '~' => Line::Tildes(1),
            '=' | '_' => Line::Rule(c, 1),
            _ => Line::Rest,
        };
        Step::Nothing
    }

    /// Begins a list item. The current character is the white space after its marker.
    fn item(&mut self) -> Step {
        self.line = Line::Start;
        self.base = self.column + 1;
        self.items.push(self.base);
        Step::ParagraphEnds
    }

    fn open_tilde_fence(&mut self, length: usize) {
        let base = self.items.last().copied().unwrap_or(0);
        self.fence = Some(Fence::in_its_line('~', length, base, self.quotes));
    }

    fn end_line(&mut self) -> Step {
        let is_blank = self.line == Line::Start && self.mark == Mark::None;
        let ends = match self.line {
            Line::Start => is_blank,
            Line::Bullet(_) | Line::Hashes(_) | Line::Heading => true,
            Line::NumberMark { is_one } => is_one || !self.items.is_empty(),
            Line::Tildes(count) => count >= 3,
            Line::Rule(mark, count) => matches!(mark, '-' | '=') || count >= 3,
            Line::Number { .. } | Line::Rest => false,
        };
        let tildes = match self.line {
            Line::Tildes(count) if count >= 3 => Some(count),
            _ => None,
        };
        let quotes = self.quotes;
        self.new_line(!ends);
        if let Some(count) = tildes {
            let base = self.items.last().copied().unwrap_or(0);
            self.fence = Some(Fence::new('~', count, base, quotes));
        }
        if ends {
            Step::ParagraphEnds
        } else {
            Step::Nothing
        }
    }

    fn new_line(&mut self, in_paragraph: bool) {
        self.in_paragraph = in_paragraph;
        // A line without a quote marker continues the paragraph, if there is one.
        self.quotes_before = if in_paragraph {
            self.quotes.max(self.quotes_before)
        } else {
            self.quotes
        };
        self.quotes_of_line_before = self.quotes;
        self.quotes = 0;
        self.line = Line::Start;
        self.column = 0;
        self.base = 0;
        self.is_placed = false;
        self.mark = Mark::None;
    }
}
