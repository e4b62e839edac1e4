//! Tools that a model can call, and its calls.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Which tools a model must call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolChoice {
    /// At least one tool.
    Required,
    /// The tool with this name.
    Tool(String),
}

/// A tool call as the model wrote it. Nothing is validated: the tool may not exist, and the arguments may not
/// be JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's ID of this call, or a generated one.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as JSON text, as the model wrote them, or `{}` if it wrote none. Empty if the answer was cut off
    /// before the arguments.
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
    /// Whether the arguments must match the schema exactly. Only for the OpenAI-compatible family.
    pub strict: Option<bool>,
}
