//! Prints an answer while it grows.

use crate::cli::output::{field, line, note, piece, warn};
use gatehouse_domain::visible;
use serde_json::Value;

/// The answer to one message.
pub struct Answer {
    turn: String,
    /// The text that was printed.
    shown: String,
    /// Number of tool calls that were reported.
    calls: usize,
    is_quiet: bool,
}

impl Answer {
    /// `is_quiet`: print nothing.
    pub const fn new(turn: String, is_quiet: bool) -> Self {
        Self {
            turn,
            shown: String::new(),
            calls: 0,
            is_quiet,
        }
    }

    /// Prints the new messages of a history. Returns the last message after the turn has ended.
    pub fn read(&mut self, history: &Value) -> Option<Value> {
        let messages = history.get("messages").and_then(Value::as_array);
        let own: Vec<&Value> = messages
            .into_iter()
            .flatten()
            .filter(|message| field(message, "turn_id") == self.turn)
            .collect();
        let text = text(&own, history.get("running"), &self.turn);
        let ended = own.iter().find(|message| message.get("stop").is_some());
        if !self.is_quiet {
            self.report_calls(&own);
            self.print(&text);
        }
        let ended = (*ended?).clone();
        if !self.is_quiet {
            line("");
            report_stop(&ended);
        }
        Some(ended)
    }

    fn report_calls(&mut self, own: &[&Value]) {
        let calls = own
            .iter()
            .filter_map(|message| message.get("tool_calls"))
            .filter_map(Value::as_array)
            .flatten();
        let calls: Vec<&Value> = calls.collect();
        for call in calls.iter().skip(self.calls) {
            note(format!("[{}]", field(call, "name")));
        }
        self.calls = calls.len();
    }

    fn print(&mut self, text: &str) {
        // Between its last piece and its storage, an answer is briefly absent.
        if self.shown.starts_with(text) {
            return;
        }
        // An attempt that failed in mid-answer starts again.
        let new = text.strip_prefix(&self.shown).unwrap_or_else(|| {
            line("");
            text
        });
        piece(visible::lines(new).text);
        text.clone_into(&mut self.shown);
    }
}

/// The answer so far: the stored messages of the agent, then the part that is being written.
fn text(own: &[&Value], running: Option<&Value>, turn: &str) -> String {
    let stored = own
        .iter()
        .filter(|message| field(message, "role") == "assistant")
        .filter_map(|message| message.get("content")?.as_str());
    let running = running
        .filter(|running| field(running, "turn_id") == turn)
        .and_then(|running| running.get("text")?.as_str());
    let parts: Vec<&str> = stored
        .chain(running)
        .filter(|part| !part.is_empty())
        .collect();
    parts.join("\n\n")
}

/// Describes why an answer is not complete.
fn report_stop(last: &Value) {
    let reason = match field(last, "stop").as_str() {
        "end" => return,
        "length" => "the model reached its limit",
        "refused" => "the model refused to answer",
        "filtered" => "a filter of the provider removed the answer or its end",
        "tool_limit" => "the turn used all its steps",
        "aborted" => "stopped",
        "interrupted" => "the server stopped before the answer was complete",
        _ => {
            let message = last.get("error").map(|error| field(error, "message"));
            return warn(message.unwrap_or_else(|| "the turn failed".to_owned()));
        }
    };
    warn(reason);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_answer_is_its_messages_and_what_is_being_written() {
        let message =
            |role: &str, content: &str| json!({ "turn_id": "t", "role": role, "content": content });
        let stored = [
            message("user", "Hello"),
            message("assistant", "Let me look."),
            message("tool", "a page"),
        ];
        let own: Vec<&Value> = stored.iter().collect();
        let running = json!({ "turn_id": "t", "text": "It is" });
        assert_eq!(text(&own, Some(&running), "t"), "Let me look.\n\nIt is");
        assert_eq!(text(&own, Some(&running), "another"), "Let me look.");
    }

    #[test]
    fn a_turn_ends_with_the_message_that_says_why() {
        let mut answer = Answer::new("t".to_owned(), true);
        let waiting = json!({ "messages": [{ "turn_id": "t", "role": "user", "content": "?" }] });
        assert_eq!(answer.read(&waiting), None);
        let last = json!({ "turn_id": "t", "role": "assistant", "content": "!", "stop": "end" });
        let earlier = json!({ "turn_id": "s", "role": "assistant", "content": "-", "stop": "end" });
        let ended = json!({ "messages": [earlier, last] });
        assert_eq!(answer.read(&ended), Some(last));
    }
}
