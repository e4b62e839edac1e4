//! Questions with buttons, for channel types whose vendor has them.

use super::Source;
use crate::error::Failure;
use crate::split::Limit;
use futures_util::future::BoxFuture;
use gatehouse_domain::visible::Visible;

/// A button of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Button {
    pub label: &'static str,
    /// What a press reports: at most 64 bytes.
    pub data: String,
}

/// A message with buttons for one person.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The vendor's ID of the conversation.
    pub chat: &'a str,
    pub thread: Option<&'a str>,
    pub text: &'a str,
    /// One row per inner list.
    pub buttons: &'a [Vec<Button>],
}

/// A question that the vendor accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentQuestion {
    /// The vendor's ID of the message.
    pub message_id: String,
    /// Whether the vendor shows the text as it was sent.
    pub is_exact: bool,
}

/// A press of a button.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Press {
    /// The vendor's ID of the press.
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
}

/// Asks questions with buttons.
pub(crate) trait Buttons: Send + Sync {
    /// The largest text of a question.
    fn limit(&self) -> Limit;

    /// Escapes characters that the vendor would remove or replace.
    fn escape<'a>(&self, text: &'a str) -> Visible<'a>;

    /// The person with whom a conversation is direct, if the IDs of the conversation say so.
    fn person_of(&self, chat: &str) -> Option<String>;

    fn ask<'a>(
        &'a self,
        source: Source<'a>,
        question: Question<'a>,
    ) -> BoxFuture<'a, Result<SentQuestion, Failure>>;

    /// Replaces the buttons of a question, and its text unless that is `None`. `at` is the conversation and the message.
    fn edit<'a>(
        &'a self,
        source: Source<'a>,
        at: (&'a str, &'a str),
        text: Option<&'a str>,
        buttons: &'a [Vec<Button>],
    ) -> BoxFuture<'a, Result<(), Failure>>;

    /// Shows a short text to the person who pressed a button.
    fn acknowledge<'a>(
        &'a self,
        source: Source<'a>,
        press_id: &'a str,
        text: &'a str,
    ) -> BoxFuture<'a, Result<(), Failure>>;
}
