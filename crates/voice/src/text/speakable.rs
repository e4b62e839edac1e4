//! Reduces Markdown to speakable text in one pass. Syntax is removed. Headings, list items and table rows end with a
//! stop, which makes a voice pause. Links become their text, bare URLs their host, and images their alternative text.
//! Code fences, footnotes and rules are dropped. Inline code is kept.
//!
//! Text without Markdown is unchanged. Prose can resemble Markdown: indented lines are not code, a single numbered line
//! is not a list, `2*3*4` is a product, and text in angle brackets is a tag only if HTML defines that element. A text
//! with words never becomes empty: if it contains only code, the code is spoken.

mod ending;
mod html;
mod inline;
#[cfg(test)]
mod tests;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use std::ops::Range;

/// Returns the speakable form of `text`.
pub(crate) fn speakable(text: &str) -> String {
    read(text).finish()
}

/// Returns the options of the Markdown parser.
pub(super) fn options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_TASKLISTS
}

fn read(text: &str) -> Speaker<'_> {
    let mut speaker = Speaker::new(text);
    for (event, range) in Parser::new_ext(text, options()).into_offset_iter() {
        speaker.take(event, range);
    }
    speaker
}

/// Returns the speakable form of a part of a text. The result is empty if nothing in the part is
/// spoken.
pub(crate) fn speakable_part(text: &str) -> String {
    read(text).finish_part()
}

/// How a piece of text ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    AsItIs,
    Stop,
}

struct Speaker<'a> {
    source: &'a str,
    said: String,
    /// The current block.
    line: String,
    /// The text without additions. If it equals the source except for white space, there is no Markdown.
    bare: String,
    /// Code that is not spoken.
    code: String,
    html: String,
    /// The number of items so far in each open list.
    lists: Vec<usize>,
    is_list: bool,
    footnotes: usize,
    in_fence: bool,
    /// Whether the next block continues on the line with the number of its list item.
    after_number: bool,
    link: Option<Link>,
}

/// A link whose text is being read.
struct Link {
    address: String,
    /// The start of its text in the line.
    start: usize,
}

impl<'a> Speaker<'a> {
    const fn new(source: &'a str) -> Self {
        Self {
            source,
            said: String::new(),
            line: String::new(),
            bare: String::new(),
            code: String::new(),
            html: String::new(),
            lists: Vec::new(),
            is_list: false,
            footnotes: 0,
            in_fence: false,
            after_number: false,
            link: None,
        }
    }

    fn take(&mut self, event: Event<'_>, range: Range<usize>) {
        if self.footnotes > 0 {
            match event {
                Event::Start(Tag::FootnoteDefinition(_)) => self.footnotes += 1,
                Event::End(TagEnd::FootnoteDefinition) => self.footnotes -= 1,
                _ => {}
            }
            return;
        }
        match event {
            Event::Start(Tag::Emphasis) | Event::End(TagEnd::Emphasis)
                if self.is_product(&range) =>
            {
                self.text("*");
            }
            Event::Start(Tag::Strong) | Event::End(TagEnd::Strong) if self.is_product(&range) => {
                self.text("**");
            }
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.in_fence => self.code.push_str(&text),
            Event::Text(text) | Event::Code(text) => self.text(&text),
            Event::InlineHtml(tag) => match html::spoken(&tag) {
                html::Spoken::Nothing => {}
                html::Spoken::Break => self.line.push('\n'),
                html::Spoken::AsText => self.text(&tag),
            },
            Event::Html(html) => self.html.push_str(&html),
            Event::SoftBreak | Event::HardBreak => self.line.push('\n'),
            Event::Rule => self.flush(Ending::AsItIs),
            // Extensions that produce other events are not enabled.
            _ => {}
        }
    }

    /// Returns whether the emphasis is part of a calculation: there is a digit on each side of it.
    fn is_product(&self, emphasis: &Range<usize>) -> bool {
        let before = self.source.get(..emphasis.start).unwrap_or_default();
        let after = self.source.get(emphasis.end..).unwrap_or_default();
        before.ends_with(|c: char| c.is_ascii_digit())
            && after.starts_with(|c: char| c.is_ascii_digit())
    }

    fn text(&mut self, text: &str) {
        self.after_number = false;
        self.line.push_str(text);
        self.bare.push_str(text);
    }

    fn start(&mut self, tag: Tag<'_>, range: Range<usize>) {
        match tag {
            Tag::List(_) => {
                self.flush(self.ending());
                self.lists.push(0);
            }
            Tag::Item => {
                self.flush(Ending::Stop);
                self.item(range);
            }
            Tag::CodeBlock(CodeBlockKind::Fenced(_)) => {
                self.flush(self.ending());
                self.in_fence = true;
            }
            Tag::FootnoteDefinition(_) => {
                self.flush(self.ending());
                self.footnotes = 1;
            }
            Tag::Link { dest_url, .. } => {
                self.link = Some(Link {
                    address: dest_url.into_string(),
                    start: self.line.len(),
                });
            }
            Tag::Paragraph
            | Tag::Heading { .. }
            | Tag::BlockQuote(_)
            | Tag::HtmlBlock
            | Tag::Table(_)
            | Tag::CodeBlock(CodeBlockKind::Indented) => {
                self.flush(self.ending());
            }
            _ => {}
        }
    }

    /// Begins a list item. The number of a numbered item is spoken.
    fn item(&mut self, range: Range<usize>) {
        if let Some(count) = self.lists.last_mut() {
            *count += 1;
            self.is_list |= *count > 1;
        }
        let source = self.source.get(range).unwrap_or_default().trim_start();
        let number = source.split_whitespace().next().unwrap_or_default();
        if number.starts_with(|c: char| c.is_ascii_digit()) {
            self.text(number);
            self.line.push(' ');
            self.after_number = true;
        }
    }
}
