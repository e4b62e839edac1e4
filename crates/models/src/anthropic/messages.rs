//! Messages and tools in the format of Anthropic.

use super::thinking;
use crate::chat::{ChatMessage, Picture, ToolCall, ToolChoice, ToolSpec};
use crate::family::ChatCall;
use crate::history::paired;
use crate::schema::{Dialect, normalized};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A placeholder, because the vendor rejects empty text.
const NOTHING: &str = "(empty)";

pub(super) fn tool_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Required => json!({ "type": "any" }),
        ToolChoice::Tool(name) => json!({ "type": "tool", "name": name }),
    }
}

/// Converts the messages. Roles must alternate, starting with the user. The results of all calls of one message must
/// come together at the start of the next message.
pub(super) fn messages(said: &[ChatMessage], has_state: bool) -> Value {
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in paired(said) {
        let (role, blocks) = blocks(&message, has_state);
        if blocks.is_empty() {
            continue;
        }
        if turns.is_empty() && role == "assistant" {
            turns.push(("user", vec![text("(The beginning is not shown.)")]));
        }
        match turns.last_mut().filter(|(last, _)| *last == role) {
            Some((_, existing)) => existing.extend(blocks),
            None => turns.push((role, blocks)),
        }
    }
    let turn = |(role, content)| json!({ "role": role, "content": content });
    turns.into_iter().map(turn).collect()
}

pub(super) fn text(text: &str) -> Value {
    let text = if text.trim().is_empty() {
        NOTHING
    } else {
        text
    };
    json!({ "type": "text", "text": text })
}

/// Converts a picture. Source: <https://platform.claude.com/docs/en/build-with-claude/vision>, which recommends
/// pictures before the text.
fn picture(picture: &Picture) -> Value {
    json!({
        "type": "image",
        "source": {
            "type": "base64",
            "media_type": Picture::MEDIA_TYPE,
            "data": picture.base64(),
        },
    })
}

pub(super) fn blocks(message: &ChatMessage, has_state: bool) -> (&'static str, Vec<Value>) {
    match message {
        ChatMessage::User {
            text: said,
            pictures,
        } => {
            let said = (pictures.is_empty() || !said.trim().is_empty()).then(|| text(said));
            ("user", pictures.iter().map(picture).chain(said).collect())
        }
        ChatMessage::Assistant {
            text: said,
            tool_calls,
            state,
        } => {
            let said = Some(said.trim_end()).filter(|said| !said.is_empty());
            let (said, calls) = (said.map(text), tool_calls.iter().map(call));
            let state = state
                .as_ref()
                .filter(|_| has_state && !tool_calls.is_empty());
            let blocks = match state {
                Some(state) => thinking::restore(state, said, calls.collect()),
                None => said.into_iter().chain(calls).collect(),
            };
            ("assistant", blocks)
        }
        ChatMessage::Tool {
            call_id,
            text: said,
            ..
        } => {
            let id = id(call_id);
            let result = json!({ "type": "tool_result", "tool_use_id": id, "content": said });
            ("user", vec![result])
        }
    }
}

/// Returns tools for a request without tools whose messages contain calls or results, which the vendor would reject.
/// These are the tools that were called, and the request forbids calling them.
pub(super) fn tools_of_history(call: &ChatCall<'_>) -> Option<Value> {
    if !call.tools().is_empty() {
        return None;
    }
    let mut names = BTreeSet::new();
    for message in &call.request.messages {
        if let ChatMessage::Assistant { tool_calls, .. } = message {
            names.extend(tool_calls.iter().map(|call| call.name.as_str()));
        }
    }
    let placeholder = |name| {
        json!({
            "name": name,
            "description": "No longer available.",
            "input_schema": { "type": "object" },
        })
    };
    (!names.is_empty()).then(|| names.into_iter().map(placeholder).collect())
}

/// Returns an ID that the vendor accepts: `[a-zA-Z0-9_-]+`. A conversation may contain IDs of
/// another vendor.
pub(super) fn id(given: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let replaced: String = given
        .chars()
        .map(|c| if allowed(c) { c } else { '_' })
        .collect();
    if replaced.is_empty() {
        "_".to_owned()
    } else {
        replaced
    }
}

pub(super) fn call(call: &ToolCall) -> Value {
    let input = match serde_json::from_str(&call.arguments) {
        Ok(Value::Object(input)) => Value::Object(input),
        _ => json!({ "not_json": call.arguments }),
    };
    json!({ "type": "tool_use", "id": id(&call.id), "name": call.name, "input": input })
}

pub(super) fn tool(tool: &ToolSpec) -> Value {
    json!({
        "name": tool.name,
        "description": tool.description,
        "input_schema": normalized(&tool.parameters, Dialect::Anthropic),
    })
}
