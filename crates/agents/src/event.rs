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
mod tests {
    use super::*;
    use gatehouse_domain::{ErrorCode, Problem};
    use serde_json::json;

    fn params(event: &AgentEvent) -> Value {
        serde_json::to_value(event).unwrap()
    }

    #[test]
    fn events_are_as_the_contract_says() {
        let (session, turn_id) = (SessionId::from_text("ses_1"), TurnId::from_text("turn_1"));
        let delta = AgentEvent::Delta(Arc::new(Delta {
            session: session.clone(),
            turn_id: turn_id.clone(),
            text: "a".to_owned(),
            at: 3,
        }));
        assert_eq!(delta.name(), "chat.delta");
        assert_eq!(
            params(&delta),
            json!({ "session": "ses_1", "turn_id": "turn_1", "text": "a", "at": 3 })
        );
        let tool = AgentEvent::Tool(Arc::new(ToolProgress {
            session: session.clone(),
            turn_id: turn_id.clone(),
            id: "call_1".to_owned(),
            name: "calc".to_owned(),
            state: ToolState::Running,
            summary: None,
        }));
        assert_eq!(
            params(&tool),
            json!({ "session": "ses_1", "turn_id": "turn_1", "id": "call_1", "name": "calc",
                "state": "running" })
        );
        let problem = Problem::new(ErrorCode::NotConfigured, "No.").with("what", "models");
        let failure = Failure(problem.clone());
        let stored = serde_json::to_string(&failure).unwrap();
        assert_eq!(Failure::read(&stored), Some(failure));
        assert_eq!(Failure::read("{}"), None);
        let done = AgentEvent::Done(Arc::new(Done {
            session: session.clone(),
            turn_id,
            usage: Usage::default(),
            stop: Stop::Error,
            error: Some(Failure(problem)),
            answered: None,
        }));
        assert_eq!(
            params(&done),
            json!({ "session": "ses_1", "turn_id": "turn_1",
                "usage": { "input_tokens": 0, "output_tokens": 0 }, "stop": "error",
                "error": { "code": "NOT_CONFIGURED", "message": "No.", "what": "models" } })
        );
        let part = AgentEvent::Audio(Arc::new(AudioPart {
            session: session.clone(),
            message_id: MessageId::from_text("msg_1"),
            audio_id: Some("aud_1".to_owned()),
            part: 0,
            last: false,
            recording: None,
            error: None,
        }));
        assert_eq!(part.name(), "chat.audio");
        assert_eq!(
            params(&part),
            json!({ "session": "ses_1", "message_id": "msg_1", "audio_id": "aud_1", "part": 0,
                "last": false })
        );
    }

    #[test]
    fn a_request_for_approval_is_as_the_contract_says() {
        let asked = AgentEvent::ApprovalRequested(Arc::new(Approval {
            id: ApprovalId::from_text("apr_1"),
            agent: "default".to_owned(),
            tool: "speak".to_owned(),
            arguments: json!({ "text": "x" }),
            shown: Shown::of("spe\u{ad}ak", &json!({ "text": "a\u{202e}b\nc" })),
            reason: AskReason::Tainted,
            effect: Effect::Spend,
            session: SessionId::from_text("ses_1"),
            conversation: Some(AskingConversation::of(
                "a\u{202e}\nb",
                Source::Webhook,
                Some("Shop\u{ad}"),
            )),
            expires_at: Timestamp::from_millis(0),
        }));
        assert!(asked.is_for_approvers());
        assert_eq!(
            params(&asked),
            json!({ "id": "apr_1", "agent": "default", "tool": "speak", "arguments": { "text": "x" },
                "shown": { "tool": "spe\\u{AD}ak", "hidden": 2,
                    "arguments": "{\n  \"text\": \"a\\u{202E}b\\nc\"\n}" },
                "reason": "tainted", "effect": "spend", "session": "ses_1",
                "conversation": { "label": "a\\u{202E}\\u{A}b", "source": "webhook", "from": "Shop\\u{AD}" },
                "expires_at": "1970-01-01T00:00:00.000Z" })
        );
    }

    #[test]
    fn a_long_label_is_cut_before_it_is_escaped() {
        let label = |count| {
            let label = "\u{ad}".repeat(count);
            AskingConversation::of(&label, Source::User, None).label
        };
        assert_eq!(label(MAX_LABEL_CHARS), "\\u{AD}".repeat(MAX_LABEL_CHARS));
        let cut = format!("{}…", "\\u{AD}".repeat(MAX_LABEL_CHARS));
        assert_eq!(label(MAX_LABEL_CHARS + 1), cut);
    }
}
