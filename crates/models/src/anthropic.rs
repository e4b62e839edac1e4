//! Anthropic Messages: encoding requests.
//!
//! Format: <https://platform.claude.com/docs/en/api/messages>, tools:
//! <https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use>, models:
//! <https://platform.claude.com/docs/en/api/models-list>.

mod cache;
mod messages;
mod stream;
mod thinking;

use crate::Limits;
use crate::decoder::Decoder;
use crate::family::{ChatCall, Family, secret_header};
use crate::listed::Listed;
use gatehouse_domain::ModelFacts;
use messages::{messages, tool, tool_choice, tools_of_history};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value, json};

const VERSION: HeaderName = HeaderName::from_static("anthropic-version");
const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// The default for the required `max_tokens`. The oldest models reject more than 4096.
const MAX_TOKENS: u32 = 8192;
const MAX_TOKENS_OF_OLD_MODELS: u32 = 4096;

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
            // With thinking, the vendor does not allow a forced call.
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
            // This family accepts 0 to 1. The other family accepts up to 2.
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

#[cfg(test)]
mod tests;
