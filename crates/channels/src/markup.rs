//! Escapes untrusted values for a channel's text. An escaped value cannot notify a whole room or hide a
//! link's destination. Except in Slack, it cannot add formatting either.

use gatehouse_domain::visible::{self, Visible};
use std::borrow::Cow;

/// The markup language of a channel's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Markup {
    /// No markup: values are inserted unchanged.
    None,
    /// Slack's `mrkdwn`.
    Slack,
    /// Discord's Markdown.
    Discord,
    /// Plain text in Matrix, where `@room` notifies everyone.
    Matrix,
    Html,
}

/// The words that notify everyone in a Discord channel.
const PINGS_OF_DISCORD: [&str; 2] = ["@everyone", "@here"];
/// An invisible character that separates its neighbors.
const ZERO_WIDTH_SPACE: char = '\u{200b}';

impl Markup {
    /// Escapes an agent's answer. The formatting is kept, but the answer can neither notify people nor hide a link.
    pub fn escape_answer(self, answer: &str) -> Cow<'_, str> {
        match self {
            // A link whose text differs from its destination needs these two characters.
            Self::Discord => Cow::Owned(apart(answer, &PINGS_OF_DISCORD).replace("](", "\\](")),
            other => other.escape(answer),
        }
    }

    /// Shows characters that [`Self::escape`] would change invisibly as escapes such as `\u{40}`. Use it for text that
    /// a person reviews: the channel then shows the value character by character.
    pub fn exact(self, value: &str) -> Visible<'_> {
        let pings: &[&str] = match self {
            Self::None | Self::Slack | Self::Html => &[],
            Self::Matrix => &["@room"],
            Self::Discord => &PINGS_OF_DISCORD,
        };
        let has_ping = apart(value, pings) != value;
        visible::escaping(value, |c| has_ping && c == '@')
    }

    /// Escapes a value. The value can then neither notify people nor hide a link. The module's documentation describes
    /// formatting.
    pub fn escape(self, value: &str) -> Cow<'_, str> {
        match self {
            Self::None => Cow::Borrowed(value),
            Self::Slack => replaced(value, slack),
            Self::Html => replaced(value, html),
            Self::Matrix => apart(value, &["@room"]),
            Self::Discord => Cow::Owned(discord(value)),
        }
    }
}

/// Slack documents only these three escapes (<https://docs.slack.dev/messaging/formatting-message-text#escaping>). Each
/// ping such as `<!channel>`, each mention and each labeled link begins with one of the characters. `*`, `_`, `~` and
/// backquotes have no escape in Slack, so a value that contains them may appear bold, struck through or as code.
fn slack(c: char) -> Option<&'static str> {
    match c {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        _ => None,
    }
}

fn html(c: char) -> Option<&'static str> {
    match c {
        '"' => Some("&quot;"),
        '\'' => Some("&#39;"),
        other => slack(other),
    }
}

fn replaced(value: &str, by: fn(char) -> Option<&'static str>) -> Cow<'_, str> {
    if !value.contains(|c| by(c).is_some()) {
        return Cow::Borrowed(value);
    }
    let mut text = String::with_capacity(value.len() + 16);
    for c in value.chars() {
        match by(c) {
            Some(replacement) => text.push_str(replacement),
            None => text.push(c),
        }
    }
    Cow::Owned(text)
}

/// Inserts a zero-width space after the `@` of these pings.
fn apart<'v>(value: &'v str, pings: &[&str]) -> Cow<'v, str> {
    if !value.contains('@') {
        return Cow::Borrowed(value);
    }
    let mut text = String::with_capacity(value.len() + 8);
    let mut rest = value;
    while let Some(c) = rest.chars().next() {
        text.push(c);
        let starts = |ping: &&str| {
            rest.get(..ping.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(ping))
        };
        if pings.iter().any(starts) {
            text.push(ZERO_WIDTH_SPACE);
        }
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
    }
    Cow::Owned(text)
}

/// Escapes Discord's Markdown with backslashes, except in bare URLs: Discord applies no Markdown there, and a backslash
/// would change the destination. The sender already disables pings. They are split here so that they do not look like
/// pings.
fn discord(value: &str) -> String {
    let mut text = String::with_capacity(value.len() + 16);
    let mut line_begins = true;
    for word in value.split_inclusive(char::is_whitespace) {
        if is_plain_url(word.trim_end()) {
            text.push_str(word);
            line_begins = word.ends_with('\n');
            continue;
        }
        for c in apart(word, &PINGS_OF_DISCORD).chars() {
            if "\\*_~`|<[]".contains(c) || (line_begins && "#>-".contains(c)) {
                text.push('\\');
            }
            text.push(c);
            line_begins = c == '\n' || (line_begins && (c.is_whitespace() || "#>-".contains(c)));
        }
    }
    text
}

fn is_plain_url(word: &str) -> bool {
    (word.starts_with("https://") || word.starts_with("http://"))
        && word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-._~:/?#@!$&'+,;=%".contains(c))
}

#[cfg(test)]
mod tests;
