//! Presses of the buttons of questions.

use super::ButtonPlace;
use super::text::GONE;
use crate::{APPROVAL_PRESS_REFUSED, Services};
use gatehouse_agents::{Approval, PressedCall, Remember};
use gatehouse_channels::{Button, Note, Press};
use gatehouse_domain::id::ApprovalId;
use gatehouse_domain::{Actor, ErrorCode};
use gatehouse_store::StoreError;
use serde_json::json;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, Semaphore};
use tokio_util::task::TaskTracker;

/// How many presses of an account wait at most. Presses beyond that are dropped; people press again.
const MAX_QUEUED: usize = 200;
/// How many presses are acknowledged at a time. Others have their effect without an acknowledgement.
const NOTES: usize = 32;
/// How long an acknowledgement may take.
const NOTE_TIMEOUT: Duration = Duration::from_secs(10);
/// The note to a person if a press could not be worked on.
const FAILED: &str = "This cannot be answered right now. Try again.";
/// The note to a person who may not answer.
const REFUSED: &str = "You cannot answer this call.";
/// How long a refused person causes no further audit row and gets no further note.
const REFUSED_MS: u64 = 3_600_000;
/// How many answers are remembered until their questions show them.
const MAX_ANSWERS: usize = 1_000;
/// How long a question waits for the effect of an answer in its chat.
const DECISION_TIMEOUT: Duration = Duration::from_secs(2);
/// How many messages with a result are remembered. A press of a button that an older one had writes over the result.
const MAX_CLOSED: usize = 1_000;
/// How many refused people are remembered. Further ones cause no audit row and get no note.
const MAX_REFUSED: usize = 1_000;

/// What the work on presses shares.
#[derive(Debug)]
pub(crate) struct Presses {
    /// The presses that wait, by account. An account has a queue while a task works on it.
    queues: Mutex<HashMap<String, VecDeque<Press>>>,
    notes: Arc<Semaphore>,
    /// When the last audit row about a person of an account was written, in monotonic milliseconds.
    refused: Mutex<HashMap<(String, String), u64>>,
    /// The answers of people here, until the questions show their names; the oldest first.
    answers: Mutex<VecDeque<Answer>>,
    /// Wakes those who wait for an answer to be decided.
    decided: Notify,
    /// The questions that show their result, or soon will; the oldest first.
    closed: Mutex<VecDeque<MessageAt>>,
}

/// An answer with a button.
#[derive(Debug)]
struct Answer {
    id: ApprovalId,
    place: ButtonPlace,
    name: String,
    /// Whether it took effect. Until then, another answer may.
    is_decided: bool,
}

impl Answer {
    fn is(&self, id: &ApprovalId, place: &ButtonPlace) -> bool {
        self.id == *id && self.place == *place
    }
}

/// A message of the bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MessageAt {
    account: String,
    chat: String,
    message_id: String,
}

