//! Rewrites HTML. The result is well-formed, limited in depth and size, and free of content that is not meant to be
//! read. Runs in linear time and without recursion.

use super::links::{Links, without_markers};
use super::tags::{TagAction, breaks_line, ends, fate, keeps_attribute};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use std::cell::RefCell;
use std::collections::HashMap;
use std::time::{Duration, Instant};
use url::Url;

/// The deepest tag that is kept.
const MAX_DEPTH: usize = 100;
/// The maximum number of kept tags. Later tags are dropped, but their text is kept.
const MAX_TAGS: usize = 30_000;
/// The longest attribute value, in characters.
const MAX_VALUE: usize = 1000;
/// Bytes read between two checks of the clock.
const STEP_BYTES: usize = 8 * 1024;

/// The bounded form of a page.
#[derive(Debug, Default)]
pub(crate) struct Bounded {
    /// Well-formed HTML.
    pub(crate) html: String,
    /// The whole text, with line breaks between blocks.
    pub(crate) text: String,
    /// The text of the first `title`.
    pub(crate) title: String,
    /// The link targets. `html` contains markers for them; see [`Links`].
    pub(super) links: Links,
}

/// Bounds a page. Content that was not read within `limit` is omitted. Links are kept if `is_at`, the page's URL, is
/// given.
pub(crate) fn bound(html: &str, is_at: Option<Url>, limit: Duration) -> Bounded {
    let until = Instant::now() + limit;
    let mut rewriter = Rewriter::default();
    rewriter.out.links = Links::new(is_at);
    let tokenizer = Tokenizer::new(Sink(RefCell::new(rewriter)), TokenizerOpts::default());
    let queue = BufferQueue::default();
    let mut rest = html;
    while !rest.is_empty() && Instant::now() < until {
        let (step, later) = rest.split_at(rest.floor_char_boundary(STEP_BYTES));
        rest = later;
        queue.push_back(StrTendril::from_slice(step));
        // This sink never requests that a script be run, so `feed` consumes all input.
        let _ = tokenizer.feed(&queue);
    }
    tokenizer.end();
    tokenizer.sink.0.into_inner().finish()
}

