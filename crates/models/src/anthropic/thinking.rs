//! Anthropic's thinking: the requested amount, and the signed blocks that must be returned with tool results.
//!
//! Sources: <https://platform.claude.com/docs/en/build-with-claude/extended-thinking> ("Preserving thinking blocks",
//! "Thinking redaction", the budget is at least 1,024 tokens and less than `max_tokens`),
//! <https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking>,
//! <https://platform.claude.com/docs/en/build-with-claude/effort>.

use crate::chat::{ChatMessage, ReasoningEffort};
use crate::family::ChatCall;
use serde_json::{Map, Value, json};

/// The smallest budget that the vendor accepts.
const MIN_BUDGET: u32 = 1024;

/// Name prefixes of models that think within a budget. Newer models accept an effort instead, and decide how much to
/// think.
const WITH_BUDGET: &[&str] = &[
    "claude-3",
    "claude-haiku-4-5",
    "claude-opus-4-0",
    "claude-opus-4-1",
    "claude-opus-4-2",
    "claude-opus-4-5",
    "claude-sonnet-4-0",
    "claude-sonnet-4-2",
    "claude-sonnet-4-5",
];

/// The part of a request that enables thinking.
pub(super) struct Thinking {
    pub(super) max_tokens: u32,
    /// The fields. Empty if no thinking is requested.
    pub(super) fields: Map<String, Value>,
}

impl Thinking {
    /// Returns the thinking part of a request. `usual_max` is the limit of an answer if the caller
    /// sets none.
    pub(super) fn of(call: &ChatCall<'_>, usual_max: u32) -> Self {
        let given = call.request.max_tokens;
        let none = Self {
            max_tokens: given.unwrap_or(usual_max),
            fields: Map::new(),
        };
        let Some(effort) = call.effort() else {
            return none;
        };
        let has_budget = WITH_BUDGET.iter().any(|name| call.model.starts_with(name));
        if has_budget == call.learned.other_thinking {
            return Self::adaptive(effort, none.max_tokens);
        }
        let budget = match effort {
            ReasoningEffort::Minimal => MIN_BUDGET,
            ReasoningEffort::Low => 2048,
            ReasoningEffort::Medium => 8192,
            ReasoningEffort::High => 16_384,
        };
        // The budget is a part of the limit. The caller may have set the limit.
        let most = call.max_output.and_then(|most| u32::try_from(most).ok());
        let wanted = given.unwrap_or_else(|| usual_max.saturating_add(budget));
        let max_tokens = most.map_or(wanted, |most| wanted.min(most));
        let budget = budget.min(max_tokens.saturating_sub(1));
        if budget < MIN_BUDGET || lacks_blocks(&call.request.messages) {
            return none;
        }
        let thinking = json!({ "type": "enabled", "budget_tokens": budget });
        Self {
            max_tokens,
            fields: Map::from_iter([("thinking".to_owned(), thinking)]),
        }
    }

    fn adaptive(effort: ReasoningEffort, max_tokens: u32) -> Self {
        let effort = match effort {
            ReasoningEffort::Minimal | ReasoningEffort::Low => "low",
            ReasoningEffort::Medium => "medium",
            ReasoningEffort::High => "high",
        };
        Self {
            max_tokens,
            fields: Map::from_iter([
                ("thinking".to_owned(), json!({ "type": "adaptive" })),
                ("output_config".to_owned(), json!({ "effort": effort })),
            ]),
        }
    }
}

/// Returns whether the calls of the running turn came without thinking, for example after a change of the model. The
/// vendor then refuses thinking.
fn lacks_blocks(messages: &[ChatMessage]) -> bool {
    let is_user = |message: &ChatMessage| matches!(message, ChatMessage::User { .. });
    let turn = messages.iter().rposition(is_user).unwrap_or(0);
    let mut steps = messages.iter().skip(turn);
    steps.any(|message| match message {
        ChatMessage::Assistant {
            tool_calls, state, ..
        } => !tool_calls.is_empty() && state.as_ref().is_none_or(|s| s.get("blocks").is_none()),
        _ => false,
    })
}

/// Collects the thinking blocks of one answer, with their positions in it.
#[derive(Debug, Default)]
pub(super) struct BlockCollector {
    blocks: Vec<Value>,
}

/// A block that is being received.
#[derive(Debug)]
pub(super) struct OpenThinking {
    pub(super) index: u64,
    pub(super) text: String,
    pub(super) signature: String,
}

impl BlockCollector {
    /// Adds a block that came after `calls` calls, and after the text if `after_text`.
    pub(super) fn push(&mut self, block: &Value, after_text: bool, calls: usize) {
        let entry = json!({ "block": block, "after_text": after_text, "calls": calls });
        self.blocks.push(entry);
    }

    pub(super) fn finish(&mut self) -> Option<Value> {
        let blocks = std::mem::take(&mut self.blocks);
        (!blocks.is_empty()).then(|| json!({ "blocks": blocks }))
    }
}

/// Inserts the blocks at their positions among text and calls.
pub(super) fn restore(state: &Value, text: Option<Value>, calls: Vec<Value>) -> Vec<Value> {
    let blocks = state.get("blocks").and_then(Value::as_array);
    let mut rest = blocks.into_iter().flatten().peekable();
    let mut out = Vec::new();
    let mut take = |out: &mut Vec<Value>, with_text: bool, calls: usize| {
        let is_here = |entry: &&Value| {
            let at = entry.get("calls").and_then(Value::as_u64).unwrap_or(0);
            let after_text = entry.get("after_text").and_then(Value::as_bool);
            at <= calls as u64 && (with_text || after_text != Some(true))
        };
        while let Some(entry) = rest.next_if(is_here) {
            out.extend(entry.get("block").cloned());
        }
    };
    take(&mut out, false, 0);
    out.extend(text);
    for (number, call) in calls.into_iter().enumerate() {
        take(&mut out, true, number);
        out.push(call);
    }
    // A message must not end with thinking.
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_return_to_their_places() {
        let mut blocks = BlockCollector::default();
        let block = |name: &str| json!({ "type": "thinking", "thinking": name, "signature": name });
        blocks.push(&block("a"), false, 0);
        blocks.push(&block("b"), true, 0);
        blocks.push(&block("c"), true, 1);
        let state = blocks.finish().unwrap();
        let text = json!({ "type": "text", "text": "x" });
        let call = |id: &str| json!({ "type": "tool_use", "id": id });
        let restored = restore(&state, Some(text.clone()), vec![call("1"), call("2")]);
        let expected = [
            block("a"),
            text,
            block("b"),
            call("1"),
            block("c"),
            call("2"),
        ];
        assert_eq!(restored, expected);
        assert_eq!(BlockCollector::default().finish(), None);
    }
}
