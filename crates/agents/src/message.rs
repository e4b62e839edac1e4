//! A message as callers see it, and its stored form.

mod failure;

use crate::attached_file::{Attachment, attachments_of};
use crate::origin::MessageOrigin;
use crate::send::ActionStatus;
use crate::stop::Stop;
pub use failure::Failure;
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::{DeliveryId, MessageId, SessionId, TurnId};
use gatehouse_models::{ToolCall, Usage};
use gatehouse_store::ChatMessageRow;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The gateway.
    System,
    /// A person or a webhook.
    User,
    Assistant,
    /// A tool, replying to the agent.
    Tool,
}

impl Role {
    /// Returns the stored and serialized name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }

    fn of(word: &str) -> Self {
        match word {
            "user" => Self::User,
            "assistant" => Self::Assistant,
            "tool" => Self::Tool,
            _ => Self::System,
        }
    }
}

/// A tool call that an agent requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCallRecord {
    /// Assigned by the provider.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The input: JSON text as the model wrote it.
    pub arguments: String,
}

impl From<ToolCall> for ToolCallRecord {
    fn from(call: ToolCall) -> Self {
        Self {
            id: call.id,
            name: call.name,
            arguments: call.arguments,
        }
    }
}

impl From<ToolCallRecord> for ToolCall {
    fn from(call: ToolCallRecord) -> Self {
        Self {
            id: call.id,
            name: call.name,
            arguments: call.arguments,
        }
    }
}

/// A message of a session.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Message {
    pub id: MessageId,
    /// The session's ID.
    pub session: SessionId,
    pub turn_id: TurnId,
    pub role: Role,
    /// Who wrote the message.
    pub origin: MessageOrigin,
    pub content: String,
    /// The calls that the agent requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<Vec<ToolCallRecord>>,
    /// The ID of the call that a tool replies to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The name of the tool that replies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// How the call ended that a tool replies to. Absent in messages of earlier versions, which did not store it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_status: Option<ActionStatus>,
    /// The model's reasoning before this message. Not a part of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// The tokens that the model read and wrote for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The model that wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The ID of its audio.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audio: Option<String>,
    /// The part that was spoken before the person interrupted it. The rest was not heard, and is not sent to the model
    /// again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heard: Option<String>,
    /// The files of a user message. A file that is no longer stored stays in the list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// The webhook delivery that brought a user message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_id: Option<DeliveryId>,
    /// Why the answer ended; only in the last message of a turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Stop>,
    /// Why the turn failed, if `stop` is `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    pub created_at: Timestamp,
}

impl From<ChatMessageRow> for Message {
    fn from(row: ChatMessageRow) -> Self {
        let tool_calls = calls_of(&row);
        let attachments = attachments_of(&row);
        let tokens = |count: Option<i64>| count.and_then(|count| u64::try_from(count).ok());
        let usage = tokens(row.input_tokens).zip(tokens(row.output_tokens));
        let part = |count: Option<i64>| tokens(count).unwrap_or_default();
        let (cached_tokens, reasoning_tokens) =
            (part(row.cached_tokens), part(row.reasoning_tokens));
        Self {
            id: row.id,
            session: row.session_id,
            turn_id: row.turn_id,
            role: Role::of(&row.role),
            origin: MessageOrigin::of(&row.origin),
            content: row.content,
            tool_calls: Some(tool_calls).filter(|calls| !calls.is_empty()),
            tool_call_id: row.tool_call_id,
            tool: row.tool_name,
            tool_status: row.tool_status.as_deref().and_then(ActionStatus::of),
            reasoning: row.reasoning,
            usage: usage.map(|(input_tokens, output_tokens)| Usage {
                input_tokens,
                output_tokens,
                cached_tokens,
                reasoning_tokens,
            }),
            model: row.model,
            audio: row.audio,
            heard: row.heard,
            attachments,
            // The column also identifies messages of channels.
            delivery_id: row.delivery_id.filter(|id| id.as_str().starts_with("del_")),
            stop: row.stop.as_deref().and_then(Stop::of),
            error: row.error.as_deref().and_then(Failure::read),
            created_at: row.created_at,
        }
    }
}

/// Returns the calls that a stored message requests. Unreadable calls are ignored.
pub(crate) fn calls_of(row: &ChatMessageRow) -> Vec<ToolCallRecord> {
    let stored = row.tool_calls.as_deref();
    stored
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default()
}

/// Replaces NUL characters, which PostgreSQL cannot store.
pub(crate) fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}
