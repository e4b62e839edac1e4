//! The state of a running turn.

use super::queued::Turn;
use super::repeats::Repeats;
use super::reply::EndedSpeech;
use crate::agent::Agent;
use crate::context::Conversation;
use crate::handle::Inner;
use crate::policy::Permit;
use crate::send::Action;
use crate::stop::Stop;
use crate::taint::HasRead;
use crate::usage::Cause;
use gatehouse_domain::Problem;
use gatehouse_models::{ModelRef, Usage};
use gatehouse_store::{ChatMessageRow, UsageRow};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// A running turn and the results so far.
pub(super) struct Running<'a> {
    pub(super) inner: &'a Arc<Inner>,
    pub(super) turn: Turn,
    pub(super) usage: Usage,
    pub(super) spending: Spending,
    pub(super) actions: Vec<Action>,
    pub(super) text: String,
    pub(super) stop: Stop,
    /// Why the turn failed or was stopped.
    pub(super) error: Option<Problem>,
    /// The partial answer of a step that failed.
    pub(super) partial: Option<ChatMessageRow>,
    /// Whether the final answer is stored, and whether it contains text.
    pub(super) concluded: Option<bool>,
    /// Whether all steps are used. The last answer is then given without tools.
    pub(super) is_out_of_steps: bool,
    /// Whether tools are omitted because the model rejected the shortest conversation as too long.
    pub(super) are_tools_too_long: bool,
    /// The speech of the final answer, which may outlast the turn.
    pub(super) speaking: Option<JoinHandle<EndedSpeech>>,
    /// Canceled when the speech of the latest answer has ended.
    pub(super) spoken_before: CancellationToken,
    pub(super) repeats: Mutex<Repeats>,
    /// The token limit for the conversation. Set when a model rejects a request as too long.
    pub(super) limit: Option<u64>,
}

/// The parts from which the requests of a turn are built.
pub(super) struct Setup {
    pub(super) agent: Agent,
    pub(super) model: ModelRef,
    /// The models to try, in order, if this one fails.
    pub(super) fallback: VecDeque<String>,
    pub(super) permit: Permit,
    /// The kinds of data in the session, including this turn so far.
    pub(super) read: HasRead,
    /// Whether the session contains text of a webhook or of a person who is not trusted, and no person has
    /// cleared it.
    pub(super) has_sender_text: bool,
    /// Whether the session belongs to a person on a channel.
    pub(super) is_of_channel: bool,
    pub(super) conversation: Conversation,
}

/// The usage of a turn.
#[derive(Debug, Default)]
pub(super) struct Spending {
    pub(super) cause: Option<Cause>,
    /// Usage that is not stored yet.
    pub(super) unstored: Mutex<Vec<UsageRow>>,
    /// Whether the turn is already counted in a row.
    pub(super) is_counted: bool,
}

impl Spending {
    pub(super) fn unstored(&self) -> MutexGuard<'_, Vec<UsageRow>> {
        self.unstored.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
