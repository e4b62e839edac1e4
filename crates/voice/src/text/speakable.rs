//! Reduces Markdown to speakable text in one pass. Syntax is removed. Headings, list items and table rows end
//! with a stop, which makes a voice pause. Links become their text, bare URLs their host, and images their
//! alternative text. Code fences, footnotes and rules are dropped; inline code is kept.
//!
//! Text without Markdown is unchanged. Prose can resemble Markdown: indented lines are not code, a single
//! numbered line is not a list, and text in angle brackets is a tag only if HTML defines that element. A text
//! with words never becomes empty: if it contains only code, the code is spoken.

mod html;
mod inline;
#[cfg(test)]
mod tests;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use std::ops::Range;

/// The speakable form of `text`.
pub(crate) fn speakable(text: &str) -> String {
    read(text).finish()
}

/// The options of the Markdown parser.
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

/// The speakable form of a part of a text. Empty if nothing in the part is spoken.
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
    /// Whether the next block continues the line of its list item's number.
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
            // The other extensions are not enabled.
            _ => {}
        }
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

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) | TagEnd::Item | TagEnd::TableRow | TagEnd::TableHead => {
                // After the last cell.
                let end = self.line.trim_end_matches([',', ' ']).len();
                if matches!(tag, TagEnd::TableRow | TagEnd::TableHead) {
                    self.line.truncate(end);
                }
                self.flush(Ending::Stop);
            }
            TagEnd::TableCell => self.line.push_str(", "),
            TagEnd::Paragraph | TagEnd::BlockQuote(_) | TagEnd::Table => self.flush(self.ending()),
            TagEnd::List(_) => {
                self.flush(Ending::Stop);
                self.lists.pop();
            }
            TagEnd::CodeBlock => {
                self.in_fence = false;
                self.flush(self.ending());
            }
            TagEnd::HtmlBlock => {
                let text = html::without_tags(&std::mem::take(&mut self.html));
                self.text(&text);
                self.flush(self.ending());
            }
            TagEnd::Link => self.end_link(),
            _ => {}
        }
    }

    /// Ends a link. A link without text is spoken as its host.
    fn end_link(&mut self) {
        let Some(link) = self.link.take() else { return };
        let text = self.line.get(link.start..).unwrap_or_default();
        if text.trim().is_empty() {
            let host = inline::host(&link.address).unwrap_or_default();
            self.line.push_str(&host);
        }
    }

    const fn ending(&self) -> Ending {
        if self.lists.is_empty() {
            Ending::AsItIs
        } else {
            Ending::Stop
        }
    }

    /// Speaks the current block.
    fn flush(&mut self, ending: Ending) {
        if self.after_number {
            // A number alone is not a block.
            self.after_number = false;
            return;
        }
        let line = std::mem::take(&mut self.line);
        let line = line.trim();
        if line.is_empty() {
            return;
        }
        if !self.said.is_empty() {
            let is_list = !self.lists.is_empty();
            self.said.push_str(if is_list { "\n" } else { "\n\n" });
        }
        inline::push_with_hosts(&mut self.said, line);
        if ending == Ending::Stop {
            inline::push_stop(&mut self.said);
        }
    }

    /// Ends the text. Returns whether it contains no Markdown.
    fn end_text(&mut self) -> bool {
        self.after_number = false;
        self.flush(Ending::AsItIs);
        let letters = |text: &'a str| text.chars().filter(|c| !c.is_whitespace());
        let bare = self.bare.chars().filter(|c| !c.is_whitespace());
        !self.is_list && letters(self.source).eq(bare)
    }

    fn finish_part(mut self) -> String {
        if self.end_text() {
            return self.source.to_owned();
        }
        self.said
    }

    fn finish(mut self) -> String {
        if self.end_text() {
            return self.source.to_owned();
        }
        let has_words = |text: &str| text.contains(char::is_alphanumeric);
        if has_words(&self.said) || !has_words(self.source) {
            self.said
        } else if has_words(&self.code) {
            self.code.trim().to_owned()
        } else {
            self.source.to_owned()
        }
    }
}
