//! Events of turns, with their names and parameters on the wire.

mod approval;

use crate::budget_values::BudgetWarning;
use crate::message::{Failure, Message};
use crate::stop::Stop;
pub use approval::{Approval, AskingConversation, Resolved, Shown};
use gatehouse_domain::id::{MessageId, SessionId, TurnId};
use gatehouse_models::Usage;
use schemars::JsonSchema;
use serde::ser::{Serialize, Serializer};
use std::sync::Arc;

/// How many events a listener may lag behind before it misses the oldest.
pub(crate) const QUEUE: usize = 1024;

/// An event. It serializes as the parameters of its wire event.
#[derive(Clone, Debug)]
pub enum AgentEvent {
    /// `chat.delta`.
    Delta(Arc<Delta>),
    /// `chat.tool`.
    Tool(Arc<ToolProgress>),
    /// `chat.message`.
    Message(Arc<Message>),
    /// `chat.done`.
    Done(Arc<Done>),
    /// `chat.audio`.
    Audio(Arc<AudioPart>),
    /// `approval.requested`.
    ApprovalRequested(Arc<Approval>),
    /// `approval.resolved`.
    ApprovalResolved(Arc<Resolved>),
    /// `budget.warning`.
    BudgetWarning(Arc<BudgetWarning>),
}

impl AgentEvent {
    /// Returns the event name on the wire.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Delta(_) => "chat.delta",
            Self::Tool(_) => "chat.tool",
            Self::Message(_) => "chat.message",
            Self::Done(_) => "chat.done",
            Self::Audio(_) => "chat.audio",
            Self::ApprovalRequested(_) => "approval.requested",
            Self::ApprovalResolved(_) => "approval.resolved",
            Self::BudgetWarning(_) => "budget.warning",
        }
    }

    /// Returns whether the event is meant for approvers instead of readers.
    pub const fn is_for_approvers(&self) -> bool {
        matches!(self, Self::ApprovalRequested(_) | Self::ApprovalResolved(_))
    }
}

impl Serialize for AgentEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Delta(params) => params.as_ref().serialize(serializer),
            Self::Tool(params) => params.as_ref().serialize(serializer),
            Self::Message(params) => params.as_ref().serialize(serializer),
            Self::Done(params) => params.as_ref().serialize(serializer),
            Self::Audio(params) => params.as_ref().serialize(serializer),
            Self::ApprovalRequested(params) => params.as_ref().serialize(serializer),
            Self::ApprovalResolved(params) => params.as_ref().serialize(serializer),
            Self::BudgetWarning(params) => params.as_ref().serialize(serializer),
        }
    }
}

/// A piece of an answer.
#[derive(Clone, Debug, serde::Serialize, JsonSchema)]
pub struct Delta {
    /// The session's ID.
    pub session: SessionId,
    pub turn_id: TurnId,
    /// The next piece of text.
    pub text: String,
    /// The offset of the text in the current answer, in UTF-16 code units (as JavaScript counts).
    pub at: u64,
}

/// The state of a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ToolState {
    /// The call waits for approval.
    Waiting,
    Running,
    /// The call succeeded.
    Ok,
    /// The call failed.
    Error,
    /// The call was not allowed.
    Denied,
    /// No person answered in time whether the call may be made.
    Expired,
}

/// Progress of a tool call.
#[derive(Clone, Debug, serde::Serialize, JsonSchema)]
pub struct ToolProgress {
    /// The session's ID.
    pub session: SessionId,
    pub turn_id: TurnId,
    /// The call's ID.
    pub id: String,
    /// The tool's name.
    pub name: String,
    pub state: ToolState,
    /// The start of the tool's output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// A turn ended.
#[derive(Clone, Debug, serde::Serialize, JsonSchema)]
pub struct Done {
    /// The session's ID.
    pub session: SessionId,
    pub turn_id: TurnId,
    /// The tokens that its models read and wrote.
    pub usage: Usage,
    /// Why the answer ended.
    pub stop: Stop,
    /// Why the turn failed or was stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// For notifications; not sent to sockets. Absent if the process of the turn has ended.
    #[serde(skip)]
    pub answered: Option<Answered>,
}

/// The end of a turn, for a notification to the client that sent the text.
#[derive(Clone, Debug)]
pub struct Answered {
    /// The caller that sent the text: the name of its [`gatehouse_domain::Actor`].
    pub caller: String,
    /// The beginning of the answer.
    pub text: String,
}

/// A part of a spoken answer. Parts follow each other without gaps in the text.
#[derive(Clone, Debug, serde::Serialize, JsonSchema)]
pub struct AudioPart {
    /// The session's ID.
    pub session: SessionId,
    /// The answer's ID. While the model still writes, its `chat.message` has not been sent yet.
    pub message_id: MessageId,
    /// The ID of the part's audio, for `GET /api/sessions/{id}/audio/{audio_id}`. Absent only if speech failed
    /// before its first part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audio_id: Option<String>,
    /// The number of the part, from 0. If nothing follows the last part that was sent, the last event repeats it.
    pub part: u32,
    /// Whether the speech has ended.
    pub last: bool,
    /// The audio of the whole answer, which is also the `audio` of its message. Only in the last event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recording: Option<String>,
    /// Why speech failed. Only in the last event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

/// The maximum length of a label.
const MAX_LABEL_CHARS: usize = 60;

#[cfg(test)]
mod tests;
