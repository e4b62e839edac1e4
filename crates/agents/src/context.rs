//! Fits a conversation into its model's context window. Pure; requesting a summary from a model belongs to
//! `turn`.
//!
//! It applies these steps in order until the conversation fits: shorten the tool output of older turns, then the output
//! of the running turn; leave out whole older turns, which a summary then replaces; finally keep only the newest text.

use crate::files::Files;
use crate::message::calls_of;
use crate::origin::MessageOrigin;
use crate::request::{self, Caps, heard_text};
use crate::tokens::{shortened, tokens_in, tokens_of};
use gatehouse_models::ChatMessage;
use gatehouse_store::ChatMessageRow;

/// Limits on tool output in characters, for older turns and for the running turn, step by step.
const CAPS: [(usize, usize); 3] = [(usize::MAX, usize::MAX), (2_000, usize::MAX), (300, 16_000)];
/// The caps that apply after all older turns have been left out.
const ALONE_CAPS: [usize; 3] = [16_000, 2_000, 300];
/// The summary is cut to this length when it is sent.
const MAX_SUMMARY_CHARACTERS: usize = 8_000;

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
    /// Some messages are neither in the rows nor in the summary.
    has_gap: bool,
}

/// The messages to send.
#[derive(Debug)]
pub(crate) struct Fitted {
    pub(crate) messages: Vec<ChatMessage>,
    /// Estimated size.
    pub(crate) tokens: u64,
    /// The number of the last turn that is left out and that no summary covers yet.
    pub(crate) left_out: Option<i64>,
    /// The messages cannot be shortened further.
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

    /// The summary of the turns that `rows` no longer contains.
    pub(crate) fn summary(&self) -> Option<&Summary> {
        self.summary.as_ref()
    }

    /// The origin of a summary of everything up to and including the turn `through`. The origin is `stranger` if the
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

    /// The messages up to and including the turn `through`.
    pub(crate) fn older(&self, through: i64) -> &[ChatMessageRow] {
        self.rows.get(..self.end_of(through)).unwrap_or_default()
    }

    /// Replaces everything up to and including the turn `through` with a summary.
    pub(crate) fn summarise(&mut self, through: i64, summary: Summary) {
        self.rows.drain(..self.end_of(through));
        self.summary = Some(summary);
        self.has_gap = false;
    }

    /// Drops everything up to and including the turn `through` without a summary.
    pub(crate) fn forget(&mut self, through: i64) {
        self.rows.drain(..self.end_of(through));
        self.has_gap = true;
    }

    fn end_of(&self, turn: i64) -> usize {
        self.rows.partition_point(|row| row.turn_no <= turn)
    }

    /// The messages to send within `budget` tokens; all of them when the budget is unknown.
    pub(crate) fn fit(&self, budget: Option<u64>) -> Fitted {
        let budget = budget.unwrap_or(u64::MAX);
        for (old, current) in CAPS {
            let whole = self.shape(0, old, current);
            if whole.tokens <= budget {
                return whole;
            }
        }
        if let Some(start) = self.newest_within(budget / 2) {
            return self.shape(start, 300, 16_000);
        }
        let start = self.end_of(self.turn - 1);
        for cap in ALONE_CAPS {
            let alone = self.shape(start, cap, cap);
            if alone.tokens <= budget {
                return alone;
            }
        }
        let last_step = self.last_step(start);
        if last_step.tokens <= budget {
            return last_step;
        }
        self.least(start)
    }

    /// The rows from `start` on, with these limits on tool output.
    fn shape(&self, start: usize, old: usize, current: usize) -> Fitted {
        let rows = self.rows.get(start..).unwrap_or_default();
        let caps = Caps {
            turn: self.turn,
            old,
            current,
        };
        self.fitted(self.messages(self.lead(), rows, caps), start)
    }

    fn messages(
        &self,
        lead: Vec<ChatMessage>,
        rows: &[ChatMessageRow],
        caps: Caps,
    ) -> Vec<ChatMessage> {
        request::messages(lead, rows, caps, &self.model, &self.files)
    }

