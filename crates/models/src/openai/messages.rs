//! Messages and tools in the OpenAI-compatible format.

use super::state;
use crate::chat::{ChatMessage, Picture, ToolCall, ToolChoice, ToolSpec};
use crate::schema::{Dialect, normalized};
use serde_json::{Value, json};

pub(super) fn message(said: &ChatMessage, has_state: bool) -> Value {
    match said {
        ChatMessage::User { text, pictures } if pictures.is_empty() => {
            json!({ "role": "user", "content": text })
        }
        ChatMessage::User { text, pictures } => {
            let text = (!text.is_empty()).then(|| json!({ "type": "text", "text": text }));
            let content: Vec<Value> = pictures.iter().map(picture).chain(text).collect();
            json!({ "role": "user", "content": content })
        }
        ChatMessage::Assistant {
            text,
            tool_calls,
            state,
        } => {
            let mut message = json!({ "role": "assistant", "content": text });
            if !tool_calls.is_empty() {
                let calls: Vec<Value> = tool_calls.iter().map(call).collect();
                let content = Some(text).filter(|text| !text.is_empty());
                message = json!({ "role": "assistant", "content": content, "tool_calls": calls });
            }
            if let Some(state) = state.as_ref().filter(|_| has_state) {
                state::restore(state, &mut message);
            }
            message
        }
        ChatMessage::Tool { call_id, text, .. } => {
            json!({ "role": "tool", "tool_call_id": call_id, "content": text })
        }
    }
}

/// Converts a picture. Source: <https://platform.openai.com/docs/guides/images-vision>. Compatible servers accept the
/// same form, including Gemini's <https://ai.google.dev/gemini-api/docs/openai>.
fn picture(picture: &Picture) -> Value {
    let url = format!("data:{};base64,{}", Picture::MEDIA_TYPE, picture.base64());
    json!({ "type": "image_url", "image_url": { "url": url } })
}

/// Converts a call. Arguments that are not JSON are sent as a string in an object, because a server whose template
/// parses them would fail otherwise.
pub(super) fn call(call: &ToolCall) -> Value {
    let arguments = match serde_json::from_str::<serde::de::IgnoredAny>(&call.arguments) {
        Ok(_) => call.arguments.clone(),
        Err(_) => json!({ "not_json": call.arguments }).to_string(),
    };
    json!({
        "id": call.id,
        "type": "function",
        "function": { "name": call.name, "arguments": arguments },
    })
}

pub(super) fn tool_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Required => "required".into(),
        ToolChoice::Tool(name) => json!({ "type": "function", "function": { "name": name } }),
    }
}

pub(super) fn tool(tool: &ToolSpec, dialect: Dialect) -> Value {
    let mut function = json!({
        "name": tool.name,
        "description": tool.description,
        "parameters": normalized(&tool.parameters, dialect),
    });
    if let (Some(true), Some(function)) = (tool.strict, function.as_object_mut()) {
        function.insert("strict".to_owned(), true.into());
    }
    json!({ "type": "function", "function": function })
}
