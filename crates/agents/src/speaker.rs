//! The seam for what speaks answers aloud. A room above registers it at composition, as tools are
//! registered; this room knows only that answers pass through a filter and may have a sound in the end.

use crate::agent::Agent;
use futures_util::future::BoxFuture;
use gatehouse_domain::Problem;
use gatehouse_domain::id::{SessionId, TurnId};
use std::any::Any;
use std::fmt;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// What a filter found in an answer; only the speaker that made the filter knows what it is.
pub type Marks = Box<dyn Any + Send + Sync>;

/// Takes what is not for readers out of answers, and speaks them.
pub trait Speaker: Send + Sync + fmt::Debug {
    /// A filter for one answer of a model. Every answer of every turn has one, whoever began the turn.
    fn begin(&self) -> Box<dyn AnswerFilter>;

    /// Speaks the final answer of a turn; the id of its audio, or `None` when it is not to be spoken.
    /// The future is dropped when the turn is stopped. The problem is told beside the answer, which
    /// stands all the same.
    fn spoken<'a>(&'a self, answer: &'a Answer) -> BoxFuture<'a, Result<Option<String>, Problem>>;

    /// What models are told of it, when there is something to tell: a line of the system prompt.
    fn hint(&self) -> Option<String>;

    /// How long speaking one answer may take.
    fn time_limit(&self) -> Duration {
        Duration::from_mins(5)
    }
}

/// Takes what is not for readers out of an answer that comes in pieces, wherever it was cut.
pub trait AnswerFilter: Send {
    /// Takes the next piece; what of the answer may be shown now, which is nothing while it cannot be
    /// told what a piece will become.
    fn push(&mut self, piece: &str) -> String;

    /// The answer ends here, perhaps too early.
    fn finish(self: Box<Self>) -> Filtered;
}

/// The end of a filtered answer.
#[derive(Debug)]
pub struct Filtered {
    /// What was still held back and may be shown.
    pub rest: String,
    /// What was found in all of the answer.
    pub marks: Marks,
}

/// The final answer of a turn, which is stored already.
#[derive(Debug)]
pub struct Answer {
    /// Its session.
    pub session: SessionId,
    /// Its turn.
    pub turn: TurnId,
    /// Who answered.
    pub agent: Agent,
    /// What readers see of it.
    pub text: String,
    /// What the filter found in it.
    pub marks: Marks,
    /// Whether what it answers was spoken.
    pub user_spoke: bool,
    /// Ends when the turn is stopped. What was started elsewhere must watch this.
    pub cancel: CancellationToken,
}