struct Sink(RefCell<Rewriter>);

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut rewriter = self.0.borrow_mut();
        match token {
            Token::TagToken(tag) => return rewriter.tag(&tag),
            Token::CharacterTokens(text) => rewriter.characters(&text),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

#[derive(Default)]
struct Rewriter {
    out: Bounded,
    /// The open tags that were kept.
    open: Vec<String>,
    /// The number of start tags that were dropped because of their depth, by name. Their end tags
    /// are dropped too.
    too_deep: HashMap<String, usize>,
    tags: usize,
    /// The tag whose content is skipped as raw text.
    swallowing: Option<String>,
    has_title: bool,
}

impl Rewriter {
    fn tag(&mut self, tag: &Tag) -> TokenSinkResult<()> {
        let name = &*tag.name;
        if let Some(swallowed) = &self.swallowing {
            if tag.kind == TagKind::EndTag && swallowed == name {
                self.swallowing = None;
            }
            return TokenSinkResult::Continue;
        }
        match (tag.kind, fate(name)) {
            (TagKind::StartTag, TagAction::Keep) => self.begin(tag),
            (TagKind::StartTag, TagAction::KeepEmpty) => self.empty(tag),
            (TagKind::EndTag, TagAction::Keep) => self.end(name),
            (_, TagAction::Unwrap) | (TagKind::EndTag, _) => {}
            (TagKind::StartTag, TagAction::Swallow) => {
                self.swallowing = Some(name.to_owned());
                let script = name == "script";
                return TokenSinkResult::RawData(match name {
                    "textarea" => RawKind::Rcdata,
                    _ if script => RawKind::ScriptData,
                    _ => RawKind::Rawtext,
                });
            }
        }
        if tag.kind == TagKind::StartTag
            && name == "base"
            && let Some(href) = attribute(tag, "href")
        {
            self.out.links.rebase(href);
        }
        if tag.kind == TagKind::StartTag && name == "title" {
            return TokenSinkResult::RawData(RawKind::Rcdata);
        }
        TokenSinkResult::Continue
    }

    fn begin(&mut self, tag: &Tag) {
        let name = &*tag.name;
        self.end_implied(name);
        if self.open.len() >= MAX_DEPTH || self.tags >= MAX_TAGS {
            *self.too_deep.entry(name.to_owned()).or_default() += 1;
            self.break_line(name);
            return;
        }
        self.write_start(tag);
        self.open.push(name.to_owned());
    }

    fn empty(&mut self, tag: &Tag) {
        self.end_implied(&tag.name);
        if &*tag.name == "br" && self.is_inside("pre") {
            self.characters("\n");
        } else if self.tags < MAX_TAGS {
            self.write_start(tag);
        }
    }

    fn is_inside(&self, name: &str) -> bool {
        self.open.iter().any(|open| open == name)
    }

    fn end(&mut self, name: &str) {
        if let Some(count) = self.too_deep.get_mut(name).filter(|count| **count > 0) {
            *count -= 1;
            self.break_line(name);
        } else if let Some(at) = self.open.iter().rposition(|open| open == name) {
            self.close_down_to(at);
        }
    }

    fn end_implied(&mut self, name: &str) {
        let (ended, walls) = ends(name);
        let open = self.open.iter().enumerate().rev();
        let found = open
            .take_while(|(_, open)| !walls.contains(&open.as_str()))
            .find(|(_, open)| ended.contains(&open.as_str()));
        if let Some((at, _)) = found {
            self.close_down_to(at);
        }
    }

    fn close_down_to(&mut self, depth: usize) {
        while self.open.len() > depth
            && let Some(name) = self.open.pop()
        {
            self.out.html.push_str("</");
            self.out.html.push_str(&name);
            self.out.html.push('>');
            self.has_title |= name == "title";
            self.separate(&name);
            self.break_line(&name);
        }
    }

    /// Inserts a separator after an end tag if the tag alone separated the texts, such as lines of a code block, blocks
    /// in a link, or cells of a row.
    fn separate(&mut self, ended: &str) {
        if !breaks_line(ended) && !matches!(ended, "td" | "th") {
            return;
        }
        if self.is_inside("pre") {
            if !self.out.html.ends_with('\n') {
                self.out.html.push('\n');
            }
        } else if matches!(ended, "td" | "th") || self.is_inside("a") {
            self.out.html.push(' ');
        }
    }

    fn write_start(&mut self, tag: &Tag) {
        self.tags += 1;
        self.break_line(&tag.name);
        let marker = attribute(tag, "href")
            .filter(|_| &*tag.name == "a")
            .and_then(|href| self.out.links.mark(href));
        let html = &mut self.out.html;
        html.push('<');
        html.push_str(&tag.name);
        for attribute in &tag.attrs {
            let name = &*attribute.name.local;
            if keeps_attribute(name) {
                html.push(' ');
                html.push_str(name);
                html.push_str("=\"");
                let value = without_markers(&attribute.value);
                escape(crate::text::cut(&value, MAX_VALUE).0, html);
                html.push('"');
            }
        }
        if let Some(marker) = marker {
            html.push_str(" href=\"");
            html.push(marker);
            html.push('"');
        }
        html.push('>');
    }

    fn break_line(&mut self, name: &str) {
        if matches!(name, "td" | "th") {
            self.out.text.push('\t');
        } else if breaks_line(name) && !self.out.text.ends_with('\n') {
            self.out.text.push('\n');
        }
    }

    fn characters(&mut self, text: &str) {
        if self.swallowing.is_some() {
            return;
        }
        let text = &*without_markers(text);
        escape(text, &mut self.out.html);
        if self.open.last().is_some_and(|open| open == "title") {
            if !self.has_title {
                self.out.title.push_str(text);
            }
        } else {
            self.out.text.push_str(text);
        }
    }

    fn finish(mut self) -> Bounded {
        self.close_down_to(0);
        self.out
    }
}

fn attribute<'t>(tag: &'t Tag, name: &str) -> Option<&'t str> {
    let mut all = tag.attrs.iter();
    all.find(|attribute| &*attribute.name.local == name)
        .map(|attribute| &*attribute.value)
}

fn escape(text: &str, into: &mut String) {
    for c in text.chars() {
        match c {
            '&' => into.push_str("&amp;"),
            '<' => into.push_str("&lt;"),
            '>' => into.push_str("&gt;"),
            '"' => into.push_str("&quot;"),
            c => into.push(c),
        }
    }
}

#[cfg(test)]
mod tests;
