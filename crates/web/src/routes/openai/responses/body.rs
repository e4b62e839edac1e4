//! The request body of responses. Unknown members are ignored.

use super::super::message::{self, Content, Conversation};
use gatehouse_domain::Problem;
use gatehouse_models::{ChatMessage, ChatRequest, OpenaiOptions, ToolCall, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The request body of `OpenAI`'s API. Unknown members are ignored. An agent keeps its own settings: `temperature`
/// and the like apply to `provider/model`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::routes) struct ResponseBody {
    /// `agent/<id>` or `provider/model`.
    pub(super) model: String,
    /// The user's text, or the conversation, oldest first. For an agent, the last item must be the user's.
    input: Input,
    /// The system prompt.
    pub(super) instructions: Option<String>,
    /// Whether the answer is sent as server-sent events.
    stream: Option<bool>,
    /// Tools that the caller runs itself; only for `provider/model`.
    pub(super) tools: Option<Vec<ToolBody>>,
    /// `auto`, `none`, `required`, or a tool.
    pub(super) tool_choice: Option<ChoiceBody>,
    /// 0 to 2.
    temperature: Option<f64>,
    /// 0 to 1.
    top_p: Option<f64>,
    /// Whether the model may call several tools at once; false only for models of OpenAI-compatible providers.
    pub(super) parallel_tool_calls: Option<bool>,
    /// The limit of the answer in tokens.
    pub(super) max_output_tokens: Option<u32>,
    reasoning: Option<ReasoningBody>,
    /// The format of the answer.
    text: Option<TextBody>,
    /// Not supported, because responses are not kept.
    previous_response_id: Option<String>,
    /// Not supported.
    conversation: Option<Value>,
    /// Not supported.
    background: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Input {
    Text(String),
    Items(Vec<Item>),
}

/// An item of the conversation.
#[derive(Debug, Deserialize, JsonSchema)]
struct Item {
    /// `message` (the default), `function_call` or `function_call_output`; `reasoning` is ignored.
    #[serde(rename = "type")]
    kind: Option<String>,
    /// Only in a message: system, developer, user or assistant.
    role: Option<String>,
    /// Only in a message.
    content: Option<Content>,
    /// Only in a call and its output.
    call_id: Option<String>,
    /// Only in a call.
    name: Option<String>,
    /// Only in a call: JSON text.
    arguments: Option<String>,
    /// Only in the output of a call.
    output: Option<Content>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct ToolBody {
    /// Only `function` is supported.
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    name: String,
    description: Option<String>,
    /// JSON Schema of the arguments.
    parameters: Option<Value>,
    /// Whether the arguments must match the schema; true only for models of OpenAI-compatible providers.
    strict: Option<bool>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum ChoiceBody {
    Word(String),
    Tool {
        #[serde(rename = "type")]
        kind: String,
        name: String,
    },
}

#[derive(Debug, Deserialize, JsonSchema)]
struct ReasoningBody {
    /// none, minimal, low, medium or high.
    effort: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct TextBody {
    /// `text`, `json_object` or `json_schema`; the last two only for models of OpenAI-compatible providers.
    format: Option<Value>,
}

impl ResponseBody {
    pub(super) fn is_streamed(&self) -> bool {
        self.stream == Some(true)
    }

    /// Returns the request to the model.
    pub(super) fn read(self) -> Result<ChatRequest, Problem> {
        self.check_supported()?;
        let (system, messages) = conversation(self.instructions, self.input)?;
        let tools = self.tools.unwrap_or_default().into_iter().map(tool);
        let mut tools: Vec<ToolSpec> = tools.collect::<Result<_, _>>()?;
        let (word, name) = match self.tool_choice {
            None => (None, None),
            Some(ChoiceBody::Word(word)) => (Some(word), None),
            Some(ChoiceBody::Tool { name, .. }) => (None, Some(name)),
        };
        let tool_choice = message::choose(word.as_deref(), name, &mut tools)?;
        let format = self.text.and_then(|text| text.format);
        let format = message::format(format, "text")?;
        let effort = self.reasoning.and_then(|reasoning| reasoning.effort);
        Ok(ChatRequest {
            system,
            messages,
            tools,
            temperature: message::within(self.temperature, 0.0..=2.0, "temperature")?,
            max_tokens: self.max_output_tokens,
            effort: message::effort(effort.as_deref(), "reasoning")?,
            tool_choice,
            top_p: message::within(self.top_p, 0.0..=1.0, "top_p")?,
            response_format: format.map(nested),
            openai: OpenaiOptions {
                parallel_tool_calls: self.parallel_tool_calls,
                ..OpenaiOptions::default()
            },
            ..ChatRequest::default()
        })
    }

    fn check_supported(&self) -> Result<(), Problem> {
        let refuse = |field, reason: &str| Err(Problem::invalid_params(field, reason));
        if self.previous_response_id.is_some() {
            let reason = "responses are not kept; send the whole conversation as `input`";
            return refuse("previous_response_id", reason);
        }
        if self.conversation.is_some() {
            return refuse(
                "conversation",
                "not supported; send the messages as `input`",
            );
        }
        if self.background == Some(true) {
            return refuse("background", "not supported");
        }
        Ok(())
    }
}

const FIELD: &str = "input";

fn conversation(
    instructions: Option<String>,
    input: Input,
) -> Result<(Option<String>, Vec<ChatMessage>), Problem> {
    let mut read = Conversation::default();
    if let Some(instructions) = instructions {
        read.push_system(instructions);
    }
    match input {
        Input::Text(text) => read.push_user(text),
        Input::Items(items) if items.is_empty() => {
            return Err(Problem::invalid_params(FIELD, "at least one item"));
        }
        Input::Items(items) => {
            for item in items {
                item.add_to(&mut read)?;
            }
        }
    }
    Ok(read.finish())
}

impl Item {
    fn add_to(self, read: &mut Conversation) -> Result<(), Problem> {
        let text_of = |content: Option<Content>| {
            let text = content.map(|content| content.text(FIELD)).transpose();
            text.map(Option::unwrap_or_default)
        };
        match self.kind.as_deref().unwrap_or("message") {
            "message" => {
                let text = text_of(self.content)?;
                match self.role.as_deref().unwrap_or_default() {
                    "system" | "developer" => read.push_system(text),
                    "user" => read.push_user(text),
                    "assistant" => read.push_assistant(text, Vec::new()),
                    _ => {
                        let reason = "roles are system, developer, user and assistant";
                        return Err(Problem::invalid_params(FIELD, reason));
                    }
                }
            }
            "function_call" => {
                let call = ToolCall {
                    id: self.call_id.unwrap_or_default(),
                    name: self.name.unwrap_or_default(),
                    arguments: self.arguments.unwrap_or_else(|| "{}".to_owned()),
                };
                read.push_assistant(String::new(), vec![call]);
            }
            "function_call_output" => {
                let text = text_of(self.output)?;
                read.push_result(self.call_id.unwrap_or_default(), text, FIELD)?;
            }
            "reasoning" => {}
            _ => {
                let reason = "items are message, function_call, function_call_output and reasoning";
                return Err(Problem::invalid_params(FIELD, reason));
            }
        }
        Ok(())
    }
}

/// Converts a format to that of chat completions, which nest the schema in `json_schema`.
fn nested(mut format: Value) -> Value {
    match format.as_object_mut() {
        Some(members) if members.get("type") == Some(&json!("json_schema")) => {
            members.remove("type");
            json!({ "type": "json_schema", "json_schema": format })
        }
        _ => format,
    }
}

fn tool(tool: ToolBody) -> Result<ToolSpec, Problem> {
    if tool.kind != "function" {
        let reason = "only tools of the type `function` are supported";
        return Err(Problem::invalid_params("tools", reason));
    }
    message::tool_name(&tool.name)?;
    Ok(ToolSpec {
        name: tool.name,
        description: tool.description.unwrap_or_default(),
        parameters: tool
            .parameters
            .unwrap_or_else(|| json!({ "type": "object", "properties": {} })),
        strict: tool.strict,
    })
}
