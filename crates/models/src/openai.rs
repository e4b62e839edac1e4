//! `OpenAI` chat completions and compatible APIs: encoding requests.
//!
//! Format: <https://platform.openai.com/docs/api-reference/chat/create>, models:
//! <https://platform.openai.com/docs/api-reference/models/list>.

mod entry_facts;
mod messages;
mod state;
mod stream;

use crate::Limits;
use crate::chat::ChatMessage;
use crate::decoder::Decoder;
use crate::family::{ChatCall, Family, secret_header};
use crate::history::paired;
use crate::listed::Listed;
use crate::schema::Dialect;
use messages::{message, tool, tool_choice};
use reqwest::header::{AUTHORIZATION, HeaderMap};
use serde_json::{Map, Value, json};
use url::Url;

/// Prefixes of the names of Mistral's models.
const MISTRALS: [&str; 7] = [
    "mistral",
    "ministral",
    "magistral",
    "pixtral",
    "devstral",
    "codestral",
    "mixtral",
];

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
        if !call.learned.no_usage {
            let options = json!({ "include_usage": true });
            body.insert("stream_options".to_owned(), options);
        }
        let system = request.system.iter().filter(|text| !text.is_empty());
        let system = system.map(|text| json!({ "role": "system", "content": text }));
        let messages = bridged(call, paired(&request.messages)).into_iter();
        let has_state = !call.learned.no_state;
        let messages = messages.map(|said| message(&said, has_state));
        body.insert("messages".to_owned(), system.chain(messages).collect());
        if !call.tools().is_empty() {
            let dialect = dialect(call);
            let tools = call
                .tools()
                .iter()
                .map(|spec| tool(spec, dialect))
                .collect();
            body.insert("tools".to_owned(), tools);
            if let Some(choice) = &request.tool_choice {
                body.insert("tool_choice".to_owned(), tool_choice(choice));
            }
            if request.openai.parallel_tool_calls == Some(false) {
                body.insert("parallel_tool_calls".to_owned(), false.into());
            }
        }
        if let Some(seed) = request.openai.seed {
            body.insert("seed".to_owned(), seed.into());
        }
        for (name, penalty) in [
            ("frequency_penalty", request.openai.frequency_penalty),
            ("presence_penalty", request.openai.presence_penalty),
        ] {
            if let Some(penalty) = penalty.filter(|penalty| *penalty != 0.0) {
                body.insert(name.to_owned(), penalty.into());
            }
        }
        if let Some(top_p) = request.top_p {
            body.insert("top_p".to_owned(), top_p.into());
        }
        if let Some(format) = &request.response_format {
            body.insert("response_format".to_owned(), format.clone());
        }
        if !request.stop.is_empty() {
            body.insert("stop".to_owned(), json!(request.stop));
        }
        if let Some(temperature) = call.temperature() {
            body.insert("temperature".to_owned(), temperature.into());
        }
        if let Some(max_tokens) = request.max_tokens {
            let name = limit_name(call.base_url, call.learned.other_limit);
            body.insert(name.to_owned(), max_tokens.into());
        }
        if let Some(effort) = call.effort() {
            body.insert("reasoning_effort".to_owned(), effort.as_str().into());
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

/// Returns the name of the limit. `OpenAI` renamed it, and its newer models reject the old name. Compatible servers
/// support only the old name.
fn limit_name(base_url: &Url, is_other: bool) -> &'static str {
    let is_openai = base_url.host_str() == Some("api.openai.com");
    if is_openai ^ is_other {
        "max_completion_tokens"
    } else {
        "max_tokens"
    }
}

/// Returns the dialect of the model. Gemini's models refuse schemas that `OpenAI`'s models accept,
/// even behind a reseller.
fn dialect(call: &ChatCall<'_>) -> Dialect {
    let is_google = call.base_url.host_str() == Some("generativelanguage.googleapis.com");
    let model = call.model.rsplit('/').next().unwrap_or(call.model);
    if is_google || model.starts_with("gemini") {
        Dialect::Gemini
    } else {
        Dialect::Openai
    }
}

/// Inserts an answer between the result of a tool and a user's message, for Mistral's models, even behind a reseller.
/// Otherwise they refuse the conversation: "Unexpected role 'user' after role 'tool'" (code 3230,
/// <https://github.com/avante-corp/avante.nvim/issues/2562>).
fn bridged(call: &ChatCall<'_>, said: Vec<ChatMessage>) -> Vec<ChatMessage> {
    let model = call.model.rsplit('/').next().unwrap_or(call.model);
    let is_mistral = call.base_url.host_str() == Some("api.mistral.ai")
        || MISTRALS.iter().any(|family| model.starts_with(family));
    if !is_mistral {
        return said;
    }
    let mut bridged: Vec<ChatMessage> = Vec::with_capacity(said.len());
    for message in said {
        let is_user = matches!(message, ChatMessage::User { .. });
        if is_user && matches!(bridged.last(), Some(ChatMessage::Tool { .. })) {
            bridged.push(ChatMessage::Assistant {
                text: "OK.".to_owned(),
                tool_calls: Vec::new(),
                state: None,
            });
        }
        bridged.push(message);
    }
    bridged
}

#[cfg(test)]
mod tests;
