//! What happens in turns, for those who listen: each event with its name and params on the wire.

use crate::message::Message;
use gatehouse_domain::id::{ApprovalId, SessionId, TurnId};
use gatehouse_domain::{Problem, Timestamp, visible};
use gatehouse_models::Usage;
use schemars::JsonSchema;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;
use std::sync::Arc;

/// How many events a listener may be behind before it misses some.
pub(crate) const QUEUE: usize = 1024;

/// Something that happened. It serialises as the params of its event.
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
    /// `approval.requested`.
    ApprovalRequested(Arc<Approval>),
    /// `approval.resolved`.
    ApprovalResolved(Arc<Resolved>),
}

impl AgentEvent {
    /// Its name on the wire.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Delta(_) => "chat.delta",
            Self::Tool(_) => "chat.tool",
            Self::Message(_) => "chat.message",
            Self::Done(_) => "chat.done",
            Self::ApprovalRequested(_) => "approval.requested",
            Self::ApprovalResolved(_) => "approval.resolved",
        }
    }

    /// Whether it is for those who approve rather than for those who read.
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
            Self::ApprovalRequested(params) => params.as_ref().serialize(serializer),
            Self::ApprovalResolved(params) => params.as_ref().serialize(serializer),
        }
    }
}

/// A piece of an answer.
#[derive(Clone, Debug, serde::Serialize, JsonSchema)]
pub struct Delta {
    /// The session's id.
    pub session: SessionId,
    /// The turn's id.
    pub turn_id: TurnId,
    /// What comes next.
    pub text: String,
    /// Where in the present answer it begins, in UTF-16 units as JavaScript counts them.
    pub at: u64,
}

/// Where a tool call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ToolState {
    /// It waits for somebody's yes.
    Waiting,
    /// It runs.
    Running,
    /// The tool answered.
    Ok,
    /// It failed.
    Error,
    /// It was not allowed.
    Denied,
}

/// A tool call goes on.
#[derive(Clone, Debug, serde::Serialize, JsonSchema)]
pub struct ToolProgress {
    /// The session's id.
    pub session: SessionId,
    /// The turn's id.
    pub turn_id: TurnId,
    /// The call's id.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Where it is.
    pub state: ToolState,
    /// The beginning of what it gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// A turn ended.
#[derive(Clone, Debug, serde::Serialize, JsonSchema)]
pub struct Done {
    /// The session's id.
    pub session: SessionId,
    /// The turn's id.
    pub turn_id: TurnId,
    /// What its models read and wrote.
    pub usage: Usage,
    /// Why it did not come to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// Why its answer was not spoken although it was to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audio_error: Option<Failure>,
}

/// A problem as an event tells it: `{code, message}` and the extra fields of the code.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(with = "FailureShape")]
pub struct Failure(pub Problem);

#[derive(JsonSchema)]
#[schemars(rename = "Failure")]
#[expect(dead_code, reason = "only its schema is used")]
struct FailureShape {
    /// For programs.
    code: String,
    /// For people.
    message: String,
    /// The extra fields that belong to the code.
    #[schemars(flatten)]
    details: serde_json::Map<String, Value>,
}

impl Serialize for Failure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Problem {
            code,
            message,
            details,
        } = &self.0;
        let mut map = serializer.serialize_map(Some(2 + details.len()))?;
        map.serialize_entry("code", code.name())?;
        map.serialize_entry("message", message)?;
        for (name, value) in details {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// A tool call that waits for somebody's yes.
#[derive(Clone, Debug, PartialEq, serde::Serialize, JsonSchema)]
pub struct Approval {
    /// Its id.
    pub id: ApprovalId,
    /// The tool.
    pub tool: String,
    /// What it would be called with, exactly.
    pub arguments: Value,
    /// The same for the person who decides.
    pub shown: Shown,
    /// The session's id.
    pub session: SessionId,
    /// When it counts as denied.
    pub expires_at: Timestamp,
}

/// A tool call in which every character shows: those that hide or reorder text are escapes such as
/// `\u{202E}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, JsonSchema)]
#[schemars(rename = "ShownCall")]
pub struct Shown {
    /// The tool.
    pub tool: String,
    /// The arguments as JSON in lines.
    pub arguments: String,
    /// How many characters were escaped.
    pub hidden: usize,
}

impl Shown {
    /// What is shown of a call.
    pub fn of(tool: &str, arguments: &Value) -> Self {
        // Values have text keys: they can be written.
        let arguments = serde_json::to_string_pretty(arguments).unwrap_or_default();
        let (tool, arguments) = (visible::line(tool), visible::lines(&arguments));
        Self {
            hidden: tool.hidden + arguments.hidden,
            tool: tool.text.into_owned(),
            arguments: arguments.text.into_owned(),
        }
    }
}

/// Somebody said yes or no, or nobody did in time.
#[derive(Clone, Debug, serde::Serialize, JsonSchema)]
pub struct Resolved {
    /// Which.
    pub id: ApprovalId,
    /// The answer.
    pub allowed: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_domain::ErrorCode;
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
        let done = AgentEvent::Done(Arc::new(Done {
            session: session.clone(),
            turn_id,
            usage: Usage::default(),
            error: Some(Failure(problem)),
            audio_error: None,
        }));
        assert_eq!(
            params(&done),
            json!({ "session": "ses_1", "turn_id": "turn_1",
                "usage": { "input_tokens": 0, "output_tokens": 0 },
                "error": { "code": "NOT_CONFIGURED", "message": "No.", "what": "models" } })
        );
        let asked = AgentEvent::ApprovalRequested(Arc::new(Approval {
            id: ApprovalId::from_text("apr_1"),
            tool: "speak".to_owned(),
            arguments: json!({ "text": "x" }),
            shown: Shown::of("spe\u{ad}ak", &json!({ "text": "a\u{202e}b\nc" })),
            session,
            expires_at: Timestamp::from_millis(0),
        }));
        assert!(asked.is_for_approvers());
        assert_eq!(
            params(&asked),
            json!({ "id": "apr_1", "tool": "speak", "arguments": { "text": "x" },
                "shown": { "tool": "spe\\u{AD}ak", "hidden": 2,
                    "arguments": "{\n  \"text\": \"a\\u{202E}b\\nc\"\n}" },
                "session": "ses_1", "expires_at": "1970-01-01T00:00:00.000Z" })
        );
    }
}
