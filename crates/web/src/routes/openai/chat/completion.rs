//! The whole answer as one JSON object.

use super::Head;
use futures_util::StreamExt;
use gatehouse_agents::{AnswerPiece, AnswerStream};
use gatehouse_domain::Problem;
use gatehouse_models::{StopReason, ToolCall, Usage};
use schemars::JsonSchema;
use serde::Serialize;

/// A completion.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::routes) struct Completion {
    id: String,
    /// `chat.completion`
    object: &'static str,
    /// Unix time in seconds.
    created: i64,
    /// As in the request.
    model: String,
    /// The choices. There is exactly one.
    choices: Vec<Choice>,
    usage: CompletionUsage,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Choice {
    index: u32,
    message: CompletionMessage,
    /// Always null.
    logprobs: Option<()>,
    /// stop, length, `tool_calls` or `content_filter`.
    finish_reason: &'static str,
}

#[derive(Debug, Serialize, JsonSchema)]
struct CompletionMessage {
    /// `assistant`
    role: &'static str,
    /// Null when there are only calls.
    content: Option<String>,
    /// Always null.
    refusal: Option<()>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<CompletionCall>,
}

/// A call for the caller to make.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CompletionCall {
    id: String,
    /// `function`
    #[serde(rename = "type")]
    kind: &'static str,
    function: CompletionFunction,
}

#[derive(Debug, Serialize, JsonSchema)]
struct CompletionFunction {
    name: String,
    /// JSON text as the model wrote it.
    arguments: String,
}

impl From<ToolCall> for CompletionCall {
    fn from(call: ToolCall) -> Self {
        Self {
            id: call.id,
            kind: "function",
            function: CompletionFunction {
                name: call.name,
                arguments: call.arguments,
            },
        }
    }
}

/// Token counts. For an agent, the sum of all its model calls.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CompletionUsage {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
    prompt_tokens_details: PromptDetails,
    completion_tokens_details: CompletionDetails,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PromptDetails {
    cached_tokens: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct CompletionDetails {
    reasoning_tokens: u64,
}

impl From<Usage> for CompletionUsage {
    fn from(usage: Usage) -> Self {
        Self {
            prompt_tokens: usage.input_tokens,
            completion_tokens: usage.output_tokens,
            total_tokens: usage.input_tokens.saturating_add(usage.output_tokens),
            prompt_tokens_details: PromptDetails {
                cached_tokens: usage.cached_tokens,
            },
            completion_tokens_details: CompletionDetails {
                reasoning_tokens: usage.reasoning_tokens,
            },
        }
    }
}

/// Returns the finish reason. `has_calls`: the answer contains calls.
pub(super) const fn finish_reason(stop: StopReason, has_calls: bool) -> &'static str {
    match stop {
        StopReason::Length => "length",
        StopReason::Refused | StopReason::Filtered => "content_filter",
        StopReason::End | StopReason::ToolUse if has_calls => "tool_calls",
        StopReason::End | StopReason::ToolUse => "stop",
    }
}

impl Completion {
    /// Waits for the end of an answer.
    pub(super) async fn collect(head: Head, mut answer: AnswerStream) -> Result<Self, Problem> {
        let (mut text, mut calls) = (String::new(), Vec::new());
        while let Some(piece) = answer.next().await {
            match piece? {
                AnswerPiece::Text(more) => text.push_str(&more),
                AnswerPiece::NextStep => text.clear(),
                AnswerPiece::ToolCall(call) => calls.push(CompletionCall::from(call)),
                AnswerPiece::End { usage, stop } => {
                    return Ok(Self::of(head, text, calls, (usage, stop)));
                }
            }
        }
        Err(Problem::internal())
    }

    fn of(
        head: Head,
        text: String,
        tool_calls: Vec<CompletionCall>,
        (usage, stop): (Usage, StopReason),
    ) -> Self {
        let has_calls = !tool_calls.is_empty();
        let message = CompletionMessage {
            role: "assistant",
            content: Some(text).filter(|text| !text.is_empty() || !has_calls),
            refusal: None,
            tool_calls,
        };
        Self {
            id: head.id,
            object: "chat.completion",
            created: head.created,
            model: head.model,
            choices: vec![Choice {
                index: 0,
                message,
                logprobs: None,
                finish_reason: finish_reason(stop, has_calls),
            }],
            usage: usage.into(),
        }
    }
}
