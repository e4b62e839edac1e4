//! Tests of the parent module.

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

/// Slack has no escape for these characters. Change this test together with the documentation of
/// `slack`.
#[test]
fn slack_formatting_passes() {
    assert_eq!(Markup::Slack.escape("*b* _i_ ~s~ `c`"), "*b* _i_ ~s~ `c`");
}

#[test]
fn discord_sees_no_formatting_and_no_ping() {
    let escaped = Markup::Discord.escape("**b** [x](y) <@1> > q\n## h-h #1 `c` ||s|| @everyone");
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