    fn fitted(&self, messages: Vec<ChatMessage>, start: usize) -> Fitted {
        let before = start.checked_sub(1).and_then(|last| self.rows.get(last));
        Fitted {
            tokens: messages.iter().map(tokens_in).sum(),
            messages,
            left_out: before.map(|row| row.turn_no),
            is_least: false,
        }
    }

    /// The messages that replace omitted turns. A summary is not the user's text, so it is sent as a message of the
    /// model. The marks around it contain the ID of a later message, so the summarized text cannot forge them.
    fn lead(&self) -> Vec<ChatMessage> {
        let user = |text: &str| ChatMessage::user(text);
        let Some(summary) = &self.summary else {
            let gap = "[Earlier messages were left out: they do not fit.]";
            return self.has_gap.then(|| user(gap)).into_iter().collect();
        };
        let id = self.rows.first().map_or("", |row| row.id.as_str());
        let text = shortened(&summary.text, MAX_SUMMARY_CHARACTERS);
        let summary = ChatMessage::Assistant {
            text: format!("<summary id=\"{id}\">\n{text}\n</summary id=\"{id}\">"),
            tool_calls: Vec::new(),
            state: None,
        };
        let note = if self.has_gap {
            "[Earlier messages do not fit. A summary of the first ones follows; the rest was left out.]"
        } else {
            "[Earlier messages do not fit. A summary of them follows.]"
        };
        vec![user(note), summary]
    }

    /// Returns the start of the newest turns that together fit into `budget`; `None` if only the running turn fits.
    /// Callers pass a `budget` below the real limit, so that the next turns do not each omit a little more.
    fn newest_within(&self, budget: u64) -> Option<usize> {
        let running = self.end_of(self.turn - 1);
        let mut room = budget.checked_sub(self.lead().iter().map(tokens_in).sum())?;
        let mut start = None;
        let mut end = self.rows.len();
        while let Some(last) = end.checked_sub(1).and_then(|last| self.rows.get(last)) {
            let begin = self.end_of(last.turn_no - 1);
            let rows = self.rows.get(begin..end).unwrap_or_default();
            room = match room.checked_sub(rows.iter().map(|row| self.tokens_of_row(row)).sum()) {
                Some(room) => room,
                None => break,
            };
            start = Some(begin);
            end = begin;
        }
        start.filter(|&start| start < running && start > 0)
    }

    fn tokens_of_row(&self, row: &ChatMessageRow) -> u64 {
        let is_current = row.turn_no >= self.turn;
        let cap = if is_current { 16_000 } else { 300 };
        let calls = row.tool_calls.as_deref().map_or(0, tokens_of)
            + row.reasoning_state.as_deref().map_or(0, tokens_of);
        if row.role == "tool" {
            // The marks around it take about 20 tokens.
            tokens_of(&shortened(&row.content, cap)) + 20 + self.files.tokens(row, cap, is_current)
        } else {
            tokens_of(&heard_text(row)) + calls + self.files.tokens(row, cap, is_current)
        }
    }

    /// The newest text and the last calls of the running turn with their answers.
    fn last_step(&self, start: usize) -> Fitted {
        let rows = self.rows.get(start..).unwrap_or_default();
        let last = rows.iter().rposition(|row| !calls_of(row).is_empty());
        let text = rows.iter().take(1);
        let step = rows
            .iter()
            .skip(last.map_or(rows.len(), |last| last.max(1)));
        let rows: Vec<_> = text.chain(step).cloned().collect();
        let caps = Caps {
            turn: self.turn,
            old: 300,
            current: 300,
        };
        self.fitted(self.messages(self.lead(), &rows, caps), start)
    }

    /// Only the newest text.
    fn least(&self, start: usize) -> Fitted {
        let rows = self.rows.get(start..).unwrap_or_default();
        let caps = Caps {
            turn: self.turn,
            old: 0,
            current: 0,
        };
        let text = rows.get(..1).unwrap_or_default();
        Fitted {
            is_least: true,
            ..self.fitted(self.messages(Vec::new(), text, caps), start)
        }
    }
}

#[cfg(test)]
#[path = "context_tests.rs"]
mod tests;
