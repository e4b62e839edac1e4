//! Fits a conversation into its model's context window. Pure. `turn` requests summaries from a model.
//!
//! These steps are applied in order until the conversation fits: shorten the tool output of older turns, shorten the
//! output of the running turn, omit whole older turns (a summary then replaces them), and finally keep only the newest
//! text.

mod fit;

use crate::files::Files;
use crate::origin::MessageOrigin;
use gatehouse_models::ChatMessage;
use gatehouse_store::ChatMessageRow;

/// A summary of the beginning of a conversation.
#[derive(Clone, Debug)]
pub(crate) struct Summary {
    pub(crate) text: String,
    pub(crate) origin: MessageOrigin,
}

/// The part of a session that the running turn uses.
#[derive(Debug)]
pub(crate) struct Conversation {
    summary: Option<Summary>,
    /// The messages that the summary does not cover, in order.
    rows: Vec<ChatMessageRow>,
    /// The number of the running turn.
    turn: i64,
    /// The model that is asked, as `provider/model`.
    model: String,
    files: Files,
    /// Whether some messages are neither in the rows nor in the summary.
    has_gap: bool,
}

/// The messages to send.
#[derive(Debug)]
pub(crate) struct Fitted {
    pub(crate) messages: Vec<ChatMessage>,
    /// Estimated size.
    pub(crate) tokens: u64,
    /// The number of the last omitted turn that no summary covers yet.
    pub(crate) left_out: Option<i64>,
    /// Whether the messages cannot be shortened further.
    pub(crate) is_least: bool,
}

impl Conversation {
    /// Takes the rows of a session up to and including the running turn.
    pub(crate) fn new(
        summary: Option<Summary>,
        rows: Vec<ChatMessageRow>,
        turn: i64,
        model: String,
        has_gap: bool,
    ) -> Self {
        Self {
            summary,
            rows,
            turn,
            model,
            files: Files::default(),
            has_gap,
        }
    }

    /// Adds the files of the messages.
    pub(crate) fn with_files(self, files: Files) -> Self {
        Self { files, ..self }
    }

    pub(crate) fn files(&self) -> &Files {
        &self.files
    }

    pub(crate) fn files_mut(&mut self) -> &mut Files {
        &mut self.files
    }

    pub(crate) fn has_files(&self) -> bool {
        self.rows.iter().any(|row| row.attachments.is_some())
    }

    pub(crate) fn has_tool_output(&self) -> bool {
        self.rows.iter().any(|row| row.role == "tool")
    }

    /// Continues the conversation with another model.
    pub(crate) fn ask_another(&mut self, model: String, sees: bool) {
        self.model = model;
        self.files.sees = sees;
    }

    /// Appends a message.
    pub(crate) fn push(&mut self, row: ChatMessageRow) {
        self.rows.push(row);
    }

    /// Returns the summary of the turns that are no longer in `rows`.
    pub(crate) fn summary(&self) -> Option<&Summary> {
        self.summary.as_ref()
    }

    /// Returns the origin of a summary of all turns up to and including `through`. The origin is `stranger` if the
    /// summary covers untrusted text, or if the model that writes it has read untrusted text.
    pub(crate) fn origin_of(&self, through: i64, is_tainted: bool) -> MessageOrigin {
        let is_strangers = |origin| origin == MessageOrigin::Stranger;
        let mut rows = self.older(through).iter();
        let covers = rows
            .any(|row| is_strangers(MessageOrigin::of(&row.origin)) || row.attachments.is_some());
        let before = self.summary.as_ref();
        if is_tainted || covers || before.is_some_and(|summary| is_strangers(summary.origin)) {
            MessageOrigin::Stranger
        } else {
            MessageOrigin::Model
        }
    }

    /// Returns the messages up to and including the turn `through`.
    pub(crate) fn older(&self, through: i64) -> &[ChatMessageRow] {
        self.rows.get(..self.end_of(through)).unwrap_or_default()
    }

    /// Replaces all turns up to and including `through` with a summary.
    pub(crate) fn summarise(&mut self, through: i64, summary: Summary) {
        self.rows.drain(..self.end_of(through));
        self.summary = Some(summary);
        self.has_gap = false;
    }

    /// Drops all turns up to and including `through` without a summary.
    pub(crate) fn forget(&mut self, through: i64) {
        self.rows.drain(..self.end_of(through));
        self.has_gap = true;
    }

    fn end_of(&self, turn: i64) -> usize {
        self.rows.partition_point(|row| row.turn_no <= turn)
    }
}

#[cfg(test)]
#[path = "context_tests.rs"]
mod tests;
