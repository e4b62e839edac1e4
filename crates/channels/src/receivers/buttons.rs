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
    /// The call, shown character by character; possibly empty.
    pub call: String,
    /// The text after the call: sentences from Gatehouse, possibly with a link at the end of a
    /// line.
    pub rest: String,
}

impl QuestionText {
    /// Returns the whole text, for vendors that show text unchanged.
    pub(crate) fn whole(&self) -> String {
        self.with(&self.call, &self.rest)
    }

    /// Joins the parts after both were formatted for a vendor.
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
    /// The buttons. Each inner list is a row.
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
    /// The vendor's ID of the person who pressed the button.
    pub person: String,
    /// The vendor's ID of the conversation with the button.
    pub chat: String,
    /// Whether only the person and the bot read the conversation.
    pub is_private: bool,
    /// The vendor's ID of the message with the button.
    pub message_id: String,
    pub data: String,
    /// The call as the message shows it, in the vendor's markup. Set only for vendors that need it to remove the
    /// buttons.
    pub shown: Option<String>,
}

/// A note to the person who pressed the button.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note<'a> {
    pub text: &'a str,
    /// Whether the question will show the same text.
    pub is_shown: bool,
}

/// Asks questions with buttons. Implements the vendor's wire format and makes no decisions about people or calls.
pub(crate) trait Buttons: Send + Sync {
    /// Returns whether the text is short enough for a question.
    fn fits(&self, text: &QuestionText) -> bool;

    /// Escapes the characters that the vendor would remove, replace or interpret in a part of the
    /// call.
    fn escape<'a>(&self, text: &'a str) -> Visible<'a>;

    /// Returns the direct conversation with a person, if its ID follows from the person's ID.
    fn chat_of(&self, _person: &str) -> Option<String> {
        None
    }

    /// Returns the person of a direct conversation. Returns `None` if other people read it or the vendor does not
    /// report that.
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

    /// Replaces the buttons of a question. `at` is the conversation and the message. `text` is the new text.
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

    /// Removes the buttons of the question with the pressed button. If the vendor cannot remove buttons alone, `result`
    /// is shown below the call.
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
