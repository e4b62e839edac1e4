//! The input and the results of a turn.

mod origin;

use crate::attached_file::NewAttachment;
use crate::speaker::SpeechOutput;
use crate::stop::Stop;
use gatehouse_domain::id::{SessionId, TurnId};
use gatehouse_domain::{Actor, Problem, Timestamp};
use gatehouse_models::Usage;
pub use origin::Origin;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

/// A message that precedes the text of a one-off request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EarlierMessage {
    User(String),
    /// An earlier answer of the model, as supplied by the caller.
    Assistant(String),
}

/// The session for a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A new session.
    New,
    /// An existing session, by ID or key.
    Existing(String),
    /// A webhook's session, which is created if the key is unknown.
    Keyed {
        key: String,
        /// The label of a newly created session.
        label: String,
    },
    /// The session of a person on a channel, which is created if the key is unknown.
    Person {
        key: String,
        /// The label of a newly created session.
        label: String,
    },
    /// A new session with these messages before the text. The session is deleted after the turn.
    OneOff(Vec<EarlierMessage>),
}

/// A text for an agent. It may be empty if there are attachments.
#[derive(Clone, Debug)]
pub struct SendRequest {
    pub session: Target,
    pub text: String,
    /// The ID of the audio, when the text was spoken.
    pub audio: Option<String>,
    /// The IDs of files of the session, which must exist.
    pub attachments: Vec<String>,
    /// Files to store with the text.
    pub new_files: Vec<NewAttachment>,
    /// The agent that answers this text and later ones. If absent, the session's own agent or
    /// `default` answers.
    pub agent: Option<String>,
    /// The model for this turn only.
    pub model: Option<String>,
    /// A turn of the session. It and all later turns are deleted first.
    pub replaces: Option<String>,
    /// A text that is added to the system prompt of this turn only.
    pub system_suffix: Option<String>,
    pub origin: Origin,
    pub actor: Actor,
    /// Stops the turn.
    pub cancel: CancellationToken,
    /// The output for spoken answers. If set, speech is neither stored in parts nor announced as events.
    pub speech: Option<SpeechOutput>,
}

impl SendRequest {
    /// Creates a chat text in a new session, with defaults for all other fields.
    pub fn new(text: impl Into<String>, actor: Actor) -> Self {
        Self {
            session: Target::New,
            text: text.into(),
            audio: None,
            attachments: Vec::new(),
            new_files: Vec::new(),
            agent: None,
            model: None,
            replaces: None,
            system_suffix: None,
            origin: Origin::Chat,
            actor,
            cancel: CancellationToken::new(),
            speech: None,
        }
    }
}

/// An accepted turn. It waits or runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Sent {
    /// The session's ID.
    pub session: SessionId,
    pub session_key: String,
    pub turn_id: TurnId,
    /// Number of earlier turns in the session; 0 runs now.
    pub position: usize,
}

/// How a tool call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ActionStatus {
    /// The tool succeeded.
    Ok,
    /// The tool failed, timed out, or could not be called with the model's input.
    Error,
    /// The tool may not be used here, or a person denied the call.
    Denied,
    /// No person answered in time whether the call may be made.
    Expired,
}

impl ActionStatus {
    /// Returns the serialized name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Denied => "denied",
            Self::Expired => "expired",
        }
    }

    /// Parses the stored name.
    pub(crate) fn of(word: &str) -> Option<Self> {
        [Self::Ok, Self::Error, Self::Denied, Self::Expired]
            .into_iter()
            .find(|status| status.as_str() == word)
    }
}

/// A tool call of a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Action {
    /// The tool's name as the model wrote it.
    pub tool: String,
    pub status: ActionStatus,
    pub at: Timestamp,
}

/// The result of a turn.
#[derive(Clone, Debug)]
pub struct TurnReport {
    pub session: SessionId,
    pub session_key: String,
    pub turn_id: TurnId,
    /// The agent's answer, or the partial answer of a turn that ended early.
    pub text: String,
    /// Why the answer ended.
    pub stop: Stop,
    /// Whether the last answer contains text. `text` may come from an earlier step.
    pub has_answer: bool,
    /// The ID of the answer's audio, if it was spoken.
    pub audio: Option<String>,
    /// Why the answer could not be spoken.
    pub audio_error: Option<Problem>,
    /// Tokens of all model calls in the turn.
    pub usage: Usage,
    /// The run time in milliseconds, without the wait in the lane.
    pub duration_ms: u64,
    pub actions: Vec<Action>,
    /// Why the turn failed or was stopped.
    pub error: Option<Problem>,
    /// Whether the turn was stopped, by a caller or by shutdown. False if it failed.
    pub cancelled: bool,
}
