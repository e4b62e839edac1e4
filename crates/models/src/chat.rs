//! Vendor-neutral request and response types.

mod tool;

use data_encoding::BASE64;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;
pub use tool::{ToolCall, ToolChoice, ToolSpec};

/// A request to a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChatRequest {
    /// The system prompt.
    pub system: Option<String>,
    /// The messages, oldest first.
    pub messages: Vec<ChatMessage>,
    /// The tools that the model may call.
    pub tools: Vec<ToolSpec>,
    /// Sampling temperature. When absent, the provider's default applies.
    pub temperature: Option<f64>,
    /// Limit on the answer in tokens. When absent, the provider's limit applies.
    pub max_tokens: Option<u32>,
    /// How much the model reasons before it answers. When absent, the provider's default applies.
    pub effort: Option<ReasoningEffort>,
    /// Which tools the model must call. When absent, the model decides.
    pub tool_choice: Option<ToolChoice>,
    /// Nucleus sampling. When absent, the provider's default applies.
    pub top_p: Option<f64>,
    /// The answer ends before the first of these texts.
    pub stop: Vec<String>,
    /// The format of the answer as in `OpenAI`'s chat completions. Other families ignore it.
    pub response_format: Option<Value>,
    pub openai: OpenaiOptions,
}

/// Options of `OpenAI`'s chat completions. When absent, the provider's default applies. `OpenAI`'s default is not sent,
/// because some compatible servers refuse these fields with any value. Other families ignore them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OpenaiOptions {
    /// Whether the model may call several tools at once.
    pub parallel_tool_calls: Option<bool>,
    /// Requests with the same seed get similar answers.
    pub seed: Option<i64>,
    /// -2 to 2.
    pub frequency_penalty: Option<f64>,
    /// -2 to 2.
    pub presence_penalty: Option<f64>,
}

impl ChatRequest {
    /// Returns the first option that has an effect only in the OpenAI-compatible family, by its name in `OpenAI`'s API.
    /// `strict` of tools is not included: some clients set it for every tool, and tolerate that it has no effect
    /// elsewhere.
    pub fn openai_option(&self) -> Option<&'static str> {
        let OpenaiOptions {
            parallel_tool_calls,
            seed,
            frequency_penalty,
            presence_penalty,
        } = self.openai;
        let is_penalty = |penalty: Option<f64>| penalty.is_some_and(|penalty| penalty != 0.0);
        let used = [
            ("response_format", self.response_format.is_some()),
            ("parallel_tool_calls", parallel_tool_calls == Some(false)),
            ("seed", seed.is_some()),
            ("frequency_penalty", is_penalty(frequency_penalty)),
            ("presence_penalty", is_penalty(presence_penalty)),
        ];
        let mut used = used.into_iter().filter(|(_, is_used)| *is_used);
        used.next().map(|(name, _)| name)
    }
}

/// How much a model reasons before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReasoningEffort {
    Minimal,
    Low,
    Medium,
    High,
}

impl ReasoningEffort {
    /// Returns the serialized name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// A JPEG image that a model is shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture(pub Arc<[u8]>);

impl Picture {
    /// The media type of every picture.
    pub(crate) const MEDIA_TYPE: &str = "image/jpeg";

    pub(crate) fn base64(&self) -> String {
        BASE64.encode(&self.0)
    }
}

impl fmt::Debug for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Picture({} bytes)", self.0.len())
    }
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChatMessage {
    /// A person, or a program in that role.
    User {
        text: String,
        /// Pictures, only for models that read images.
        pictures: Vec<Picture>,
    },
    Assistant {
        /// May be empty when there are tool calls.
        text: String,
        tool_calls: Vec<ToolCall>,
        /// The reasoning for this message, as [`Chunk::State`] delivered it. Only the provider and the model that wrote
        /// it can use it.
        state: Option<Value>,
    },
    /// The result of a tool call.
    Tool {
        call_id: String,
        /// The tool's name.
        name: String,
        text: String,
    },
}

impl ChatMessage {
    /// Creates a message with a user's text.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User {
            text: text.into(),
            pictures: Vec::new(),
        }
    }
}

/// Token counts reported by the provider; zero when it reports none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Tokens that were read, including cached ones.
    pub input_tokens: u64,
    /// Tokens of the output, including reasoning.
    pub output_tokens: u64,
    /// Input tokens that the provider read from its cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// Output tokens of reasoning.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning_tokens: u64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A piece of an answer. Exactly one `End` arrives, as the last chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chunk {
    /// More text; never empty.
    Text(String),
    /// More reasoning, which is not part of the answer; never empty.
    Reasoning(String),
    /// Data that the provider must receive again with this message to continue the model's reasoning after a tool call.
    /// At most one such chunk, before `End`. Only the provider interprets its content.
    State(Value),
    /// A complete call.
    ToolCall(ToolCall),
    /// The answer is complete.
    End { usage: Usage, stop: StopReason },
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The answer is complete.
    End,
    /// The model waits for tool results.
    ToolUse,
    /// The token limit or the context window was reached, so the answer is incomplete.
    Length,
    /// The model refused to answer.
    Refused,
    /// A content filter of the provider removed the answer or its end.
    Filtered,
}

#[cfg(test)]
mod tests;
