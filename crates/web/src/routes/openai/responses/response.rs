//! The response object and its items.

mod output;
mod usage;

use super::super::Origin;
use super::body::{ChoiceBody, ResponseBody, ToolBody};
use crate::respond::openai_error;
use futures_util::StreamExt;
use gatehouse_agents::{AnswerPiece, AnswerStream};
use gatehouse_domain::Problem;
use gatehouse_models::{StopReason, ToolCall, Usage};
pub(super) use output::{OutputItem, TextPart};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use usage::ResponseUsage;

/// The fields of every object of one response.
#[derive(Clone, Debug)]
pub(super) struct Head {
    /// The ID of the request.
    request: String,
    created_at: i64,
    pub(super) model: String,
    instructions: Option<String>,
    max_output_tokens: Option<u32>,
    tools: Vec<ToolBody>,
    tool_choice: Option<ChoiceBody>,
    parallel_tool_calls: bool,
}

impl Head {
    pub(super) fn of(origin: &Origin, body: &ResponseBody) -> Self {
        Self {
            request: origin.id.clone(),
            created_at: origin.created,
            model: body.model.clone(),
            instructions: body.instructions.clone(),
            max_output_tokens: body.max_output_tokens,
            tools: body.tools.clone().unwrap_or_default(),
            tool_choice: body.tool_choice.clone(),
            parallel_tool_calls: body.parallel_tool_calls.unwrap_or(true),
        }
    }

    /// Returns a message with this text, as the item with this index.
    pub(super) fn message(&self, index: usize, text: &str, status: &'static str) -> OutputItem {
        let part = (status != IN_PROGRESS).then(|| TextPart::of(text));
        OutputItem::Message {
            id: format!("msg_{}_{index}", self.request),
            status,
            role: "assistant",
            content: part.into_iter().collect(),
        }
    }

    /// Returns a call as the item with this index. It has no arguments while it is in progress.
    pub(super) fn call(&self, index: usize, call: &ToolCall, status: &'static str) -> OutputItem {
        let is_begun = status == IN_PROGRESS;
        OutputItem::FunctionCall {
            id: format!("fc_{}_{index}", self.request),
            call_id: call.id.clone(),
            name: call.name.clone(),
            arguments: if is_begun {
                String::new()
            } else {
                call.arguments.clone()
            },
            status,
        }
    }

    /// Returns the response at its beginning.
    pub(super) fn response(&self) -> ResponseObject {
        ResponseObject {
            id: format!("resp_{}", self.request),
            object: "response",
            created_at: self.created_at,
            status: IN_PROGRESS,
            error: None,
            incomplete_details: None,
            instructions: self.instructions.clone(),
            max_output_tokens: self.max_output_tokens,
            model: self.model.clone(),
            output: Vec::new(),
            parallel_tool_calls: self.parallel_tool_calls,
            previous_response_id: None,
            store: false,
            tool_choice: match &self.tool_choice {
                None => "auto".into(),
                Some(choice) => json!(choice),
            },
            tools: self.tools.iter().map(|tool| json!(tool)).collect(),
            usage: None,
        }
    }
}

pub(super) const IN_PROGRESS: &str = "in_progress";
pub(super) const COMPLETED: &str = "completed";
pub(super) const INCOMPLETE: &str = "incomplete";

/// A response.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(in crate::routes) struct ResponseObject {
    id: String,
    /// `response`
    object: &'static str,
    /// Unix time in seconds.
    created_at: i64,
    /// completed or incomplete; in events also `in_progress` or failed.
    pub(super) status: &'static str,
    /// Why it failed.
    error: Option<Value>,
    incomplete_details: Option<IncompleteDetails>,
    instructions: Option<String>,
    max_output_tokens: Option<u32>,
    /// As in the request.
    model: String,
    pub(super) output: Vec<OutputItem>,
    /// As in the request; true by default.
    parallel_tool_calls: bool,
    /// Always null.
    previous_response_id: Option<()>,
    /// Always false.
    store: bool,
    /// As in the request.
    tool_choice: Value,
    /// As in the request.
    tools: Vec<Value>,
    usage: Option<ResponseUsage>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
struct IncompleteDetails {
    /// `max_output_tokens` or `content_filter`.
    reason: &'static str,
}

/// Returns the status of an answer that ended.
pub(super) const fn status_of(stop: StopReason) -> &'static str {
    match stop {
        StopReason::End | StopReason::ToolUse => COMPLETED,
        StopReason::Length | StopReason::Refused | StopReason::Filtered => INCOMPLETE,
    }
}

/// The pieces of an answer that were received.
#[derive(Default)]
struct Collected {
    text: String,
    calls: Vec<ToolCall>,
    /// Whether the last piece was a call.
    ends_with_call: bool,
}

impl Collected {
    /// Returns the items of the answer. Only the item of the last piece can be incomplete, because all earlier items
    /// have ended.
    fn items(&self, head: &Head, stop: StopReason) -> Vec<OutputItem> {
        let (of_text, of_call) = if self.ends_with_call {
            (COMPLETED, status_of(stop))
        } else {
            (status_of(stop), COMPLETED)
        };
        let mut items = Vec::new();
        if !self.text.is_empty() || self.calls.is_empty() {
            items.push(head.message(0, &self.text, of_text));
        }
        for (number, call) in self.calls.iter().enumerate() {
            let is_last = number + 1 == self.calls.len();
            let status = if is_last { of_call } else { COMPLETED };
            items.push(head.call(items.len(), call, status));
        }
        items
    }
}

impl ResponseObject {
    /// Waits for the end of an answer.
    pub(super) async fn collect(head: Head, mut answer: AnswerStream) -> Result<Self, Problem> {
        let mut collected = Collected::default();
        while let Some(piece) = answer.next().await {
            match piece? {
                AnswerPiece::Text(more) => {
                    collected.text.push_str(&more);
                    collected.ends_with_call = false;
                }
                AnswerPiece::NextStep => collected.text.clear(),
                AnswerPiece::ToolCall(call) => {
                    collected.calls.push(call);
                    collected.ends_with_call = true;
                }
                AnswerPiece::End { usage, stop } => {
                    let mut response = head.response();
                    response.output = collected.items(&head, stop);
                    response.end(usage, stop);
                    return Ok(response);
                }
            }
        }
        Err(Problem::internal())
    }

    /// Marks the response as ended.
    pub(super) fn end(&mut self, usage: Usage, stop: StopReason) {
        self.status = status_of(stop);
        self.incomplete_details = match stop {
            StopReason::End | StopReason::ToolUse => None,
            StopReason::Length => Some("max_output_tokens"),
            StopReason::Refused | StopReason::Filtered => Some("content_filter"),
        }
        .map(|reason| IncompleteDetails { reason });
        self.usage = Some(usage.into());
    }

    /// Marks the response as failed.
    pub(super) fn fail(&mut self, problem: &Problem) {
        self.status = "failed";
        self.error = Some(openai_error(problem));
    }
}
