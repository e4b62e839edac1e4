//! The request body of chat completions. Unknown members are ignored.

mod tool;

use super::super::message::{self, Content, Conversation};
use gatehouse_domain::Problem;
use gatehouse_models::{ChatRequest, OpenaiOptions, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tool::{CallBody, ToolBody, tool};

/// The request body of `OpenAI`'s API. Unknown members are ignored. An agent keeps its own settings: `temperature`
/// and the like apply to `provider/model`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::routes) struct CompletionBody {
    /// `agent/<id>` or `provider/model`.
    pub(super) model: String,
    /// The conversation, oldest first. For an agent, the last message must be the user's.
    messages: Vec<MessageBody>,
    /// Whether the answer is sent as server-sent events.
    stream: Option<bool>,
    stream_options: Option<StreamOptions>,
    /// Tools that the caller runs itself; only for `provider/model`.
    tools: Option<Vec<ToolBody>>,
    /// `auto`, `none`, `required`, or a tool.
    tool_choice: Option<ChoiceBody>,
    /// 0 to 2.
    temperature: Option<f64>,
    /// 0 to 1.
    top_p: Option<f64>,
    /// The former name of `max_completion_tokens`.
    max_tokens: Option<u32>,
    /// The limit of the answer in tokens.
    max_completion_tokens: Option<u32>,
    /// The answer ends before the first of these texts; at most four.
    stop: Option<StopBody>,
    /// none, minimal, low, medium or high.
    reasoning_effort: Option<String>,
    /// Only 1 is supported.
    n: Option<u32>,
    /// Only `text` is supported.
    modalities: Option<Vec<String>>,
    /// `text`, `json_object` or `json_schema`; the last two only for models of OpenAI-compatible providers.
    response_format: Option<Value>,
    /// Whether the model may call several tools at once. This and the next three, unless they state the default, only
    /// for models of OpenAI-compatible providers.
    parallel_tool_calls: Option<bool>,
    seed: Option<i64>,
    /// -2 to 2.
    frequency_penalty: Option<f64>,
    /// -2 to 2.
    presence_penalty: Option<f64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct MessageBody {
    /// system, developer, user, assistant or tool.
    role: String,
    content: Option<Content>,
    /// The calls of an assistant's message.
    tool_calls: Option<Vec<CallBody>>,
    /// The call that a tool's message answers.
    tool_call_id: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct StreamOptions {
    /// Whether a last chunk contains the usage.
    include_usage: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum ChoiceBody {
    Word(String),
    Tool { function: NamedFunction },
}

#[derive(Debug, Deserialize, JsonSchema)]
struct NamedFunction {
    name: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum StopBody {
    One(String),
    Several(Vec<String>),
}

/// How the answer is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    Whole,
    Stream {
        /// Whether a last chunk contains the usage.
        with_usage: bool,
    },
}

impl CompletionBody {
    pub(super) fn shown(&self) -> Shown {
        if self.stream != Some(true) {
            return Shown::Whole;
        }
        let options = self.stream_options.as_ref();
        Shown::Stream {
            with_usage: options.and_then(|options| options.include_usage) == Some(true),
        }
    }

    /// Returns the request to the model.
    pub(super) fn read(self) -> Result<ChatRequest, Problem> {
        if self.n.is_some_and(|n| n != 1) {
            return Err(Problem::invalid_params("n", "only 1 is supported"));
        }
        if self.modalities.iter().flatten().any(|kind| kind != "text") {
            return Err(Problem::invalid_params(
                "modalities",
                "only text is supported",
            ));
        }
        let response_format = message::format(self.response_format, "response_format")?;
        let (system, messages) = conversation(self.messages)?;
        let tools = self.tools.unwrap_or_default().into_iter().map(tool);
        let mut tools: Vec<ToolSpec> = tools.collect::<Result<_, _>>()?;
        let (word, name) = match self.tool_choice {
            None => (None, None),
            Some(ChoiceBody::Word(word)) => (Some(word), None),
            Some(ChoiceBody::Tool { function }) => (None, Some(function.name)),
        };
        let tool_choice = message::choose(word.as_deref(), name, &mut tools)?;
        let stop = match self.stop {
            None => Vec::new(),
            Some(StopBody::One(text)) => vec![text],
            Some(StopBody::Several(texts)) => texts,
        };
        if stop.len() > 4 || stop.iter().any(String::is_empty) {
            let reason = "expected at most four texts that are not empty";
            return Err(Problem::invalid_params("stop", reason));
        }
        let penalty = |given, field| message::within(given, -2.0..=2.0, field);
        let openai = OpenaiOptions {
            parallel_tool_calls: self.parallel_tool_calls,
            seed: self.seed,
            frequency_penalty: penalty(self.frequency_penalty, "frequency_penalty")?,
            presence_penalty: penalty(self.presence_penalty, "presence_penalty")?,
        };
        Ok(ChatRequest {
            system,
            messages,
            tools,
            temperature: message::within(self.temperature, 0.0..=2.0, "temperature")?,
            max_tokens: self.max_completion_tokens.or(self.max_tokens),
            effort: message::effort(self.reasoning_effort.as_deref(), "reasoning_effort")?,
            tool_choice,
            top_p: message::within(self.top_p, 0.0..=1.0, "top_p")?,
            stop,
            response_format,
            openai,
        })
    }
}

type Read = (Option<String>, Vec<gatehouse_models::ChatMessage>);

fn conversation(messages: Vec<MessageBody>) -> Result<Read, Problem> {
    const FIELD: &str = "messages";
    if messages.is_empty() {
        return Err(Problem::invalid_params(FIELD, "at least one message"));
    }
    let mut read = Conversation::default();
    for message in messages {
        let content = message.content.map(|content| content.text(FIELD));
        let text = content.transpose()?.unwrap_or_default();
        match message.role.as_str() {
            "system" | "developer" => read.push_system(text),
            "user" => read.push_user(text),
            "assistant" => {
                let calls = message.tool_calls.unwrap_or_default().into_iter();
                read.push_assistant(text, calls.map(CallBody::into_call).collect());
            }
            "tool" => {
                let id = message.tool_call_id.unwrap_or_default();
                read.push_result(id, text, FIELD)?;
            }
            _ => {
                let reason = "roles are system, developer, user, assistant and tool";
                return Err(Problem::invalid_params(FIELD, reason));
            }
        }
    }
    Ok(read.finish())
}
