//! The `Tool` trait: name, schema, audience and call. Contains no particular tool; higher crates register theirs at
//! startup.

use crate::attached_file::NewAttachment;
use crate::taint::Effect;
use futures_util::future::BoxFuture;
use gatehouse_domain::Actor;
use gatehouse_domain::id::{SessionId, TurnId};
use serde_json::Value;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A tool's output is cut at this size.
pub const MAX_OUTPUT_BYTES: usize = 64 * 1024;

/// Which turns may use a tool.
///
/// Ordered by trust: a turn with the ceiling `Public` is offered only `Public` tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Audience {
    /// Safe for any caller, including text from an untrusted source.
    Public,
    /// Only for turns of a caller with write permission.
    Trusted,
}

/// The turn that calls a tool.
#[derive(Clone, Debug)]
pub struct ToolContext {
    pub session: SessionId,
    pub turn: TurnId,
    /// Who started the turn.
    pub actor: Actor,
    /// Which tools the turn may use.
    pub ceiling: Audience,
    /// Cancelled when the call ends. The call's future is dropped then; work that it started elsewhere must
    /// watch this.
    pub cancel: CancellationToken,
    /// Collects files that the tool returns besides the text.
    pub files: ReturnedFiles,
}

/// The files that a call returns. They are kept if it succeeds, count as a stranger's, and are private if the output of
/// the tool is ([`Tool::returns_private`]). Clones share them.
#[derive(Clone, Debug, Default)]
pub struct ReturnedFiles(Arc<Mutex<Vec<NewAttachment>>>);

impl ReturnedFiles {
    pub fn push(&self, file: NewAttachment) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(file);
    }

    pub fn take(&self) -> Vec<NewAttachment> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Why a call failed. The model, and possibly a stranger, reads the text: it must not contain secrets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    /// One sentence.
    pub message: String,
}

impl ToolError {
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
        }
    }
}

/// A tool that a model can call.
pub trait Tool: Send + Sync + fmt::Debug {
    /// 1 to 64 letters, digits, `_` and `-`, as providers require.
    fn name(&self) -> &str;

    /// A name that the tool had in an earlier version and that other tools may share. Entries that restrict
    /// (`deny`, `tools.require_approval`) also apply to this name; entries that allow do not.
    fn former_name(&self) -> Option<&str> {
        None
    }

    /// The description of the tool for the model.
    fn description(&self) -> &str;

    /// The JSON schema of the input object. Input is checked against it before each call.
    fn parameters(&self) -> Value;

    fn audience(&self) -> Audience;

    /// How long a call may take, capped at ten minutes.
    fn time_limit(&self) -> Duration {
        Duration::from_mins(1)
    }

    /// Whether the output or an error may contain text by a stranger. The first such text taints the session.
    fn reads_strangers(&self) -> bool {
        true
    }

    /// Whether the output of a call with this input may contain private data. If it does, later calls of the session
    /// that send data out can reveal it.
    fn returns_private(&self, _input: &Value) -> bool {
        true
    }

    /// Returns the effect of a call with this input. `has_private`: the session contains private data, so a call that
    /// sends its input out has the effect [`Effect::Reveal`].
    fn effect(&self, _input: &Value, _has_private: bool) -> Effect {
        Effect::Change
    }

    /// Returns the target of a call, as an entry of `tools.trust` names it.
    fn target(&self, _input: &Value) -> Option<String> {
        None
    }

    /// Whether the turn of a webhook may use this trusted tool. The webhook's policy must contain the exact name of the
    /// tool, and the webhook must name the target.
    fn serves_named_targets(&self) -> bool {
        false
    }

    /// The ID of the session audio that the output refers to. It is shown with the message.
    fn audio_of(&self, _output: &str) -> Option<String> {
        None
    }

    /// Runs the tool. The output is cut at [`MAX_OUTPUT_BYTES`] and shown to the model as data.
    fn call<'a>(
        &'a self,
        context: &'a ToolContext,
        input: Value,
    ) -> BoxFuture<'a, Result<String, ToolError>>;
}
