//! Selects the part of a conversation that fits into the context of a model.

use super::{Conversation, Fitted};
use crate::message::calls_of;
use crate::request;
use crate::request::{Caps, heard_text};
use crate::tokens::{shortened, tokens_in, tokens_of};
use gatehouse_models::ChatMessage;
use gatehouse_store::ChatMessageRow;

/// Limits on tool output in characters, for older turns and for the running turn, step by step.
const CAPS: [(usize, usize); 3] = [(usize::MAX, usize::MAX), (2_000, usize::MAX), (300, 16_000)];

/// The caps that apply when all older turns are omitted.
const ALONE_CAPS: [usize; 3] = [16_000, 2_000, 300];

/// The maximum length of a summary when it is sent. Longer summaries are cut.
const MAX_SUMMARY_CHARACTERS: usize = 8_000;

impl Conversation {
    /// Returns the messages to send within `budget` tokens, or all messages if the budget is
    /// unknown.
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

    /// Returns the rows from `start` on, with these limits on tool output.
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

    /// Returns the messages that replace omitted turns. A summary is not the user's text, so it is sent as a message of
    /// the model. The marks around it contain the ID of a later message, so the summarized text cannot forge them.
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

    /// Returns the start of the newest turns that fit into `budget` together, or `None` if only the running turn fits.
    /// Callers pass a `budget` below the real limit, because otherwise each of the next turns would omit a little more.
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
            // The marks around the text take about 20 tokens.
            tokens_of(&shortened(&row.content, cap)) + 20 + self.files.tokens(row, cap, is_current)
        } else {
            tokens_of(&heard_text(row)) + calls + self.files.tokens(row, cap, is_current)
        }
    }

    /// Returns the newest text and the last calls of the running turn with their answers.
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

    /// Returns only the newest text.
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
