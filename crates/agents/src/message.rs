//! A message as callers see it, and as it is stored.

use gatehouse_domain::Timestamp;
use gatehouse_domain::id::{MessageId, SessionId, TurnId};
use gatehouse_models::{ToolCall, Usage};
use gatehouse_store::ChatMessageRow;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Gatehouse.
    System,
    /// Somebody, or a webhook.
    User,
    /// The agent.
    Assistant,
    /// A tool, to the agent.
    Tool,
}

impl Role {
    /// The word for it.
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

/// A call that an agent asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCallRecord {
    /// Its id, as the provider gave it.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The input, JSON text as the model wrote it.
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

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Message {
    /// Its id.
    pub id: MessageId,
    /// Its session's id.
    pub session: SessionId,
    /// Its turn's id.
    pub turn_id: TurnId,
    /// Who speaks.
    pub role: Role,
    /// The text.
    pub content: String,
    /// The calls that the agent asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<Vec<ToolCallRecord>>,
    /// Which call a tool answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Which tool answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What the model read and wrote for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Which model wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Its audio's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audio: Option<String>,
    /// When it was stored.
    pub created_at: Timestamp,
}

impl From<ChatMessageRow> for Message {
    fn from(row: ChatMessageRow) -> Self {
        let tool_calls = calls_of(&row);
        let tokens = |count: Option<i64>| count.and_then(|count| u64::try_from(count).ok());
        let usage = tokens(row.input_tokens).zip(tokens(row.output_tokens));
        Self {
            id: row.id,
            session: row.session_id,
            turn_id: row.turn_id,
            role: Role::of(&row.role),
            content: row.content,
            tool_calls: Some(tool_calls).filter(|calls| !calls.is_empty()),
            tool_call_id: row.tool_call_id,
            tool: row.tool_name,
            usage: usage.map(|(input_tokens, output_tokens)| Usage {
                input_tokens,
                output_tokens,
            }),
            model: row.model,
            audio: row.audio,
            created_at: row.created_at,
        }
    }
}

/// The calls that a stored message asks for. What cannot be read is as if it had not been asked.
pub(crate) fn calls_of(row: &ChatMessageRow) -> Vec<ToolCallRecord> {
    let stored = row.tool_calls.as_deref();
    stored
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default()
}

/// A text as both engines can store it: PostgreSQL has no NUL character.
pub(crate) fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}
