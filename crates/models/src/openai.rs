//! `OpenAI` chat completions and compatible APIs: encoding requests.
//!
//! Format: <https://platform.openai.com/docs/api-reference/chat/create>, models:
//! <https://platform.openai.com/docs/api-reference/models/list>.

mod entry_facts;
mod stream;

use crate::Limits;
use crate::chat::{ChatMessage, ToolCall, ToolSpec};
use crate::family::{ChatCall, Family, secret_header};
use crate::history::paired;
use crate::listing::Listed;
use crate::reply_reader::Decoder;
use reqwest::header::{AUTHORIZATION, HeaderMap};
use serde_json::{Map, Value, json};
use url::Url;

/// The OpenAI-compatible family.
#[derive(Debug)]
pub(crate) struct Openai;

impl Family for Openai {
    fn chat_path(&self) -> &'static [&'static str] {
        &["chat", "completions"]
    }

    fn chat_body(&self, call: &ChatCall<'_>) -> Value {
        let request = call.request;
        let mut body = Map::new();
        body.insert("model".to_owned(), call.model.into());
        body.insert("stream".to_owned(), true.into());
        if call.ask_usage {
            let options = json!({ "include_usage": true });
            body.insert("stream_options".to_owned(), options);
        }
        let system = request.system.iter().filter(|text| !text.is_empty());
        let system = system.map(|text| json!({ "role": "system", "content": text }));
        let messages = paired(&request.messages).into_iter();
        let messages: Value = system.chain(messages.map(|said| message(&said))).collect();
        body.insert("messages".to_owned(), messages);
        if !request.tools.is_empty() {
            let tools = request.tools.iter().map(tool).collect();
            body.insert("tools".to_owned(), tools);
        }
        if let Some(temperature) = request.temperature {
            body.insert("temperature".to_owned(), temperature.into());
        }
        if let Some(max_tokens) = request.max_tokens {
            body.insert(limit_name(call.base_url).to_owned(), max_tokens.into());
        }
        Value::Object(body)
    }

    fn headers(&self, key: Option<&str>) -> Option<HeaderMap> {
        let mut headers = HeaderMap::new();
        if let Some(key) = key {
            secret_header(&mut headers, AUTHORIZATION, &format!("Bearer {key}"))?;
        }
        Some(headers)
    }

    fn list_query(&self) -> Option<&'static str> {
        None
    }

    fn listed(&self, entry: &Value) -> Option<Listed> {
        Some(Listed {
            name: entry.get("id")?.as_str()?.to_owned(),
            facts: entry_facts::facts(entry),
        })
    }

    fn decoder(&self, limits: Limits) -> Box<dyn Decoder> {
        Box::new(stream::OpenaiDecoder::new(limits))
    }

    fn default_model(&self) -> &'static str {
        "gpt-4.1-mini"
    }
}

/// `OpenAI` renamed the limit, and its newer models reject the old name. Compatible servers know only the old
/// one.
fn limit_name(base_url: &Url) -> &'static str {
    if base_url.host_str() == Some("api.openai.com") {
        "max_completion_tokens"
    } else {
        "max_tokens"
    }
}

fn message(said: &ChatMessage) -> Value {
    match said {
        ChatMessage::User { text } => json!({ "role": "user", "content": text }),
        ChatMessage::Assistant { text, tool_calls } if tool_calls.is_empty() => {
            json!({ "role": "assistant", "content": text })
        }
        ChatMessage::Assistant { text, tool_calls } => {
            let calls: Vec<Value> = tool_calls.iter().map(call).collect();
            let content = Some(text).filter(|text| !text.is_empty());
            json!({ "role": "assistant", "content": content, "tool_calls": calls })
        }
        ChatMessage::Tool { call_id, text, .. } => {
            json!({ "role": "tool", "tool_call_id": call_id, "content": text })
        }
    }
}

/// Arguments that are not JSON are sent as a string in an object: servers whose template parses them would
/// fail otherwise.
fn call(call: &ToolCall) -> Value {
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

fn tool(tool: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_vendor_itself_knows_the_new_name_of_the_limit() {
        for (base, name) in [
            ("https://api.openai.com/v1", "max_completion_tokens"),
            ("http://127.0.0.1:11434/v1", "max_tokens"),
        ] {
            assert_eq!(limit_name(&Url::parse(base).unwrap()), name);
        }
    }

    #[test]
    fn an_entry_of_a_list_has_a_name() {
        assert!(Openai.listed(&json!({"id": 5})).is_none());
        assert!(Openai.listed(&json!([])).is_none());
    }
}
