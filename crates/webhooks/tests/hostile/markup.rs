//! Renders hostile texts into a template for each kind of channel and parses the result by that channel's
//! rules. The sender's text must be plain text, and the owner's markup must remain intact.

use crate::corpus::corpus;
use gatehouse_channels::Markup;
use gatehouse_sources::{Payload, template};
use html5ever::tokenizer::{
    BufferQueue, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use serde_json::json;
use std::cell::RefCell;
use std::panic::catch_unwind;

const ZERO_WIDTH_SPACE: char = '\u{200b}';

/// A value that must never be inserted, because no template in this test refers to it.
const HIDDEN: &str = "another field's value";

/// Returns the corpus, plus mentions and markup that are difficult to escape.
fn texts() -> Vec<String> {
    let own = [
        "@EveryOne",
        "a @here b",
        "<@&1>",
        "\\*a\\*",
        "\\",
        "*a",
        "#",
        "&lt;",
        "@@room",
    ];
    let corpus = corpus(80).into_iter().map(|entry| entry.text);
    corpus.chain(own.map(str::to_owned)).collect()
}

/// Returns how many unescaped texts the parser recognizes as markup.
fn seen_through(read: fn(&str) -> String) -> usize {
    let is_more = |text: &String| catch_unwind(|| read(text)).is_err();
    texts().iter().filter(|text| is_more(text)).count()
}

/// Renders each text between pieces of the owner's markup, and checks the result of `read`.
fn each(markup: Markup, [before, between, after]: [&str; 3], read: fn(&str) -> String) {
    if markup != Markup::None {
        let without_escapes = seen_through(read);
        assert!(
            without_escapes >= 3,
            "{without_escapes}: the reader sees nothing"
        );
    }
    let owners = format!("{before}{{title}}{between}{{author.name}}{after}");
    for text in texts() {
        let braces = format!("{text}{{hidden}} {{{{hidden}}}} {{__raw__}}");
        let payload = json!({ "title": text, "author": { "name": braces }, "hidden": HIDDEN });
        let payload = Payload::from_json(&payload.to_string()).unwrap();
        let rendered = template::render(&owners, &payload, &|value| markup.escape(value));
        assert!(!rendered.contains(HIDDEN), "{rendered}");
        let inner = rendered.strip_prefix(before).unwrap();
        let inner = inner.strip_suffix(after).unwrap();
        let values: Vec<_> = inner.split(between).collect();
        let [title, author] = values[..] else {
            panic!("{rendered}");
        };
        assert_eq!(read(title), read_back(markup, &text), "{rendered}");
        assert_eq!(read(author), read_back(markup, &braces), "{rendered}");
    }
}

/// Returns the text that a person sees, without the zero-width spaces that break mentions.
fn read_back(markup: Markup, text: &str) -> String {
    match markup {
        Markup::Discord | Markup::Matrix => text.replace(ZERO_WIDTH_SPACE, ""),
        _ => text.to_owned(),
    }
}

#[test]
fn slack_sees_text() {
    let own = [
        "*New* <https://gate.example/a|one> ",
        " _by_ <@U024BE7LH> ",
        " <!here> &amp;",
    ];
    each(Markup::Slack, own, slack_text);
}

fn slack_text(value: &str) -> String {
    assert!(!value.contains(['<', '>']), "{value}");
    let mut pieces = value.split('&');
    let mut text = pieces.next().unwrap().to_owned();
    for piece in pieces {
        let entities = [("amp;", '&'), ("lt;", '<'), ("gt;", '>')];
        let known = entities
            .iter()
            .find(|(entity, _)| piece.starts_with(entity));
        let (entity, c) = known.unwrap_or_else(|| panic!("a bare &: {value}"));
        text.push(*c);
        text.push_str(&piece[entity.len()..]);
    }
    text
}

#[test]
fn discord_sees_text() {
    let own = [
        "**New** [one](https://gate.example/) ",
        "\n> by <@1> ",
        "\n# @everyone `x`",
    ];
    each(Markup::Discord, own, discord_text);
}

fn discord_text(value: &str) -> String {
    let lower = value.to_lowercase();
    assert!(
        !lower.contains("@everyone") && !lower.contains("@here"),
        "{value}"
    );
    value.split_inclusive('\n').map(discord_line).collect()
}

/// <https://support.discord.com/hc/en-us/articles/210298617>: a backslash escapes the next character; bare
/// URLs contain no Markdown.
fn discord_line(line: &str) -> String {
    let first = line.trim_start().chars().next();
    assert!(!first.is_some_and(|c| "#>-".contains(c)), "{line}");
    let mut text = String::new();
    for word in line.split_inclusive(char::is_whitespace) {
        let is_address = word.starts_with("http://") || word.starts_with("https://");
        if is_address && !word.contains(['*', '`', '|', '<', '>', '[', ']', '(', ')', '\\']) {
            text.push_str(word);
            continue;
        }
        let mut chars = word.chars();
        while let Some(c) = chars.next() {
            if c == '\\' {
                let escaped = chars.next().unwrap_or_else(|| panic!("{line}"));
                assert!(escaped.is_ascii_punctuation(), "{line}");
                text.push(escaped);
                continue;
            }
            assert!(!"*_~`|<[]".contains(c), "{c} in {line}");
            text.push(c);
        }
    }
    text.replace(ZERO_WIDTH_SPACE, "")
}

#[test]
fn matrix_pings_no_room() {
    let own = ["New: ", " (by) ", " for @room"];
    each(Markup::Matrix, own, matrix_text);
}

fn matrix_text(value: &str) -> String {
    assert!(!value.to_lowercase().contains("@room"), "{value}");
    value.replace(ZERO_WIDTH_SPACE, "")
}

#[test]
fn plain_text_stays_as_it_is() {
    each(
        Markup::None,
        ["<b>", "</b> ** _ <i>", "</i>"],
        str::to_owned,
    );
}

#[test]
fn html_sees_text_between_tags() {
    let own = ["<b>New</b> <code>", "</code><i>", "</i> &amp; more"];
    each(Markup::Html, own, html_text);
}

fn html_text(value: &str) -> String {
    let read = Reader::read(value);
    assert!(read.tags.is_empty(), "{:?} in {value}", read.tags);
    // Reverts the escapes, but not HTML's changes to newlines and NUL.
    let entities = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ];
    let text = entities.iter().fold(value.to_owned(), |text, (entity, c)| {
        text.replace(entity, c)
    });
    assert_eq!(read.text, kept_by_html(&text), "{value}");
    text
}

