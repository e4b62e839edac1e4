//! The interface of speech output. A higher crate registers an implementation, as it does with tools; this
//! crate only knows that answers pass through a filter and may get audio.

use crate::agent::Agent;
use futures_util::future::BoxFuture;
use gatehouse_domain::Problem;
use gatehouse_domain::id::{SessionId, TurnId};
use std::any::Any;
use std::fmt;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// What a filter found in an answer. Only the speaker that created the filter can interpret it.
pub type Marks = Box<dyn Any + Send + Sync>;

/// Removes markup from answers and speaks them.
pub trait Speaker: Send + Sync + fmt::Debug {
    /// Creates a filter for one model answer. Every answer of every turn has one, whatever its origin.
    fn begin(&self) -> Box<dyn AnswerFilter>;

    /// Speaks the final answer of a turn. Returns the id of its audio, or `None` when it is not to be spoken.
    /// The future is dropped when the turn is stopped. An error is reported with the answer and does not fail
    /// the turn.
    fn spoken<'a>(&'a self, answer: &'a Answer) -> BoxFuture<'a, Result<Option<String>, Problem>>;

    /// A line for the system prompt that explains the speaker's markup, if there is any.
    fn hint(&self) -> Option<String>;

    /// How long speaking one answer may take.
    fn time_limit(&self) -> Duration {
        Duration::from_mins(5)
    }
}

/// Removes markup from an answer that arrives in pieces, wherever it is split.
pub trait AnswerFilter: Send {
    /// Takes the next piece and returns the text that can be shown now. It is empty while the filter cannot
    /// decide what a piece will become.
    fn push(&mut self, piece: &str) -> String;

    /// Ends the answer, complete or not.
    fn finish(self: Box<Self>) -> Filtered;
}

/// The end of a filtered answer.
#[derive(Debug)]
pub struct Filtered {
    /// The remaining text to show.
    pub rest: String,
    /// What was found in the whole answer.
    pub marks: Marks,
}

/// The final answer of a turn. It is already stored.
#[derive(Debug)]
pub struct Answer {
    pub session: SessionId,
    pub turn: TurnId,
    pub agent: Agent,
    /// The text without markup.
    pub text: String,
    /// What the filter found in it.
    pub marks: Marks,
    /// Whether the user's text was spoken.
    pub user_spoke: bool,
    /// Cancelled when the turn is stopped. Work that was started elsewhere must watch it.
    pub cancel: CancellationToken,
}
