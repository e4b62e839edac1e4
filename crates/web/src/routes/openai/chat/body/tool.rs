//! Tools and calls in the body of a request.

use crate::routes::openai::message;
use gatehouse_domain::Problem;
use gatehouse_models::{ToolCall, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct CallBody {
    id: String,
    function: CalledFunction,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct CalledFunction {
    name: String,
    /// JSON text.
    arguments: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ToolBody {
    /// Only `function` is supported.
    #[serde(rename = "type")]
    kind: String,
    function: Option<FunctionBody>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct FunctionBody {
    name: String,
    description: Option<String>,
    /// JSON Schema of the arguments.
    parameters: Option<Value>,
    /// Whether the arguments must match the schema; true only for models of OpenAI-compatible providers.
    strict: Option<bool>,
}

impl CallBody {
    pub(super) fn into_call(self) -> ToolCall {
        ToolCall {
            id: self.id,
            name: self.function.name,
            arguments: self.function.arguments,
        }
    }
}

pub(super) fn tool(tool: ToolBody) -> Result<ToolSpec, Problem> {
    let function = tool.function.filter(|_| tool.kind == "function");
    let reason = "only tools of the type `function` are supported";
    let function = function.ok_or_else(|| Problem::invalid_params("tools", reason))?;
    message::tool_name(&function.name)?;
    Ok(ToolSpec {
        name: function.name,
        description: function.description.unwrap_or_default(),
        parameters: function
            .parameters
            .unwrap_or_else(|| json!({ "type": "object", "properties": {} })),
        strict: function.strict,
    })
}
