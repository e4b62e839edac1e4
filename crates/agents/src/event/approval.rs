//! Events about tool calls that wait for approval.

use super::MAX_LABEL_CHARS;
use crate::session::Source;
use crate::taint::{AskReason, Effect};
use gatehouse_domain::{
    Timestamp,
    id::{ApprovalId, SessionId},
    visible,
};
use schemars::JsonSchema;
use serde_json::Value;

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
    /// Why the call waits.
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
    /// Returns the end of the session's ID, which distinguishes conversations with the same label.
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

/// The maximum length of a sender's name. The IDs of a person and a room on Matrix fit.
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

/// Returns the start of a text on one line, in which every character is visible.
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
    /// Whether a person answered. If not, the wait timed out, or the turn was stopped.
    #[serde(skip)]
    pub is_answered: bool,
}
