//! A conversation that may have outgrown its model: what of it is sent. Pure; asking a model for a summary
//! is `turn`'s.
//!
//! In this order, until it fits: tool output of older turns is shortened, then the running turn's; whole
//! older turns are left out, of which there is a summary then; at last only the newest text is left.

use crate::message::calls_of;
use crate::request::{self, Caps, shortened, tokens_in, tokens_of};
use gatehouse_models::ChatMessage;
use gatehouse_store::ChatMessageRow;

/// Characters of tool output, of older turns and of the running one, step by step.
const CAPS: [(usize, usize); 3] = [(usize::MAX, usize::MAX), (2_000, usize::MAX), (300, 16_000)];
/// The same when the running turn is alone.
const ALONE_CAPS: [usize; 3] = [16_000, 2_000, 300];
/// The most of a summary that is kept.
const MAX_SUMMARY_CHARACTERS: usize = 8_000;

/// What was said in a session, as far as the running turn has to know it.
#[derive(Debug)]
pub(crate) struct Conversation {
    summary: Option<String>,
    /// What the summary does not tell of, in order.
    rows: Vec<ChatMessageRow>,
    /// The number of the running turn.
    turn: i64,
    /// Something is neither in the rows nor in the summary.
    has_gap: bool,
}

/// What to send.
#[derive(Debug)]
pub(crate) struct Fitted {
    pub(crate) messages: Vec<ChatMessage>,
    /// About how long it is.
    pub(crate) tokens: u64,
    /// Turns up to and with this one are left out and have no summary yet.
    pub(crate) left_out: Option<i64>,
    /// There is no shorter way.
    pub(crate) is_least: bool,
}

impl Conversation {
    /// The rows of a session up to and with the running turn.
    pub(crate) fn new(
        summary: Option<String>,
        rows: Vec<ChatMessageRow>,
        turn: i64,
        has_gap: bool,
    ) -> Self {
        Self {
            summary,
            rows,
            turn,
            has_gap,
        }
    }

    /// Whether a tool has said something.
    pub(crate) fn has_tool_output(&self) -> bool {
        self.rows.iter().any(|row| row.role == "tool")
    }

    /// Something more was said.
    pub(crate) fn push(&mut self, row: ChatMessageRow) {
        self.rows.push(row);
    }

    /// The summary of what is not in the rows.
    pub(crate) fn summary(&self) -> Option<&str> {
        self.summary.as_deref()
    }

    /// What was said up to and with a turn.
    pub(crate) fn older(&self, through: i64) -> &[ChatMessageRow] {
        self.rows.get(..self.end_of(through)).unwrap_or_default()
    }

    /// A summary takes the place of everything up to and with a turn.
    pub(crate) fn summarise(&mut self, through: i64, summary: String) {
        self.rows.drain(..self.end_of(through));
        self.summary = Some(summary);
        self.has_gap = false;
    }

    /// Everything up to and with a turn is left out without a summary.
    pub(crate) fn forget(&mut self, through: i64) {
        self.rows.drain(..self.end_of(through));
        self.has_gap = true;
    }

    fn end_of(&self, turn: i64) -> usize {
        self.rows.partition_point(|row| row.turn_no <= turn)
    }

    /// What to send when it may have so many tokens; everything when nobody knows.
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

    /// The rows from a place on.
    fn shape(&self, start: usize, old: usize, current: usize) -> Fitted {
        let rows = self.rows.get(start..).unwrap_or_default();
        let caps = Caps {
            turn: self.turn,
            old,
            current,
        };
        self.fitted(request::messages(self.lead(), rows, caps), start)
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

    /// What stands in for what is not sent.
    fn lead(&self) -> Option<String> {
        let summary = self.summary.as_ref().map(|text| {
            let text = shortened(text, MAX_SUMMARY_CHARACTERS);
            format!("[Summary of the conversation before this point]\n{text}\n[End of the summary]")
        });
        let gap = "[Earlier messages were left out: they do not fit.]";
        match (summary, self.has_gap) {
            (Some(summary), true) => Some(format!("{summary}\n{gap}")),
            (Some(summary), false) => Some(summary),
            (None, true) => Some(gap.to_owned()),
            (None, false) => None,
        }
    }

    /// Where the newest turns begin that together have so many tokens, when these are more than the
    /// running one. Less than what would fit, so that not every turn has to leave out a little more.
    fn newest_within(&self, budget: u64) -> Option<usize> {
        let running = self.end_of(self.turn - 1);
        let mut room = budget.checked_sub(self.lead().as_deref().map_or(0, tokens_of))?;
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
        let cap = if row.turn_no < self.turn { 300 } else { 16_000 };
        let calls = row.tool_calls.as_deref().map_or(0, tokens_of);
        if row.role == "tool" {
            // The marks around it have about 20.
            tokens_of(&shortened(&row.content, cap)) + 20
        } else {
            tokens_of(&row.content) + calls
        }
    }

    /// The newest text, and the last calls of the running turn with their answers.
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
        self.fitted(request::messages(self.lead(), &rows, caps), start)
    }

    /// The newest text alone.
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
            ..self.fitted(request::messages(None, text, caps), start)
        }
    }
}

#[cfg(test)]
#[path = "context_tests.rs"]
mod tests;
