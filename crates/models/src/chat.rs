//! Vendor-neutral request and response types.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A request to a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChatRequest {
    /// The system prompt.
    pub system: Option<String>,
    /// Oldest first.
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
}

/// Which tools a model must call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolChoice {
    /// At least one.
    Required,
    /// The tool with this name.
    Tool(String),
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
    /// The serialized name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub enum ChatMessage {
    /// A person, or a program in that role.
    User { text: String },
    Assistant {
        /// May be empty when there are tool calls.
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall>,
        /// The reasoning behind this message, as [`Chunk::State`] delivered it. Only for the provider and the
        /// model that wrote it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        state: Option<Value>,
    },
    /// The result of a tool call.
    Tool {
        /// The id of the call.
        call_id: String,
        /// The tool's name.
        name: String,
        text: String,
    },
}

/// A tool call as the model wrote it. Nothing is validated: the tool may not exist, and the arguments may not
/// be JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id of this call, or a generated one.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// JSON text as the model wrote it; `{}` when it wrote nothing.
    pub arguments: String,
}

/// A tool as it is described to the model.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Both vendors accept only `[a-zA-Z0-9_-]{1,64}`.
    pub name: String,
    pub description: String,
    /// JSON Schema of the arguments object.
    pub parameters: Value,
}

/// Token counts reported by the provider; zero when it reports none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Tokens that were read, including cached ones.
    pub input_tokens: u64,
    /// Tokens that were written, including those of reasoning.
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
    /// What the provider needs back with this message, so that the model can continue its reasoning after a
    /// tool call. At most one, before `End`. Its content is for the provider only.
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
