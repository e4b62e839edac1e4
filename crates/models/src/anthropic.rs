//! Anthropic Messages: encoding requests.
//!
//! Format: <https://platform.claude.com/docs/en/api/messages>, tools:
//! <https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use>, models:
//! <https://platform.claude.com/docs/en/api/models-list>.

mod cache;
mod stream;
mod thinking;

use crate::Limits;
use crate::chat::{ChatMessage, Picture, ToolCall, ToolChoice, ToolSpec};
use crate::decoder::Decoder;
use crate::family::{ChatCall, Family, secret_header};
use crate::history::paired;
use crate::listed::Listed;
use crate::schema::{Dialect, normalized};
use gatehouse_domain::ModelFacts;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

const VERSION: HeaderName = HeaderName::from_static("anthropic-version");
const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// Default for the required `max_tokens`. The oldest models reject more than 4096.
const MAX_TOKENS: u32 = 8192;
const MAX_TOKENS_OF_OLD_MODELS: u32 = 4096;

/// Placeholder: the vendor rejects empty text.
const NOTHING: &str = "(empty)";

/// The Anthropic Messages family.
#[derive(Debug)]
pub(crate) struct Anthropic;

impl Family for Anthropic {
    fn chat_path(&self) -> &'static [&'static str] {
        &["messages"]
    }

    fn chat_body(&self, call: &ChatCall<'_>) -> Value {
        let request = call.request;
        let mut body = Map::new();
        body.insert("model".to_owned(), call.model.into());
        let thinking = thinking::Thinking::of(call, max_tokens(call));
        body.insert("max_tokens".to_owned(), thinking.max_tokens.into());
        body.insert("stream".to_owned(), true.into());
        if let Some(system) = request.system.as_ref().filter(|text| !text.is_empty()) {
            body.insert("system".to_owned(), system.as_str().into());
        }
        let has_state = !call.learned.no_state;
        let messages = messages(&request.messages, has_state);
        body.insert("messages".to_owned(), messages);
        if !call.tools().is_empty() {
            let tools = call.tools().iter().map(tool).collect();
            body.insert("tools".to_owned(), tools);
            // Thinking does not allow a forced call.
            let choice = request.tool_choice.as_ref();
            if let Some(choice) = choice.filter(|_| thinking.fields.is_empty()) {
                body.insert("tool_choice".to_owned(), tool_choice(choice));
            }
        }
        // With thinking, the vendor refuses most values.
        if let Some(top_p) = request.top_p.filter(|_| thinking.fields.is_empty()) {
            body.insert("top_p".to_owned(), top_p.into());
        }
        if !request.stop.is_empty() {
            body.insert("stop_sequences".to_owned(), json!(request.stop));
        }
        if let Some(placeholders) = tools_of_history(call) {
            body.insert("tools".to_owned(), placeholders);
            body.insert("tool_choice".to_owned(), json!({ "type": "none" }));
        }
        // With thinking, only the default temperature is allowed.
        if let Some(temperature) = call.temperature().filter(|_| thinking.fields.is_empty()) {
            // This family accepts 0 to 1; the other accepts up to 2.
            let temperature = temperature.clamp(0.0, 1.0);
            body.insert("temperature".to_owned(), temperature.into());
        }
        body.extend(thinking.fields);
        cache::mark(&mut body);
        Value::Object(body)
    }

    fn headers(&self, key: Option<&str>) -> Option<HeaderMap> {
        let mut headers = HeaderMap::new();
        headers.insert(VERSION, HeaderValue::from_static("2023-06-01"));
        if let Some(key) = key {
            secret_header(&mut headers, API_KEY, key)?;
        }
        Some(headers)
    }

    fn list_query(&self) -> Option<&'static str> {
        Some("limit=1000")
    }

    fn listed(&self, entry: &Value) -> Option<Listed> {
        // https://platform.claude.com/docs/en/api/models/list: every capability is `{"supported": bool}`.
        let number = |path: &str| entry.pointer(path).and_then(Value::as_u64);
        let flag = |path: &str| entry.pointer(path).and_then(Value::as_bool);
        Some(Listed {
            name: entry.get("id")?.as_str()?.to_owned(),
            facts: ModelFacts {
                context: number("/max_input_tokens"),
                max_output: number("/max_tokens"),
                vision: flag("/capabilities/image_input/supported"),
                reasoning: flag("/capabilities/thinking/supported"),
                ..ModelFacts::default()
            },
        })
    }

    fn decoder(&self, limits: Limits) -> Box<dyn Decoder> {
        Box::new(stream::AnthropicDecoder::new(limits))
    }

    fn default_model(&self) -> &'static str {
        "claude-sonnet-4-5"
    }
}

fn tool_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Required => json!({ "type": "any" }),
        ToolChoice::Tool(name) => json!({ "type": "tool", "name": name }),
    }
}

fn max_tokens(call: &ChatCall<'_>) -> u32 {
    let old = ["claude-3-opus", "claude-3-sonnet", "claude-3-haiku"];
    let usual = if old.into_iter().any(|old| call.model.starts_with(old)) {
        MAX_TOKENS_OF_OLD_MODELS
    } else {
        MAX_TOKENS
    };
    let most = call.max_output.and_then(|most| u32::try_from(most).ok());
    most.map_or(usual, |most| usual.min(most))
}

/// Roles must alternate, starting with the user, and the results of all calls of one message must come
/// together at the start of the next.
fn messages(said: &[ChatMessage], has_state: bool) -> Value {
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

fn text(text: &str) -> Value {
    let text = if text.trim().is_empty() {
        NOTHING
    } else {
        text
    };
    json!({ "type": "text", "text": text })
}

/// Source: <https://platform.claude.com/docs/en/build-with-claude/vision>, which recommends pictures before the text.
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

fn blocks(message: &ChatMessage, has_state: bool) -> (&'static str, Vec<Value>) {
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

/// The vendor rejects calls and results in a request without tools. In that case this names the tools that
/// were called, and the request forbids calling them.
fn tools_of_history(call: &ChatCall<'_>) -> Option<Value> {
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

/// The vendor accepts only `[a-zA-Z0-9_-]+`; a conversation may contain IDs of another vendor.
fn id(given: &str) -> String {
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

fn call(call: &ToolCall) -> Value {
    let input = match serde_json::from_str(&call.arguments) {
        Ok(Value::Object(input)) => Value::Object(input),
        _ => json!({ "not_json": call.arguments }),
    };
    json!({ "type": "tool_use", "id": id(&call.id), "name": call.name, "input": input })
}

fn tool(tool: &ToolSpec) -> Value {
    json!({
        "name": tool.name,
        "description": tool.description,
        "input_schema": normalized(&tool.parameters, Dialect::Anthropic),
    })
}

#[cfg(test)]
mod tests;
