//! What goes to a model and what comes back, in no vendor's words.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a model is asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChatRequest {
    /// Instructions that stand before the conversation.
    pub system: Option<String>,
    /// The conversation, oldest first.
    pub messages: Vec<ChatMessage>,
    /// What the model may call.
    pub tools: Vec<ToolSpec>,
    /// How freely it chooses; the provider's own when absent.
    pub temperature: Option<f64>,
    /// How long its answer may be, in tokens; the provider's own limit when absent.
    pub max_tokens: Option<u32>,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub enum ChatMessage {
    /// A person, or what stands for one.
    User {
        /// What was said.
        text: String,
    },
    /// The model.
    Assistant {
        /// What it said; may be empty when it only called tools.
        text: String,
        /// What it called.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall>,
    },
    /// What a tool answered.
    Tool {
        /// The call that it answers.
        call_id: String,
        /// The tool.
        name: String,
        /// Its answer.
        text: String,
    },
}

/// A tool as the model called it. Nothing here has been checked: the tool may not exist, and the arguments
/// may not be JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id of this call, or one made here when it gave none.
    pub id: String,
    /// The tool.
    pub name: String,
    /// JSON text as the model wrote it; `{}` when it wrote nothing.
    pub arguments: String,
}

/// A tool as it is described to the model.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Its name. Both vendors take `[a-zA-Z0-9_-]{1,64}` only.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// JSON Schema of its arguments, an object.
    pub parameters: serde_json::Value,
}

/// What an answer cost, as the provider counts; zeros when it does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Tokens that were read, those from a cache included.
    pub input_tokens: u64,
    /// Tokens that were written.
    pub output_tokens: u64,
}

/// A piece of an answer. Exactly one `End` comes, and last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chunk {
    /// More text; never empty.
    Text(String),
    /// A whole call.
    ToolCall(ToolCall),
    /// The answer is complete.
    End {
        /// What it cost.
        usage: Usage,
        /// Why it ended.
        stop: StopReason,
    },
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It was said.
    End,
    /// The model waits for its tools.
    ToolUse,
    /// It reached the limit of tokens.
    Length,
    /// Something else, such as a content filter.
    Other,
}
