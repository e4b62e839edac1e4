//! Ends elements and appends their final text or stop.

use super::{Ending, Speaker, html, inline};
use pulldown_cmark::TagEnd;

impl<'a> Speaker<'a> {
    pub(super) fn end(&mut self, tag: TagEnd) {
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

    pub(super) const fn ending(&self) -> Ending {
        if self.lists.is_empty() {
            Ending::AsItIs
        } else {
            Ending::Stop
        }
    }

    /// Speaks the current block.
    pub(super) fn flush(&mut self, ending: Ending) {
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

    pub(super) fn finish_part(mut self) -> String {
        if self.end_text() {
            return self.source.to_owned();
        }
        self.said
    }

    pub(super) fn finish(mut self) -> String {
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