impl MessageAt {
    pub(super) fn of(place: &ButtonPlace, message_id: &str) -> Self {
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

    /// Adds presses to the account's queue. Returns whether the caller must work on it.
    fn push(&self, account: &str, presses: Vec<Press>) -> bool {
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

    /// Takes the oldest press of an account. `None` ends the work on its queue.
    fn pop(&self, account: &str) -> Option<Press> {
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

    /// Remembers who answers a call in a chat, before the answer takes effect.
    fn note_answer(&self, id: &ApprovalId, place: &ButtonPlace, name: String) {
        let mut answers = self.answers();
        // The person presses again.
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

    /// Keeps the answer that was noted in a chat if it took effect, and forgets it otherwise.
    fn decide_answer(&self, id: &ApprovalId, place: &ButtonPlace, has_effect: bool) {
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

    /// The name of the person who answered a call with a button in a chat on this node. Forgets it.
    pub(super) async fn take_answer(&self, id: &ApprovalId, place: &ButtonPlace) -> Option<String> {
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

    /// Remembers that a message shows its result, or soon will.
    pub(super) fn note_closed(&self, at: MessageAt) {
        let mut closed = self.closed();
        if closed.contains(&at) {
            return;
        }
        if closed.len() >= MAX_CLOSED {
            closed.pop_front();
        }
        closed.push_back(at);
    }

    /// Forgets a message that could not show its result, so that a press removes its buttons.
    pub(super) fn forget_closed(&self, at: &MessageAt) {
        self.closed().retain(|known| known != at);
    }

    fn is_closed(&self, at: &MessageAt) -> bool {
        self.closed().contains(at)
    }

    /// Whether to record a refusal of this person.
    fn is_recorded(&self, account: &str, person: &str, now_ms: u64) -> bool {
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

/// What a button answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    Allow,
    Deny,
    Session,
}

impl Choice {
    const ALL: [Self; 3] = [Self::Allow, Self::Deny, Self::Session];

    const fn label(self) -> &'static str {
        match self {
            Self::Allow => "Allow",
            Self::Deny => "Deny",
            Self::Session => "Always in this session",
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Session => "session",
        }
    }

    const fn remember(self) -> Option<Remember> {
        match self {
            Self::Allow | Self::Deny => None,
            Self::Session => Some(Remember::Session),
        }
    }

    /// What a press reports.
    fn data(self, token: &str) -> String {
        format!("{token}:{}", self.word())
    }

    /// Reads [`Self::data`].
    fn read(data: &str) -> Option<(&str, Self)> {
        let (token, word) = data.split_once(':')?;
        let choice = Self::ALL.into_iter().find(|choice| choice.word() == word)?;
        Some((token, choice))
    }
}

/// The effect of a press.
enum Pressed {
    Answered(Choice),
    /// The call no longer waits.
    Gone,
    /// The call was answered elsewhere at the same time, or its node has just stopped. Its question shows which.
    Other,
    /// The person may not answer.
    Refused,
    Failed,
}

impl Services {
    /// A button for a call; `None` when it no longer waits.
    pub(super) fn button(
        &self,
        asked: &Approval,
        place: &ButtonPlace,
        choice: Choice,
    ) -> Option<Button> {
        let token = self.agents.button_token(&asked.id, place, choice.word())?;
        Some(Button {
            label: choice.label(),
            data: choice.data(&token),
        })
    }

    /// Answers the calls of pressed buttons in the background, in the order of the presses. No answer waits for the
    /// channel.
    pub(crate) fn take_presses(
        self: &Arc<Self>,
        account: &str,
        presses: Vec<Press>,
        tasks: &TaskTracker,
    ) {
        if presses.is_empty() || !self.presses.push(account, presses) {
            return;
        }
        let (services, account) = (Arc::clone(self), account.to_owned());
        let notes = tasks.clone();
        tasks.spawn(async move {
            while let Some(press) = services.presses.pop(&account) {
                services.take_press(&account, press, &notes).await;
            }
        });
    }

    async fn take_press(self: &Arc<Self>, account: &str, press: Press, tasks: &TaskTracker) {
        let pressed = self.answer_press(account, &press).await;
        let note = match pressed {
            Ok(Pressed::Answered(Choice::Deny)) => "Denied.",
            Ok(Pressed::Answered(_)) => "Allowed.",
            Ok(Pressed::Gone | Pressed::Other) => GONE,
            Ok(Pressed::Refused) => {
                if !self.refuse_press(account, &press).await {
                    return;
                }
                REFUSED
            }
            Ok(Pressed::Failed) => FAILED,
            Err(ref error) => {
                tracing::warn!(%error, account, "a press could not be read");
                FAILED
            }
        };
        let Ok(permit) = Arc::clone(&self.presses.notes).try_acquire_owned() else {
            tracing::debug!(account, "too many acknowledgements; one is left out");
            return;
        };
        let is_gone = matches!(pressed, Ok(Pressed::Gone));
        let is_shown = matches!(pressed, Ok(Pressed::Answered(_)));
        let (services, account) = (Arc::clone(self), account.to_owned());
        tasks.spawn(async move {
            let note = Note {
                text: note,
                is_shown,
            };
            let noting = services.note_press(&account, &press, note, is_gone);
            if tokio::time::timeout(NOTE_TIMEOUT, noting).await.is_err() {
                tracing::debug!(account, "a press was not acknowledged in time");
            }
            drop(permit);
        });
    }

    /// Acknowledges a press, and removes the buttons of a call that is gone.
    async fn note_press(&self, account: &str, press: &Press, note: Note<'_>, is_gone: bool) {
        let acknowledge = async {
            let noted = self.channels.acknowledge_press(account, press, note);
            if let Err(error) = noted.await {
                tracing::debug!(%error, account, "a press was not acknowledged");
            }
        };
        let close = async {
            if !is_gone {
                return;
            }
            // The message shows its result, and the press may come with an older text.
            let at = MessageAt {
                account: account.to_owned(),
                chat: press.chat.clone(),
                message_id: press.message_id.clone(),
            };
            if self.presses.is_closed(&at) {
                return;
            }
            // Its task ended with an earlier process.
            let retired = self.channels.retire_question(account, press, GONE).await;
            if let Err(error) = retired {
                tracing::debug!(%error, account, "buttons were not removed");
            }
        };
        tokio::join!(acknowledge, close);
    }

    async fn answer_press(&self, account: &str, press: &Press) -> Result<Pressed, StoreError> {
        let place = ButtonPlace {
            account: account.to_owned(),
            chat: press.chat.clone(),
            person: press.person.clone(),
        };
        let pairing = self.channels.find_pairing(account, &press.person).await?;
        let Some(pairing) = pairing.filter(|it| press.is_private && it.trusted) else {
            return Ok(Pressed::Refused);
        };
        let Some((token, choice)) = Choice::read(&press.data) else {
            return Ok(Pressed::Gone);
        };
        let asked = match self
            .agents
            .find_approval_by_button(token, &place, choice.word())
            .await
        {
            Ok(PressedCall::Waiting(asked)) => asked,
            Ok(PressedCall::Paused) => return Ok(Pressed::Failed),
            Ok(PressedCall::Gone) => return Ok(Pressed::Gone),
            Err(error) => {
                tracing::warn!(%error, "waiting calls could not be read");
                return Ok(Pressed::Failed);
            }
        };
        let allow = choice != Choice::Deny;
        self.presses.note_answer(&asked.id, &place, pairing.name);
        let resolved = self
            .resolve_approval(&actor_of(account, press), &asked, allow, choice.remember())
            .await;
        if resolved.is_ok() {
            // The task of the question shows the result.
            self.presses
                .note_closed(MessageAt::of(&place, &press.message_id));
        }
        self.presses
            .decide_answer(&asked.id, &place, resolved.is_ok());
        // Their trust may have ended since it was checked above. Then nothing that they allow stays allowed.
        if choice == Choice::Session && !self.is_trusted(&place).await? {
            let withdrawn = self
                .channels
                .withdraw_allowed(&place.account, &place.person);
            withdrawn.await?;
        }
        Ok(match resolved {
            Ok(()) => Pressed::Answered(choice),
            Err(problem) if problem.code == ErrorCode::NotFound => Pressed::Other,
            Err(problem) => {
                tracing::warn!(problem = problem.message, "a call could not be answered");
                Pressed::Failed
            }
        })
    }

    /// Records a refused press, at most once an hour for each person. Returns whether it was recorded.
    async fn refuse_press(&self, account: &str, press: &Press) -> bool {
        let now_ms = self.clock.monotonic_ms();
        if !self.presses.is_recorded(account, &press.person, now_ms) {
            return false;
        }
        let detail = json!({ "account": account, "person": press.person });
        let actor = actor_of(account, press);
        self.auth
            .note_change(APPROVAL_PRESS_REFUSED, actor, detail)
            .await;
        true
    }
}

/// The person as the audit log names them.
fn actor_of(account: &str, press: &Press) -> Actor {
    Actor {
        name: format!("channel {account} person {}", press.person),
        ..Actor::system()
    }
}

#[cfg(test)]
mod tests;
