//! Events of turns, with their names and parameters on the wire.

use crate::budget_values::BudgetWarning;
use crate::message::{Failure, Message};
use crate::session::Source;
use crate::stop::Stop;
use crate::taint::{AskReason, Effect};
use gatehouse_domain::id::{ApprovalId, MessageId, SessionId, TurnId};
use gatehouse_domain::{Timestamp, visible};
use gatehouse_models::Usage;
use schemars::JsonSchema;
use serde::ser::{Serialize, Serializer};
use serde_json::Value;
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
    /// The event name on the wire.
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

    /// Whether the event is meant for approvers instead of readers.
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
    /// For notifications. Not sent to sockets. Absent if the process of the turn has ended.
    #[serde(skip)]
    pub answered: Option<Answered>,
}

/// The end of a turn, for a notification of the client that asked.
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

/// A tool call that waits for approval.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, JsonSchema)]
pub struct Approval {
    pub id: ApprovalId,
    /// The ID of the agent that calls the tool.
    pub agent: String,
    /// The tool's name.
    pub tool: String,
    /// The exact input of the call.
    pub arguments: Value,
    /// The call in a form that is safe to display.
    pub shown: Shown,
    /// Why it waits.
    pub reason: AskReason,
    /// What the call does.
    pub effect: Effect,
    /// The session's ID.
    pub session: SessionId,
    /// Where the call comes from. Absent if the session was deleted, and in calls of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<AskingConversation>,
    /// The call expires after this time, and then does not run.
    pub expires_at: Timestamp,
}

impl Approval {
    /// The end of the session's ID, which distinguishes conversations with the same label.
    pub fn short_session(&self) -> &str {
        let id = self.session.as_str();
        let start = id.len().saturating_sub(SHORT_ID_BYTES);
        id.get(start..).unwrap_or(id)
    }
}

/// The session of a call that waits, in a form that is safe to display.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, JsonSchema)]
pub struct AskingConversation {
    /// The start of the session's label on one line. Characters that hide or reorder text are shown as escapes.
    pub label: String,
    /// What created the session.
    pub source: Source,
    /// The name of the webhook whose delivery the turn processes, or the channel and the vendor's ID of the person who
    /// writes, such as `telegram:42`. Escaped like the label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

/// Longer labels are cut.
const MAX_LABEL_CHARS: usize = 60;
/// Longer names of senders are cut. The IDs of a person and a room on Matrix fit.
const MAX_FROM_CHARS: usize = 160;
/// The length of the end of a session's ID.
const SHORT_ID_BYTES: usize = 6;

impl AskingConversation {
    pub(crate) fn of(label: &str, source: Source, from: Option<&str>) -> Self {
        Self {
            label: start_of(label, MAX_LABEL_CHARS),
            source,
            from: from.map(|from| start_of(from, MAX_FROM_CHARS)),
        }
    }
}

/// The start of a text on one line, in which every character is visible.
fn start_of(text: &str, max_chars: usize) -> String {
    let cut = text.char_indices().nth(max_chars);
    let (kept, end) = match cut.and_then(|(at, _)| text.get(..at)) {
        Some(kept) => (kept, "…"),
        None => (text, ""),
    };
    format!("{}{end}", visible::line(kept).text)
}

/// A tool call in which every character is visible: characters that hide or reorder text are shown as escapes
/// such as `\u{202E}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, JsonSchema)]
#[schemars(rename = "ShownCall")]
pub struct Shown {
    pub tool: String,
    /// The arguments as indented JSON.
    pub arguments: String,
    /// How many characters were escaped.
    pub hidden: usize,
}

impl Shown {
    /// Builds the displayed form of a call.
    pub fn of(tool: &str, arguments: &Value) -> Self {
        // Serialization cannot fail: the keys of a `Value` are strings.
        let arguments = serde_json::to_string_pretty(arguments).unwrap_or_default();
        let (tool, arguments) = (visible::line(tool), visible::lines(&arguments));
        Self {
            hidden: tool.hidden + arguments.hidden,
            tool: tool.text.into_owned(),
            arguments: arguments.text.into_owned(),
        }
    }
}

/// A call was approved or denied, or the wait timed out.
#[derive(Clone, Debug, serde::Serialize, JsonSchema)]
pub struct Resolved {
    /// The approval's ID.
    pub id: ApprovalId,
    pub allowed: bool,
    /// Whether a person answered. Otherwise the wait timed out, or the turn was stopped.
    #[serde(skip)]
    pub is_answered: bool,
}

#[cfg(test)]
mod tests;
