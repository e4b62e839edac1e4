//! The parts of a streamed response, as servers send them.

use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
pub(super) struct Frame {
    pub(super) choices: Option<Vec<Choice>>,
    pub(super) usage: Option<RawUsage>,
    pub(super) error: Option<Value>,
}

#[derive(Deserialize)]
pub(super) struct Choice {
    pub(super) index: Option<u64>,
    pub(super) delta: Option<Delta>,
    /// Replaces `delta` if the response is one document.
    pub(super) message: Option<Delta>,
    pub(super) finish_reason: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Delta {
    pub(super) content: Option<Content>,
    pub(super) refusal: Option<String>,
    pub(super) tool_calls: Option<Vec<CallDelta>>,
    /// `DeepSeek` and others.
    pub(super) reasoning_content: Option<String>,
    /// `OpenRouter`, Groq, Ollama, vLLM.
    pub(super) reasoning: Option<String>,
    /// `OpenRouter`.
    pub(super) reasoning_details: Option<Vec<Value>>,
    /// Gemini.
    pub(super) extra_content: Option<Value>,
}

/// Mistral's reasoning models send a list of parts.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Content {
    Text(String),
    Parts(Vec<Value>),
}

#[derive(Deserialize)]
pub(super) struct CallDelta {
    pub(super) index: Option<u64>,
    pub(super) id: Option<String>,
    pub(super) function: Option<FunctionDelta>,
    /// Gemini: contains the thought signature.
    pub(super) extra_content: Option<Value>,
}

#[derive(Deserialize)]
pub(super) struct FunctionDelta {
    pub(super) name: Option<String>,
    /// The arguments, usually a string. Some servers send the object itself.
    pub(super) arguments: Option<Value>,
}

#[derive(Deserialize)]
pub(super) struct RawUsage {
    pub(super) prompt_tokens: Option<u64>,
    pub(super) completion_tokens: Option<u64>,
    pub(super) prompt_tokens_details: Option<PromptDetails>,
    pub(super) completion_tokens_details: Option<CompletionDetails>,
    /// `DeepSeek`'s form of `cached_tokens` (<https://api-docs.deepseek.com/guides/kv_cache>).
    pub(super) prompt_cache_hit_tokens: Option<u64>,
}

#[derive(Deserialize)]
pub(super) struct PromptDetails {
    pub(super) cached_tokens: Option<u64>,
}

#[derive(Deserialize)]
pub(super) struct CompletionDetails {
    pub(super) reasoning_tokens: Option<u64>,
}
