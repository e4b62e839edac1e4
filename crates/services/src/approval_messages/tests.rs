//! Tests of the parent module.

use super::text::in_words;
use super::*;
use gatehouse_agents::{AskReason, AskingConversation, Effect, Shown, Source};
use gatehouse_channels::Markup;
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::{ApprovalId, SessionId};
use serde_json::json;

#[test]
fn a_message_says_why_and_how_long_a_call_waits_and_ends_with_the_link() {
    let at = Timestamp::from_millis(1_795_000_000_000);
    let asked = |reason| Approval {
        id: ApprovalId::from_text("apr_1"),
        agent: "default".to_owned(),
        tool: "speak".to_owned(),
        arguments: json!({ "text": "@here" }),
        shown: Shown::of("speak", &json!({ "text": "@here" })),
        reason,
        effect: Effect::Spend,
        session: SessionId::from_text("ses_1"),
        conversation: Some(AskingConversation {
            label: "@here".to_owned(),
            source: Source::Webhook,
            from: Some("Shop".to_owned()),
        }),
        expires_at: at.after(Duration::from_mins(5)),
    };
    let link = Some("https://a/approve/b");
    let text = |reason, markup| message_text(&asked(reason), markup, (at, link));
    let head = "The agent default asks for approval of the tool speak:\n\n{\n  \"text\": ";
    let from = "The conversation, started by the webhook Shop: @here (ID …ses_1)\n\n";
    let until = "Answer until 2026-11-18 11:11:40 UTC, 5 minutes after the call. Without an answer the call does \
                 not run.\nRead and answer it: https://a/approve/b";
    let plain = format!("{head}\"@here\"\n}}\n\n{from}{until}");
    assert_eq!(text(AskReason::Required, Markup::None), plain);
    let tainted = format!(
        "{head}\"@here\"\n}}\n\nThe agent has read text that anyone could have written. It may have caused this \
         call.\n\n{from}{until}"
    );
    assert_eq!(text(AskReason::Tainted, Markup::Slack), tainted);
    // The backslash of the escape is itself escaped for Discord.
    let from = from.replace('@', "\\\\u{40}");
    let discord = format!(
        "{head}\"\\\\u{{40}}here\"\n}}\n\n1 hidden character is shown as an escape.\n\n{from}{until}"
    );
    assert_eq!(text(AskReason::Required, Markup::Discord), discord);
    let unlinked = message_text(&asked(AskReason::Required), Markup::None, (at, None));
    let end = "Without an answer the call does not run.\nRead and answer it in the web UI.";
    assert!(unlinked.ends_with(end), "{unlinked}");
}

#[test]
fn only_the_log_gets_no_link_that_answers_without_a_login() {
    use ApprovalLinks::{Bearer, SignIn};
    for (target, links, expected) in [
        ("log", Bearer, false),
        ("log:log", Bearer, false),
        ("log", SignIn, true),
        ("inbox", Bearer, true),
        ("telegram:log", Bearer, true),
    ] {
        assert_eq!(may_have_link(target, links), expected, "{target} {links:?}");
    }
}

#[test]
fn a_duration_is_rounded_and_named() {
    for (millis, words) in [
        (0, "0 seconds"),
        (499, "0 seconds"),
        (500, "1 second"),
        (49_499, "49 seconds"),
        (49_999, "50 seconds"),
        (50_000, "50 seconds"),
        (54_999, "50 seconds"),
        (55_000, "1 minute"),
        (90_000, "1 minute 30 seconds"),
        (294_999, "4 minutes 50 seconds"),
        (295_000, "5 minutes"),
        (304_999, "5 minutes"),
        (3_600_000, "1 hour"),
        (5_410_000, "1 hour 30 minutes 10 seconds"),
        (172_800_000, "48 hours"),
    ] {
        assert_eq!(in_words(Duration::from_millis(millis)), words, "{millis}");
    }
}
