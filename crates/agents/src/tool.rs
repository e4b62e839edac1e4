//! What a tool is: a name, a schema, an audience and a call. Knows no tool in particular; rooms above
//! register theirs at composition.

use futures_util::future::BoxFuture;
use gatehouse_domain::Actor;
use gatehouse_domain::id::{DeliveryId, SessionId, TurnId};
use serde_json::Value;
use std::fmt;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// For whom a tool is.
///
/// The order is that of trust: a turn with the ceiling `Public` is offered `Public` tools only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Audience {
    /// Harmless in anybody's hands, also in a text's that nobody vouches for.
    Public,
    /// Only for turns that somebody began who may change things here.
    Trusted,
}

/// In which turn a tool is called.
#[derive(Clone, Debug)]
pub struct ToolContext {
    /// The session.
    pub session: SessionId,
    /// The turn.
    pub turn: TurnId,
    /// Who began it.
    pub actor: Actor,
    /// The delivery that began it, when a webhook did.
    pub delivery: Option<DeliveryId>,
    /// Ends when the turn does. The call is dropped then; what it started elsewhere must watch this.
    pub cancel: CancellationToken,
}

/// Why a call gave nothing. The model reads it, and so may a stranger: never a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    /// A sentence.
    pub message: String,
}

impl ToolError {
    /// An error with this sentence.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
        }
    }
}

/// What a model may call.
pub trait Tool: Send + Sync + fmt::Debug {
    /// Its name: 1 to 64 letters, digits, `_` and `-`, as providers want it.
    fn name(&self) -> &str;

    /// A name that it had in an earlier version and that other tools may share. Entries that restrain it
    /// (`deny`, `tools.require_approval`) hold under this name as well; entries that allow it do not.
    fn former_name(&self) -> Option<&str> {
        None
    }

    /// What it does, for the model.
    fn description(&self) -> &str;

    /// The JSON schema of its input, an object. Input is checked against it before each call.
    fn parameters(&self) -> Value;

    /// For whom it is.
    fn audience(&self) -> Audience;

    /// How long a call may take; more than ten minutes are not granted.
    fn time_limit(&self) -> Duration {
        Duration::from_mins(1)
    }

    /// Whether what it gives may be text that a webhook brought. Its session is tainted with the first
    /// such output, and the rest of the turn has public tools only.
    fn brings_webhook_text(&self) -> bool {
        false
    }

    /// The id of audio of this session that its output speaks of: shown with the message.
    fn audio_of(&self, _output: &str) -> Option<String> {
        None
    }

    /// Does it. What comes back is cut at 64 KiB and shown to the model as data.
    fn call<'a>(
        &'a self,
        context: &'a ToolContext,
        input: Value,
    ) -> BoxFuture<'a, Result<String, ToolError>>;
}
