//! Finds the code in an outline with the Markdown parser, and whether later text can change the result.

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use std::ops::Range;

/// A fenced block without its last line ending, a code span, or a part of an indented block.
#[derive(Debug)]
struct Part {
    range: Range<usize>,
    is_fenced: bool,
    is_certain: bool,
}

/// The text of a paragraph or heading.
#[derive(Debug)]
struct Paragraph {
    range: Range<usize>,
    /// The first backtick outside a code span. A later backtick may close a span that begins here.
    backtick: Option<usize>,
    /// Whether the paragraph has ended: the line after it is complete, so later text cannot belong
    /// to it.
    has_ended: bool,
}

/// The code of a text.
#[derive(Debug, Default)]
pub(super) struct Code {
    parts: Vec<Part>,
    paragraphs: Vec<Paragraph>,
    /// The start of the last line.
    last_line: usize,
}

impl Code {
    /// Finds the code of a text. Characters from `length` on may still change.
    pub(super) fn find(text: &str, length: usize) -> Self {
        let certain = text.get(..length).unwrap_or_default();
        let mut code = Self {
            last_line: certain.rfind('\n').map_or(0, |at| at + 1),
            ..Self::default()
        };
        // Whether the current code block is fenced.
        let mut block = None;
        let mut begins = true;
        for (event, range) in Parser::new(text).into_offset_iter() {
            let backtick = |range: &Range<usize>| {
                let at = text.get(range.clone())?.find('`')?;
                Some(range.start + at)
            };
            match event {
                Event::Start(Tag::CodeBlock(kind)) => {
                    let is_fenced = matches!(kind, CodeBlockKind::Fenced(_));
                    if is_fenced {
                        let source = certain.get(range.start..).unwrap_or_default();
                        // A second backtick on the opening line shows that the line does not open a
                        // fence.
                        let is_certain = source.starts_with('~') || source.contains('\n');
                        code.add(range, is_fenced, is_certain);
                    }
                    block = Some(is_fenced);
                    begins = true;
                }
                Event::End(TagEnd::CodeBlock) => block = None,
                Event::Text(_) if block == Some(true) => {}
                Event::Text(_) if block == Some(false) => {
                    if let Some(at) = backtick(&range) {
                        code.add(at..range.end, false, true);
                    }
                }
                Event::Text(_) => {
                    code.inline(&range, backtick(&range), begins);
                    begins = false;
                }
                Event::Code(_) => {
                    code.inline(&range, None, begins);
                    begins = false;
                    // At the end of the text, the closing backticks may still increase.
                    let is_certain = range.end < length;
                    code.add(range, false, is_certain);
                }
                Event::SoftBreak
                | Event::HardBreak
                | Event::Start(Tag::Emphasis | Tag::Strong)
                | Event::End(TagEnd::Emphasis | TagEnd::Strong) => {}
                _ => begins = true,
            }
        }
        for paragraph in &mut code.paragraphs {
            let rest = certain.get(paragraph.range.end..).unwrap_or_default();
            let next = rest.find('\n').map(|at| paragraph.range.end + at + 1);
            paragraph.has_ended = next.is_some_and(|next| next < code.last_line);
        }
        code
    }

    fn add(&mut self, range: Range<usize>, is_fenced: bool, is_certain: bool) {
        self.parts.push(Part {
            range,
            is_fenced,
            is_certain,
        });
    }

    fn inline(&mut self, range: &Range<usize>, backtick: Option<usize>, begins: bool) {
        match self.paragraphs.last_mut() {
            Some(paragraph) if !begins => {
                paragraph.range.end = range.end;
                paragraph.backtick = paragraph.backtick.or(backtick);
            }
            _ => self.paragraphs.push(Paragraph {
                range: range.clone(),
                backtick,
                has_ended: false,
            }),
        }
    }

    /// Returns the last part that begins before a position.
    fn part(&self, at: usize) -> Option<&Part> {
        let count = self.parts.partition_point(|part| part.range.start < at);
        self.parts.get(count.checked_sub(1)?)
    }

    /// Returns whether a marker is in code, or `None` if that depends on later text.
    pub(super) fn contains(&self, marker: usize, is_complete: bool) -> Option<bool> {
        if let Some(part) = self.part(marker).filter(|part| marker < part.range.end) {
            return (part.is_certain || is_complete).then_some(true);
        }
        let starts_before = |paragraph: &Paragraph| paragraph.range.start < marker;
        let count = self.paragraphs.partition_point(starts_before);
        let last = count.checked_sub(1).and_then(|at| self.paragraphs.get(at));
        let in_open_span = last.is_some_and(|paragraph| {
            !paragraph.has_ended && paragraph.backtick.is_some_and(|at| at < marker)
        });
        (!in_open_span || is_complete).then_some(false)
    }

    /// Returns whether the white space is certainly a part of a fenced block or the end of its
    /// closing line.
    pub(super) fn has_fenced(&self, at: usize, white: char) -> bool {
        let ends_before = |part: &Part| match white {
            '\n' => part.range.end < at,
            _ => part.range.end <= at,
        };
        let part = self.part(at).filter(|part| part.is_fenced);
        at < self.last_line && part.is_some_and(|part| !ends_before(part))
    }
}
