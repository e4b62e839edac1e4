//! Prints an answer while it is being written.

use crate::cli::output::{field, line, note, piece, warn};
use gatehouse_domain::visible;
use serde_json::Value;

/// The output of a turn since the last read.
#[derive(Debug, Default)]
pub struct News {
    /// The turn's new messages, in order.
    pub messages: Vec<Value>,
    /// The running turn of the conversation, with text that is not in the messages yet.
    pub running: Value,
}

/// The answer to one message.
pub struct Answer {
    turn: String,
    /// The ID of the newest message of the turn.
    newest: Option<String>,
    /// The text of its messages.
    stored: String,
    /// The text that was printed.
    shown: String,
    is_quiet: bool,
}

impl Answer {
    /// Creates an answer. With `is_quiet`, nothing is printed.
    pub const fn new(turn: String, is_quiet: bool) -> Self {
        Self {
            turn,
            newest: None,
            stored: String::new(),
            shown: String::new(),
            is_quiet,
        }
    }

    /// Returns the ID of the newest message that was added, or `None` before the first one.
    pub fn newest(&self) -> Option<&str> {
        self.newest.as_deref()
    }

    /// Takes the turn's own messages from a page.
    pub fn own(&self, page: &mut Value) -> Vec<Value> {
        let Some(Value::Array(messages)) = page.get_mut("messages").map(Value::take) else {
            return Vec::new();
        };
        let own = |message: &Value| field(message, "turn_id") == self.turn;
        messages.into_iter().filter(own).collect()
    }

    /// Prints new messages. Returns the last message after the turn has ended.
    pub fn add(&mut self, news: News) -> Option<Value> {
        for message in &news.messages {
            self.newest = Some(field(message, "id"));
            if field(message, "role") == "assistant" {
                let content = message.get("content").and_then(Value::as_str);
                append(&mut self.stored, content.unwrap_or_default());
            }
        }
        if !self.is_quiet {
            report_calls(&news.messages);
            let mut text = self.stored.clone();
            if field(&news.running, "turn_id") == self.turn {
                let running = news.running.get("text").and_then(Value::as_str);
                append(&mut text, running.unwrap_or_default());
            }
            self.print(&text);
        }
        let has_ended = |message: &Value| message.get("stop").is_some();
        let ended = news.messages.into_iter().find(has_ended)?;
        if !self.is_quiet {
            line("");
            report_stop(&ended);
        }
        Some(ended)
    }

    fn print(&mut self, text: &str) {
        // An answer is briefly absent between its last piece and its storage.
        if self.shown.starts_with(text) {
            return;
        }
        // If an attempt fails in the middle of an answer, a new answer begins.
        let new = text.strip_prefix(&self.shown).unwrap_or_else(|| {
            line("");
            text
        });
        piece(visible::lines(new).text);
        text.clone_into(&mut self.shown);
    }
}

/// Adds a part of the answer, with an empty line before it.
fn append(text: &mut String, part: &str) {
    if !text.is_empty() && !part.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(part);
}

fn report_calls(messages: &[Value]) {
    let calls = messages
        .iter()
        .filter_map(|message| message.get("tool_calls"))
        .filter_map(Value::as_array)
        .flatten();
    for call in calls {
        note(format!("[{}]", field(call, "name")));
    }
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

    fn message(id: &str, role: &str, content: &str) -> Value {
        json!({ "id": id, "turn_id": "t", "role": role, "content": content })
    }

    #[test]
    fn an_answer_is_its_messages_and_what_is_being_written() {
        let mut answer = Answer::new("t".to_owned(), false);
        let read = |messages: &[Value], turn: &str, text: &str| News {
            messages: messages.to_vec(),
            running: json!({ "turn_id": turn, "text": text }),
        };
        let stored = [
            message("m1", "user", "Hello"),
            message("m2", "assistant", "Let me look."),
            message("m3", "tool", "a page"),
        ];
        answer.add(read(&stored, "t", "It is"));
        assert_eq!(answer.shown, "Let me look.\n\nIt is");
        assert_eq!(answer.newest(), Some("m3"));
        let more = [message("m4", "assistant", "It is late.")];
        answer.add(read(&more, "another", "No"));
        assert_eq!(answer.shown, "Let me look.\n\nIt is late.");
        assert_eq!(answer.newest(), Some("m4"));
    }

    #[test]
    fn a_turn_ends_with_the_message_that_says_why() {
        let mut answer = Answer::new("t".to_owned(), true);
        let mut read = |messages: &[Value]| {
            let mut page = json!({ "messages": messages });
            let messages = answer.own(&mut page);
            answer.add(News {
                messages,
                running: Value::Null,
            })
        };
        assert_eq!(read(&[message("m1", "user", "?")]), None);
        let last = json!({ "turn_id": "t", "role": "assistant", "content": "!", "stop": "end" });
        let earlier = json!({ "turn_id": "s", "role": "assistant", "content": "-", "stop": "end" });
        assert_eq!(read(&[earlier, last.clone()]), Some(last));
    }
}
