//! What it takes to begin a turn, and what is told of it afterwards.

use crate::policy::ToolPolicy;
use gatehouse_domain::id::{DeliveryId, SessionId, TurnId};
use gatehouse_domain::{Actor, Problem, Timestamp};
use gatehouse_models::Usage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

/// In which session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A new one.
    New,
    /// One that exists, by its id or its key.
    Existing(String),
    /// A webhook's: found by its key, or made.
    Keyed {
        /// The key.
        key: String,
        /// What to call it when it is made.
        label: String,
    },
}

/// Where the text is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Somebody who may change things here.
    Chat,
    /// A webhook. Its session is tainted from now on.
    Webhook {
        /// Which of the public tools the turn has; `None` means none.
        policy: Option<ToolPolicy>,
        /// The delivery.
        delivery: DeliveryId,
    },
}

/// A text for an agent.
#[derive(Clone, Debug)]
pub struct SendRequest {
    /// In which session.
    pub session: Target,
    /// The text.
    pub text: String,
    /// The id of the audio, when the text was spoken.
    pub audio: Option<String>,
    /// Which agent answers from now on; the session's own, or `default`, when absent.
    pub agent: Option<String>,
    /// Which model answers this once.
    pub model: Option<String>,
    /// What is added to the system prompt this once.
    pub system_suffix: Option<String>,
    /// Where the text is from.
    pub origin: Origin,
    /// Who sends it.
    pub actor: Actor,
    /// Ends the turn.
    pub cancel: CancellationToken,
}

impl SendRequest {
    /// A text in a new session, with everything else as usual.
    pub fn new(text: impl Into<String>, actor: Actor) -> Self {
        Self {
            session: Target::New,
            text: text.into(),
            audio: None,
            agent: None,
            model: None,
            system_suffix: None,
            origin: Origin::Chat,
            actor,
            cancel: CancellationToken::new(),
        }
    }
}

/// A turn that was accepted: it waits or runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Sent {
    /// The session's id.
    pub session: SessionId,
    /// Its key.
    pub session_key: String,
    /// The turn's id.
    pub turn_id: TurnId,
}

/// How a tool call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ActionStatus {
    /// The tool answered.
    Ok,
    /// It failed, took too long, or could not be called as the model wanted.
    Error,
    /// It may not be used here, or nobody approved it.
    Denied,
}

impl ActionStatus {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Denied => "denied",
        }
    }
}

/// A tool call of a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Action {
    /// The name that the model called.
    pub tool: String,
    /// How it ended.
    pub status: ActionStatus,
    /// When.
    pub at: Timestamp,
}

/// How a turn ended.
#[derive(Clone, Debug)]
pub struct TurnReport {
    /// The session's id.
    pub session: SessionId,
    /// Its key.
    pub session_key: String,
    /// The turn's id.
    pub turn_id: TurnId,
    /// The agent's answer; what it had said so far when the turn ended early.
    pub text: String,
    /// The id of the answer's audio, when it was spoken.
    pub audio: Option<String>,
    /// Why it was not spoken although it was to be.
    pub audio_error: Option<Problem>,
    /// Tokens of all calls of models in the turn.
    pub usage: Usage,
    /// How long it ran, without the time that it waited for its turn.
    pub duration_ms: u64,
    /// Every tool call.
    pub actions: Vec<Action>,
    /// Why it did not come to its end.
    pub error: Option<Problem>,
    /// Whether it was stopped, by somebody or because Gatehouse ends, rather than having failed.
    pub cancelled: bool,
}
