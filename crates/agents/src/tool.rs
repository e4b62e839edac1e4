//! The `Tool` trait: name, schema, audience and call. Contains no particular tool; higher crates register their tools
//! at startup.

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

/// The turns that may use a tool.
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
    /// The actor that started the turn.
    pub actor: Actor,
    /// Which tools the turn may use.
    pub ceiling: Audience,
    /// Canceled when the call ends. The call's future is then dropped. Work that the tool started elsewhere must watch
    /// this token.
    pub cancel: CancellationToken,
    /// Collects files that the tool returns besides the text.
    pub files: ReturnedFiles,
}

/// The files that a call returns. They are kept if the call succeeds. They count as untrusted, and are private if the
/// output of the tool is private ([`Tool::returns_private`]). Clones share the same files.
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

/// Why a call failed. The model and possibly an unauthenticated person read the text, so it must not contain secrets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    /// The reason, in one sentence.
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
    /// Returns the name: 1 to 64 letters, digits, `_` and `-`, as providers require.
    fn name(&self) -> &str;

    /// Returns a name that the tool had in an earlier version. Other tools may have the same former name. Entries that
    /// restrict tools (`deny`, `tools.require_approval`) also apply to this name. Entries that allow tools do not.
    fn former_name(&self) -> Option<&str> {
        None
    }

    /// Returns the description of the tool for the model.
    fn description(&self) -> &str;

    /// Returns the JSON schema of the input object. Input is checked against it before each call.
    fn parameters(&self) -> Value;

    fn audience(&self) -> Audience;

    /// Returns how long a call may take, capped at ten minutes.
    fn time_limit(&self) -> Duration {
        Duration::from_mins(1)
    }

    /// Returns whether the output or an error may contain untrusted text. The first such text taints the session.
    fn reads_strangers(&self) -> bool {
        true
    }

    /// Returns whether the output of a call with this input may contain private data. If so, later calls of the session
    /// that send data out can reveal it.
    fn returns_private(&self, _input: &Value) -> bool {
        true
    }

    /// Returns the effect of a call with this input. `has_private` means that the session contains private data. A call
    /// that sends its input out then has the effect [`Effect::Reveal`].
    fn effect(&self, _input: &Value, _has_private: bool) -> Effect {
        Effect::Change
    }

    /// Returns the target of a call, as an entry of `tools.trust` names it.
    fn target(&self, _input: &Value) -> Option<String> {
        None
    }

    /// Returns whether the turn of a webhook may use this trusted tool. The webhook's policy must contain the exact
    /// name of the tool, and the webhook must name the target.
    fn serves_named_targets(&self) -> bool {
        false
    }

    /// Returns the ID of the session audio that the output refers to. The audio is shown with the
    /// message.
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
