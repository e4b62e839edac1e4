//! A turn that waits in its lane.

use crate::send::{Origin, TurnReport};
use crate::speaker::SpeechOutput;
use gatehouse_domain::id::{SessionId, TurnId};
use gatehouse_domain::trace::SpanContext;
use gatehouse_domain::{Actor, Fence};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// A turn in its lane. Its text is stored.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) session: SessionId,
    pub(crate) session_key: String,
    pub(crate) id: TurnId,
    /// The number of the turn in the session.
    pub(crate) number: i64,
    /// The number of earlier turns of the session on other nodes at the time of storing.
    pub(crate) behind_other_nodes: usize,
    pub(crate) agent: String,
    pub(crate) model: Option<String>,
    pub(crate) system_suffix: Option<String>,
    pub(crate) origin: Origin,
    /// Whether the user's text was spoken.
    pub(crate) was_spoken: bool,
    /// Whether the session is deleted when the turn has ended.
    pub(crate) is_one_off: bool,
    pub(crate) actor: Actor,
    pub(crate) cancel: CancellationToken,
    pub(crate) speech: Option<SpeechOutput>,
    /// The span of the request, if its trace is recorded.
    pub(crate) caller: Option<SpanContext>,
    /// The fence of the turn's work: whether the work still belongs to this node.
    pub(crate) fence: Fence,
    /// Receives the result, if a caller waits for it.
    pub(crate) report: Option<oneshot::Sender<TurnReport>>,
}
