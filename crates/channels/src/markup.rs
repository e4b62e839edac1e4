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

/// What notifies everyone in a channel of Discord.
const PINGS_OF_DISCORD: [&str; 2] = ["@everyone", "@here"];
/// Invisible; separates the characters around it.
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

    /// Shows the characters of a value that [`Self::escape`] would change invisibly as escapes such as `\u{40}`. For
    /// text that a person reviews: what the channel shows is then the value, character by character.
    pub fn exact(self, value: &str) -> Visible<'_> {
        let pings: &[&str] = match self {
            Self::None | Self::Slack | Self::Html => &[],
            Self::Matrix => &["@room"],
            Self::Discord => &PINGS_OF_DISCORD,
        };
        let has_ping = apart(value, pings) != value;
        visible::escaping(value, |c| has_ping && c == '@')
    }

    /// Escapes a value, so that it can neither notify people nor hide a link. See the module's documentation for
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

/// Slack documents exactly these three escapes
/// (<https://docs.slack.dev/messaging/formatting-message-text#escaping>). One of the characters begins each
/// ping such as `<!channel>`, each mention and each labeled link. `*`, `_`, `~` and backquotes have no escape
/// in Slack, so a value that contains them may appear bold, struck through or as code.
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

/// Escapes Discord's Markdown with backslashes, except in bare URLs: Discord applies no Markdown there, and a
/// backslash would change the destination. The sender already disables pings; they are split here so that
/// they do not look like pings.
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
mod tests {
    use super::*;

    #[test]
    fn slack_sees_no_ping_no_link_and_no_entity() {
        assert_eq!(
            Markup::Slack.escape("<!channel> <@U1> <https://evil|bank> a&amp;b"),
            "&lt;!channel&gt; &lt;@U1&gt; &lt;https://evil|bank&gt; a&amp;amp;b"
        );
        assert!(matches!(
            Markup::Slack.escape("plain"),
            Cow::Borrowed("plain")
        ));
    }

    /// Slack has no escape for these. Change this test together with the documentation of `slack`.
    #[test]
    fn slack_formatting_passes() {
        assert_eq!(Markup::Slack.escape("*b* _i_ ~s~ `c`"), "*b* _i_ ~s~ `c`");
    }

    #[test]
    fn discord_sees_no_formatting_and_no_ping() {
        let escaped =
            Markup::Discord.escape("**b** [x](y) <@1> > q\n## h-h #1 `c` ||s|| @everyone");
        assert_eq!(
            escaped,
            "\\*\\*b\\*\\* \\[x\\](y) \\<@1> > q\n\\#\\# h-h #1 \\`c\\` \\|\\|s\\|\\| @\u{200b}everyone"
        );
        assert_eq!(
            Markup::Discord.escape("> q\n- l\n-# s"),
            "\\> q\n\\- l\n\\-\\# s"
        );
    }

    #[test]
    fn an_answer_keeps_its_formatting_but_pings_nobody_and_hides_no_link() {
        let answer = "**b** `c` [bank](https://evil) @everyone <!channel>\n```\nx\n```";
        assert_eq!(
            Markup::Discord.escape_answer(answer),
            "**b** `c` [bank\\](https://evil) @\u{200b}everyone <!channel>\n```\nx\n```"
        );
        assert_eq!(
            Markup::Slack.escape_answer(answer),
            "**b** `c` [bank](https://evil) @everyone &lt;!channel&gt;\n```\nx\n```"
        );
    }

    #[test]
    fn a_url_stays_one_in_discord() {
        let url = "see https://example.com/a_b/c?d=e_f#g and http://x/~y";
        assert_eq!(Markup::Discord.escape(url), url);
        assert_eq!(Markup::Discord.escape("https://x/*y*"), "https://x/\\*y\\*");
    }

    #[test]
    fn rooms_are_not_pinged() {
        assert_eq!(
            Markup::Matrix.escape("@room @ROOM ä@roommate <b>"),
            "@\u{200b}room @\u{200b}ROOM ä@\u{200b}roommate <b>"
        );
        assert_eq!(Markup::Matrix.escape("a@b"), "a@b");
        assert_eq!(Markup::Discord.escape("@Here"), "@\u{200b}Here");
    }

    #[test]
    fn a_value_under_review_gets_no_invisible_character() {
        let shown = |markup: Markup, value: &str| {
            let exact = markup.exact(value);
            let (text, hidden) = (exact.text.into_owned(), exact.hidden);
            assert!(!markup.escape(&text).contains(ZERO_WIDTH_SPACE));
            (text, hidden)
        };
        let mails = "a@b, @all";
        let unchanged = (mails.to_owned(), 0);
        assert_eq!(shown(Markup::Matrix, mails), unchanged);
        assert_eq!(shown(Markup::Discord, mails), unchanged);
        let (room, everyone) = ("@Room a@b", "@everyone, @here");
        let escaped = ("\\u{40}Room a\\u{40}b".to_owned(), 2);
        assert_eq!(shown(Markup::Matrix, room), escaped);
        let escaped = ("\\u{40}everyone, \\u{40}here".to_owned(), 2);
        assert_eq!(shown(Markup::Discord, everyone), escaped);
        assert_eq!(shown(Markup::Slack, everyone).1, 0);
        assert_eq!(shown(Markup::None, room).1, 0);
    }

    #[test]
    fn html_is_text() {
        assert_eq!(
            Markup::Html.escape("<a href='x'>\"&"),
            "&lt;a href=&#39;x&#39;&gt;&quot;&amp;"
        );
        assert_eq!(Markup::None.escape("<a>"), "<a>");
    }
}
