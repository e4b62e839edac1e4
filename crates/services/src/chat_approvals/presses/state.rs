//! The state of presses in this process.

use super::super::ButtonRecipient;
use gatehouse_channels::Press;
use gatehouse_domain::id::ApprovalId;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, Semaphore};

/// Maximum number of waiting presses per account. Further presses are dropped, and people can press again.
const MAX_QUEUED: usize = 200;
/// Maximum number of concurrent acknowledgements. Further presses take effect without one.
const NOTES: usize = 32;
/// How long a refused person causes no further audit row and gets no further note.
const REFUSED_MS: u64 = 3_600_000;
/// Maximum number of answers that are kept until their questions show them.
const MAX_ANSWERS: usize = 1_000;
/// How long a question waits until an answer in its chat takes effect.
const DECISION_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum number of messages with a result that are kept. A press on an older message overwrites its result.
const MAX_CLOSED: usize = 1_000;
/// Maximum number of refused people that are kept. Further people cause no audit row and get no note.
const MAX_REFUSED: usize = 1_000;

/// The shared state for handling presses.
#[derive(Debug)]
pub(crate) struct Presses {
    /// The waiting presses by account. An account has a queue only while a task processes it.
    queues: Mutex<HashMap<String, VecDeque<Press>>>,
    pub(super) notes: Arc<Semaphore>,
    /// When the last audit row about a person of an account was written, in monotonic milliseconds.
    refused: Mutex<HashMap<(String, String), u64>>,
    /// The answers with buttons on this node, until the questions show the names; the oldest first.
    answers: Mutex<VecDeque<Answer>>,
    /// Notified when an answer has taken effect or was refused.
    decided: Notify,
    /// The questions that show their result, or will soon show it; the oldest first.
    closed: Mutex<VecDeque<MessageAt>>,
}

/// An answer with a button.
#[derive(Debug)]
struct Answer {
    id: ApprovalId,
    place: ButtonRecipient,
    name: String,
    /// Whether the answer took effect. Until then, a different answer may take effect.
    is_decided: bool,
}

impl Answer {
    fn is(&self, id: &ApprovalId, place: &ButtonRecipient) -> bool {
        self.id == *id && self.place == *place
    }
}

/// A message of the bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct MessageAt {
    pub(super) account: String,
    pub(super) chat: String,
    pub(super) message_id: String,
}

impl MessageAt {
    pub(in super::super) fn of(place: &ButtonRecipient, message_id: &str) -> Self {
        Self {
            account: place.account.clone(),
            chat: place.chat.clone(),
            message_id: message_id.to_owned(),
        }
    }
}

impl Default for Presses {
    fn default() -> Self {
        Self {
            queues: Mutex::default(),
            notes: Arc::new(Semaphore::new(NOTES)),
            refused: Mutex::default(),
            answers: Mutex::default(),
            decided: Notify::new(),
            closed: Mutex::default(),
        }
    }
}

impl Presses {
    fn queues(&self) -> MutexGuard<'_, HashMap<String, VecDeque<Press>>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds presses to the account's queue. Returns whether the caller must process the queue.
    pub(super) fn push(&self, account: &str, presses: Vec<Press>) -> bool {
        let mut queues = self.queues();
        let is_new = !queues.contains_key(account);
        let queue = queues.entry(account.to_owned()).or_default();
        let room = MAX_QUEUED.saturating_sub(queue.len());
        if presses.len() > room {
            tracing::warn!(account, "too many presses of buttons; some are dropped");
        }
        queue.extend(presses.into_iter().take(room));
        is_new
    }

    /// Takes the oldest press of an account. After `None`, the queue needs no further processing.
    pub(super) fn pop(&self, account: &str) -> Option<Press> {
        let mut queues = self.queues();
        let press = queues.get_mut(account).and_then(VecDeque::pop_front);
        if press.is_none() {
            queues.remove(account);
        }
        press
    }

    fn answers(&self) -> MutexGuard<'_, VecDeque<Answer>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores the name of the person who answers a call in a chat, before the answer takes effect.
    pub(super) fn note_answer(&self, id: &ApprovalId, place: &ButtonRecipient, name: String) {
        let mut answers = self.answers();
        // Deletes an undecided answer of an earlier press of the button.
        answers.retain(|answer| answer.is_decided || !answer.is(id, place));
        if answers.len() >= MAX_ANSWERS {
            answers.pop_front();
        }
        answers.push_back(Answer {
            id: id.clone(),
            place: place.clone(),
            name,
            is_decided: false,
        });
    }

    /// Keeps the recorded answer of a chat if it took effect, and deletes it otherwise.
    pub(super) fn decide_answer(&self, id: &ApprovalId, place: &ButtonRecipient, has_effect: bool) {
        let mut answers = self.answers();
        let mut noted = answers.iter();
        let noted = noted.position(|answer| !answer.is_decided && answer.is(id, place));
        match noted {
            Some(at) if has_effect => {
                if let Some(answer) = answers.get_mut(at) {
                    answer.is_decided = true;
                }
            }
            Some(at) => {
                answers.remove(at);
            }
            None => {}
        }
        drop(answers);
        self.decided.notify_waiters();
    }

    /// Removes and returns the name of the person who answered a call with a button in a chat on this node.
    pub(in super::super) async fn take_answer(
        &self,
        id: &ApprovalId,
        place: &ButtonRecipient,
    ) -> Option<String> {
        let take = async {
            loop {
                let changed = self.decided.notified();
                tokio::pin!(changed);
                changed.as_mut().enable();
                {
                    let mut answers = self.answers();
                    let at = answers.iter().position(|answer| answer.is(id, place))?;
                    if answers.get(at).is_some_and(|answer| answer.is_decided) {
                        return answers.remove(at).map(|answer| answer.name);
                    }
                }
                changed.await;
            }
        };
        let taken = tokio::time::timeout(DECISION_TIMEOUT, take).await;
        taken.ok().flatten()
    }

    fn closed(&self) -> MutexGuard<'_, VecDeque<MessageAt>> {
        self.closed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that a message shows its result, or will soon show it.
    pub(in super::super) fn note_closed(&self, at: MessageAt) {
        let mut closed = self.closed();
        if closed.contains(&at) {
            return;
        }
        if closed.len() >= MAX_CLOSED {
            closed.pop_front();
        }
        closed.push_back(at);
    }

    /// Removes a message that could not show its result, so that a press removes its buttons.
    pub(in super::super) fn forget_closed(&self, at: &MessageAt) {
        self.closed().retain(|known| known != at);
    }

    pub(super) fn is_closed(&self, at: &MessageAt) -> bool {
        self.closed().contains(at)
    }

    /// Returns whether to record a refusal of this person.
    pub(super) fn is_recorded(&self, account: &str, person: &str, now_ms: u64) -> bool {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.retain(|_, at| now_ms.saturating_sub(*at) < REFUSED_MS);
        let key = (account.to_owned(), person.to_owned());
        if refused.len() >= MAX_REFUSED || refused.contains_key(&key) {
            return false;
        }
        refused.insert(key, now_ms);
        true
    }
}

#[cfg(test)]
mod tests;
