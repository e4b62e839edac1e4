//! The text of a question: the call exactly as it will run, the deadline for an answer, and later the result.

use crate::sent_links::AnsweredThrough;
use gatehouse_agents::{Approval, AskReason, Source};
use gatehouse_channels::{QuestionForm, QuestionText};
use gatehouse_domain::Timestamp;

/// Maximum number of characters that are shown of arguments that do not fit.
const MAX_CUT_CHARS: usize = 1_500;

/// The result of a call that ended without an answer and did not expire.
pub(super) const GONE: &str = "This call no longer waits for an answer.";

/// The consequence of not answering a call.
pub(crate) const UNANSWERED: &str = "Without an answer the call does not run.";

/// The text about a waiting call in a chat that other people read.
pub(super) const UNSHOWN: &str = "A tool call waits for approval in the web UI.";

/// The text about a call that the direct chat shows, in a chat that other people read.
pub(super) const ASKED_DIRECTLY: &str = "A tool call waits for approval in our direct chat.";

/// The text of a question that has ended.
#[derive(Debug)]
pub(super) struct Closed {
    pub(super) whole: QuestionText,
    /// The question without the call and links, for a chat that other people read.
    pub(super) brief: QuestionText,
}

/// How a question ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome<'a> {
    Allowed,
    Denied,
    Expired,
    /// The turn was stopped, or it is not known how the call ended.
    Ended,
    /// The vendor shows a different text. The link leads to the call.
    Inexact(&'a str),
}

#[derive(Debug)]
pub(super) struct CallText {
    /// The text while the call waits. The part after the call contains the deadline, and may contain a link.
    pub(super) question: QuestionText,
    until: String,
    /// Whether the whole call is shown, so that it can be allowed.
    pub(super) allows: bool,
}

impl CallText {
    /// Builds the question. Shows the link if the call does not fit. If `is_elsewhere`, shows the link and the
    /// conversation.
    pub(super) fn of(asked: &Approval, form: QuestionForm, link: &str, is_elsewhere: bool) -> Self {
        let arguments = form.escape(&asked.shown.arguments);
        let tool = form.escape(&asked.shown.tool);
        let head = format!(
            "The agent {} asks for approval of the tool {}:\n\n",
            form.escape(&asked.agent).text,
            tool.text
        );
        let mut note = notes(
            asked.shown.hidden + arguments.hidden + tool.hidden,
            asked.reason,
        );
        if is_elsewhere {
            note += &asked_in(asked, |text| form.escape(text).text.into_owned());
        }
        let until = format!("Answer until {}. {UNANSWERED}", second(asked.expires_at));
        let linked = || format!("{until}\nThe call in the web UI: {link}");
        let mut question = QuestionText {
            call: format!("{head}{}{note}", arguments.text),
            rest: if is_elsewhere {
                linked()
            } else {
                until.clone()
            },
        };
        let mut characters = MAX_CUT_CHARS;
        let mut allows = true;
        while !form.fits(&question) && characters > 0 {
            let kept: String = arguments.text.chars().take(characters).collect();
            question = QuestionText {
                call: format!("{head}{kept}…{note}"),
                rest: format!(
                    "The arguments are too long for this message, so the call cannot be allowed here. Read and answer \
                     it in the web UI: {link}\n\n{until}"
                ),
            };
            allows = false;
            characters /= 2;
        }
        Self {
            question,
            until,
            allows,
        }
    }

    /// Returns the text after the call has stopped waiting. `answered` is the sentence about the person who
    /// answered, or about how the call was answered. It is omitted if the text does not fit with it.
    pub(super) fn closed(
        &self,
        form: QuestionForm,
        outcome: Outcome<'_>,
        answered: Option<&str>,
    ) -> Closed {
        let brief = |rest: &str| QuestionText {
            call: String::new(),
            rest: rest.to_owned(),
        };
        let result = match outcome {
            Outcome::Allowed => "Allowed. The call runs.",
            Outcome::Denied => "Denied. The call does not run.",
            Outcome::Expired => "Nobody answered in time. The call does not run.",
            Outcome::Ended => GONE,
            Outcome::Inexact(link) => {
                let rest = format!(
                    "A tool call waits for approval, but this chat cannot show it exactly. Read and answer it in the web \
                     UI: {link}\n\n{}",
                    self.until
                );
                return Closed {
                    whole: brief(&rest),
                    brief: brief(UNSHOWN),
                };
            }
        };
        let with = |rest: String| QuestionText {
            call: self.question.call.clone(),
            rest,
        };
        let named = answered.map(|answered| with(format!("{answered}\n{result}")));
        Closed {
            whole: named
                .filter(|text| form.fits(text))
                .unwrap_or_else(|| with(result.to_owned())),
            brief: brief(result),
        }
    }
}

/// Returns the sentence about an answer that did not come from a button of this question.
pub(super) const fn answered_through(through: AnsweredThrough) -> &'static str {
    match through {
        AnsweredThrough::Link => "Answered through a link.",
        AnsweredThrough::Chat => "Answered in a chat.",
        AnsweredThrough::Api => "Answered in the web UI or through the API.",
    }
}

/// Returns the paragraphs after a call: how many of its characters are shown as escapes, and why it waits.
pub(crate) fn notes(hidden: usize, reason: AskReason) -> String {
    let reason = match reason {
        AskReason::Required => "",
        AskReason::Tainted => {
            "\n\nThe agent has read text that anyone could have written. It may have caused this call."
        }
    };
    match hidden {
        0 => reason.to_owned(),
        1 => format!("\n\n1 hidden character is shown as an escape.{reason}"),
        count => format!("\n\n{count} hidden characters are shown as escapes.{reason}"),
    }
}

/// Returns the paragraph about the conversation of a call; empty if the conversation is unknown. `escape` escapes a
/// text for the channel.
pub(crate) fn asked_in(asked: &Approval, escape: impl Fn(&str) -> String) -> String {
    let Some(conversation) = &asked.conversation else {
        return String::new();
    };
    let from = conversation.from.as_deref().map(&escape);
    let start = match (conversation.source, from) {
        (Source::User, _) => "started in the web UI or through the API".to_owned(),
        (Source::Webhook, Some(name)) => format!("started by the webhook {name}"),
        (Source::Webhook, None) => "started by a webhook".to_owned(),
        (Source::Channel, Some(person)) => format!("started by a message from {person}"),
        (Source::Channel, None) => "started by a message to a channel".to_owned(),
        (Source::Api, _) => "a request to the OpenAI-compatible API".to_owned(),
    };
    let (label, id) = (escape(&conversation.label), asked.short_session());
    format!("\n\nThe conversation, {start}: {label} (ID …{id})")
}

/// Formats a time as `2026-11-27 05:16:30 UTC`.
pub(crate) fn second(at: Timestamp) -> String {
    let exact = at.to_string();
    let second = exact.get(..19).unwrap_or(&exact).replace('T', " ");
    format!("{second} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_exact_to_the_second() {
        let at = Timestamp::from_millis(1_795_000_000_999);
        assert_eq!(second(at), "2026-11-18 11:06:40 UTC");
    }
}