#[test]
fn html_sees_one_attribute() {
    for text in texts() {
        for quote in ['"', '\''] {
            let owners = format!("<a href={quote}https://gate.example/?q={{title}}{quote}>x</a>");
            let payload = Payload::from_json(&json!({ "title": text }).to_string()).unwrap();
            let rendered = template::render(&owners, &payload, &|value| Markup::Html.escape(value));
            let read = Reader::read(&rendered);
            assert_eq!(read.tags, ["a", "a"], "{rendered}");
            let value = format!("https://gate.example/?q={}", kept_by_html(&text));
            assert_eq!(read.attributes, [("href".to_owned(), value)], "{rendered}");
            assert_eq!(read.text, "x");
        }
    }
}

/// <https://html.spec.whatwg.org/#preprocessing-the-input-stream>: newlines are normalized to one
/// character, and NUL is replaced.
fn kept_by_html(text: &str) -> String {
    text.replace("\r\n", "\n")
        .replace('\r', "\n")
        .replace('\0', "\u{fffd}")
}

/// The result of parsing a text as HTML.
#[derive(Clone, Debug, Default)]
struct Reader {
    text: String,
    tags: Vec<String>,
    attributes: Vec<(String, String)>,
}

#[derive(Default)]
struct Sink(RefCell<Reader>);

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut read = self.0.borrow_mut();
        match token {
            Token::CharacterTokens(text) => read.text.push_str(&text),
            Token::NullCharacterToken => read.text.push('\u{fffd}'),
            Token::TagToken(tag) => {
                read.tags.push(tag.name.to_string());
                let attributes = tag.attrs.iter();
                let pair =
                    |a: &html5ever::Attribute| (a.name.local.to_string(), a.value.to_string());
                read.attributes.extend(attributes.map(pair));
            }
            Token::CommentToken(_) => read.tags.push("a comment".to_owned()),
            Token::DoctypeToken(_) => read.tags.push("a doctype".to_owned()),
            Token::ParseError(_) | Token::EOFToken => {}
        }
        TokenSinkResult::Continue
    }
}

impl Reader {
    fn read(html: &str) -> Self {
        let options = TokenizerOpts {
            discard_bom: false,
            ..TokenizerOpts::default()
        };
        let tokenizer = Tokenizer::new(Sink::default(), options);
        let input = BufferQueue::default();
        input.push_back(html.into());
        let _script = tokenizer.feed(&input);
        tokenizer.end();
        tokenizer.sink.0.take()
    }
}
