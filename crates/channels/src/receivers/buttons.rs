//! Questions with buttons, for channel types whose vendor has buttons or a substitute such as reactions.

use super::Source;
use crate::error::Failure;
use futures_util::future::BoxFuture;
use gatehouse_domain::visible::Visible;
use std::borrow::Cow;

/// A button of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Button {
    pub label: &'static str,
    /// The data that a press reports: at most 64 bytes.
    pub data: String,
}

/// The text of a question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuestionText {
    /// The call, which is shown character by character; possibly empty.
    pub call: String,
    /// The text after the call: sentences of Gatehouse, possibly with a link at the end of a line.
    pub rest: String,
}

impl QuestionText {
    /// The whole text, for vendors that show text as it is.
    pub(crate) fn whole(&self) -> String {
        self.with(&self.call, &self.rest)
    }

    /// Joins the parts after they were written for a vendor.
    pub(crate) fn with(&self, call: &str, rest: &str) -> String {
        if self.call.is_empty() {
            return rest.to_owned();
        }
        format!("{call}\n\n{rest}")
    }
}

/// A message with buttons for one person.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The vendor's ID of the conversation.
    pub chat: &'a str,
    pub thread: Option<&'a str>,
    pub text: &'a QuestionText,
    /// One row per inner list.
    pub buttons: &'a [Vec<Button>],
}

/// A question that the vendor accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentQuestion {
    /// The vendor's ID of the message.
    pub message_id: String,
    /// Whether the vendor shows the call as it was sent.
    pub is_exact: bool,
}

/// A press of a button.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Press {
    /// The ID for acknowledging the press.
    pub id: String,
    /// The vendor's ID of the person who pressed.
    pub person: String,
    /// The vendor's ID of the conversation with the button.
    pub chat: String,
    /// Whether only the person and the bot read the conversation.
    pub is_private: bool,
    /// The vendor's ID of the message with the button.
    pub message_id: String,
    pub data: String,
    /// The call as the message shows it, in the vendor's markup. Only for vendors that need it to remove the buttons.
    pub shown: Option<String>,
}

/// A note to the person who pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note<'a> {
    pub text: &'a str,
    /// Whether the question will show this too.
    pub is_shown: bool,
}

/// Asks questions with buttons. It implements the vendor's wire format and decides nothing about people or calls.
pub(crate) trait Buttons: Send + Sync {
    /// Whether the text is not too long for a question.
    fn fits(&self, text: &QuestionText) -> bool;

    /// Escapes characters of a part of the call that the vendor would remove, replace or interpret.
    fn escape<'a>(&self, text: &'a str) -> Visible<'a>;

    /// The direct conversation with a person, if its ID follows from the person's.
    fn chat_of(&self, _person: &str) -> Option<String> {
        None
    }

    /// The person with whom a conversation is direct; `None` if others read it or the vendor does not report it.
    fn person_of<'a>(
        &'a self,
        source: Source<'a>,
        chat: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, Failure>>;

    fn ask<'a>(
        &'a self,
        source: Source<'a>,
        question: Question<'a>,
    ) -> BoxFuture<'a, Result<SentQuestion, Failure>>;

    /// Replaces the buttons of a question. `at` is the conversation and the message, `text` the new text.
    fn offer<'a>(
        &'a self,
        source: Source<'a>,
        at: (&'a str, &'a str),
        text: &'a QuestionText,
        buttons: &'a [Vec<Button>],
    ) -> BoxFuture<'a, Result<(), Failure>>;

    /// Replaces the text of a question and removes its buttons.
    fn close<'a>(
        &'a self,
        source: Source<'a>,
        at: (&'a str, &'a str),
        text: &'a QuestionText,
    ) -> BoxFuture<'a, Result<(), Failure>>;

    /// Removes the buttons of the question with a pressed button. A vendor that cannot do only this shows `result`
    /// below the call.
    fn retire<'a>(
        &'a self,
        source: Source<'a>,
        press: &'a Press,
        result: &'a str,
    ) -> BoxFuture<'a, Result<(), Failure>>;

    /// Sends the result to the person who pressed the button. Sends nothing if the question's message shows the result
    /// and the vendor needs no acknowledgement.
    fn acknowledge<'a>(
        &'a self,
        source: Source<'a>,
        press: &'a Press,
        note: Note<'a>,
    ) -> BoxFuture<'a, Result<(), Failure>>;
}

/// Returns the text unchanged, for vendors without characters to escape.
pub(crate) const fn unescaped(text: &str) -> Visible<'_> {
    Visible {
        text: Cow::Borrowed(text),
        hidden: 0,
    }
}
