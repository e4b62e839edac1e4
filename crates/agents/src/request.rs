//! Converts stored messages to a model request that every provider accepts, even if a crash or a stop left them
//! incomplete. Marks tool output as data.

mod call_ids;
mod transcript;

use crate::files::{Files, Shown};
use crate::message::{ToolCallRecord, calls_of};
use crate::tokens::shortened;
use call_ids::CallIds;
use gatehouse_models::{ChatMessage, ToolCall};
use gatehouse_store::ChatMessageRow;
use std::collections::HashSet;
pub(crate) use transcript::transcript;

/// Limits on tool output, in characters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caps {
    /// The number of the running turn.
    pub(crate) turn: i64,
    /// The cap for earlier turns.
    pub(crate) old: usize,
    /// The cap for the running turn.
    pub(crate) current: usize,
}

impl Caps {
    fn of(self, row: &ChatMessageRow) -> usize {
        if self.is_current(row) {
            self.current
        } else {
            self.old
        }
    }

    fn is_current(self, row: &ChatMessageRow) -> bool {
        row.turn_no >= self.turn
    }
}

/// Returns the messages to send to a model, given as `provider/model`. Adds an answer to each unanswered call, which a
/// process or turn left when it ended early. Omits orphaned answers and empty messages. Joins consecutive user texts to
/// one message, because some providers require alternating roles.
pub(crate) fn messages(
    lead: Vec<ChatMessage>,
    rows: &[ChatMessageRow],
    caps: Caps,
    model: &str,
    files: &Files,
) -> Vec<ChatMessage> {
    let mut ids = CallIds {
        model,
        taken: HashSet::new(),
    };
    // Some providers need the reasoning of turns that called tools, even in later turns.
    let with_calls = |row: &&ChatMessageRow| row.tool_calls.is_some();
    let with_calls: HashSet<i64> = rows
        .iter()
        .filter(with_calls)
        .map(|row| row.turn_no)
        .collect();
    let mut messages = lead;
    messages.reserve(rows.len());
    let mut rest = rows.iter().peekable();
    while let Some(row) = rest.next() {
        match row.role.as_str() {
            "user" => {
                let shown = files.shown(row, caps.of(row), caps.is_current(row));
                push_user(&mut messages, &row.content, shown);
            }
            "assistant" => {
                let calls = calls_of(row);
                if calls.is_empty() && row.content.is_empty() {
                    continue;
                }
                let mut answers = Vec::new();
                while let Some(answer) = rest.next_if(|next| next.role == "tool") {
                    answers.push(answer);
                }
                let sent: Vec<String> = calls.iter().map(|call| ids.sent(row, &call.id)).collect();
                let named = calls.iter().cloned().zip(sent.iter().cloned());
                messages.push(ChatMessage::Assistant {
                    text: heard_text(row),
                    tool_calls: named.map(|(call, id)| sendable(call, id)).collect(),
                    state: state_of(row, model).filter(|_| with_calls.contains(&row.turn_no)),
                });
                answer_calls(&mut messages, calls.into_iter().zip(sent), &answers, caps);
                show_pictures(&mut messages, &answers, caps, files);
            }
            // A tool's answer whose call is missing, or a system note.
            _ => {}
        }
    }
    messages
}

/// Returns the text of an agent's message. For an interrupted message, this is only the part that the person heard,
/// because the next message responds to that part.
pub(crate) fn heard_text(row: &ChatMessageRow) -> String {
    match row.heard.as_deref() {
        None => row.content.clone(),
        Some("") => "[interrupted before anything was heard]".to_owned(),
        Some(heard) => format!("{heard} [interrupted: the rest was not heard]"),
    }
}

/// Returns the reasoning of a message. Other models cannot use it, and their providers would refuse
/// it.
fn state_of(row: &ChatMessageRow, model: &str) -> Option<serde_json::Value> {
    let state = row.reasoning_state.as_deref();
    let state = state.filter(|_| row.model.as_deref() == Some(model))?;
    serde_json::from_str(state).ok()
}

fn push_user(messages: &mut Vec<ChatMessage>, text: &str, files: Shown) {
    let text = format!("{}{text}", files.text);
    if let Some(ChatMessage::User {
        text: before,
        pictures,
    }) = messages.last_mut()
    {
        before.push_str("\n\n");
        before.push_str(&text);
        pictures.extend(files.pictures);
    } else {
        messages.push(ChatMessage::User {
            text,
            pictures: files.pictures,
        });
    }
}

fn answer_calls(
    messages: &mut Vec<ChatMessage>,
    calls: impl Iterator<Item = (ToolCallRecord, String)>,
    answers: &[&ChatMessageRow],
    caps: Caps,
) {
    for (call, call_id) in calls {
        let answer = answers
            .iter()
            .find(|row| row.tool_call_id.as_deref() == Some(&call.id));
        let text = match answer {
            Some(row) => marked(row, caps.of(row)),
            None => "The call was interrupted before the tool returned.".to_owned(),
        };
        messages.push(ChatMessage::Tool {
            call_id,
            name: sendable_name(&call.name),
            text,
        });
    }
}

/// Shows the pictures that tools returned, for models that read images. Not every provider accepts pictures in the
/// answer to a call, so they follow the answers.
fn show_pictures(
    messages: &mut Vec<ChatMessage>,
    answers: &[&ChatMessageRow],
    caps: Caps,
    files: &Files,
) {
    for row in answers {
        let shown = files.shown(row, caps.of(row), caps.is_current(row));
        if !shown.pictures.is_empty() {
            let name = sendable_name(row.tool_name.as_deref().unwrap_or_default());
            push_user(messages, &format!("[Returned by the tool {name}.]"), shown);
        }
    }
}

/// Makes a name acceptable to providers: `[a-zA-Z0-9_-]{1,64}`. The name may be invalid because a model called a tool
/// that does not exist.
fn sendable_name(name: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let name: String = name
        .chars()
        .map(|c| if allowed(c) { c } else { '_' })
        .take(64)
        .collect();
    if name.is_empty() {
        "unknown".to_owned()
    } else {
        name
    }
}

/// Makes a call acceptable to providers. They parse names and arguments, and would reject the whole conversation for an
/// invalid name or for arguments that are not an object.
fn sendable(call: ToolCallRecord, id: String) -> ToolCall {
    let mut call = ToolCall::from(ToolCallRecord { id, ..call });
    call.name = sendable_name(&call.name);
    let read = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&call.arguments);
    if read.is_err() {
        "{}".clone_into(&mut call.arguments);
    }
    call
}

/// Encloses a tool's output in marks that it cannot forge. The marks contain the ID of its message, which is generated
/// after the output.
fn marked(row: &ChatMessageRow, cap: usize) -> String {
    let id = &row.id;
    let text = shortened(&row.content, cap);
    format!("<tool_output id=\"{id}\">\n{text}\n</tool_output id=\"{id}\">")
}

#[cfg(test)]
#[path = "request_tests.rs"]
pub(crate) mod tests;
