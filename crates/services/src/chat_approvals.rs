//! Questions about waiting tool calls in the direct chats of trusted people, with buttons that answer them.
//!
//! A question's task runs until the call no longer waits, and then replaces the buttons with the result. After a
//! crash, the buttons stay until a person presses one.

mod asker;
mod presses;
mod text;

pub(crate) use presses::Presses;
pub(crate) use text::{UNANSWERED, asked_in, notes, second};

use self::presses::{Choice, MessageAt};
use self::text::{CallText, Closed, Outcome, answered_through};
use crate::Services;
use crate::live_config::settings::base_url;
use crate::sent_links::has_expired;
use gatehouse_agents::{AgentEvent, Approval, ButtonRecipient};
use gatehouse_channels::{Button, Question, QuestionText, SendError, SentQuestion};
use gatehouse_domain::visible;
use gatehouse_store::StoreError;
use std::time::Duration;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// The delay before a failed request is repeated, unless the vendor requests a different delay.
const RETRY_AFTER: Duration = Duration::from_secs(10);
/// The maximum number of attempts to send the result.
const RESULT_TRIES: u32 = 5;
/// How long a question waits for the end of its call after shutdown has begun.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// The buttons, in rows, of a question that shows the conversation or is in the chat of the conversation.
const ANSWERS: &[&[Choice]] = &[
    &[Choice::Allow, Choice::Deny],
    &[Choice::Session],
    &[Choice::Arguments],
];
/// The buttons of a question that does not show its conversation.
const ANSWERS_ELSEWHERE: &[&[Choice]] = &[&[Choice::Allow, Choice::Deny], &[Choice::Arguments]];

/// Where a question is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chat {
    pub(crate) place: ButtonRecipient,
    pub(crate) thread: Option<String>,
    /// Whether the call comes from a turn of this conversation.
    pub(crate) is_own: bool,
}

impl Services {
    /// Returns the direct chat of a trusted person to which messages to a target are sent.
    pub(crate) async fn chat_of_target(&self, target: &str) -> Option<Chat> {
        let direct = match self.channels.find_direct_chat(target).await {
            Ok(direct) => direct?,
            Err(error) => {
                tracing::warn!(%error, target, "the chat of a channel could not be read");
                return None;
            }
        };
        let found = async {
            let place = ButtonRecipient {
                account: direct.account,
                chat: direct.chat,
                person: direct.person,
            };
            let is_trusted = self.is_trusted(&place).await?;
            Ok::<_, StoreError>(is_trusted.then_some(Chat {
                place,
                thread: None,
                is_own: false,
            }))
        };
        found.await.unwrap_or_else(|error| {
            tracing::warn!(%error, target, "the person of a channel could not be read");
            None
        })
    }

    /// Returns whether the person may currently answer calls.
    async fn is_trusted(&self, place: &ButtonRecipient) -> Result<bool, StoreError> {
        let pairing = self.channels.find_pairing(&place.account, &place.person);
        Ok(pairing.await?.is_some_and(|pairing| pairing.trusted))
    }

    /// Asks in a chat and shows the result there. Returns `false` if no question was sent. `on_sent` is notified
    /// when the question was sent, and dropped if it was not.
    pub(crate) async fn ask_in_chat(
        &self,
        asked: &Approval,
        chat: &Chat,
        on_sent: Option<oneshot::Sender<()>>,
        shutdown: &CancellationToken,
    ) -> bool {
        // Subscribes before it first checks the call, so that the end of the call is not missed.
        let mut events = self.agents.subscribe();
        let Ok(Some(form)) = self.channels.question_form(&chat.place.account).await else {
            return false;
        };
        let Some(token) = self.agents.approval_token(&asked.id) else {
            return false;
        };
        let base = base_url(&self.config.resolved().settings);
        let link = format!("{base}/approve/{token}");
        let text = CallText::of(asked, form, &link, !chat.is_own);
        let asking = self.send_question(asked, chat, &text);
        let Some(sent) = shutdown.run_until_cancelled(asking).await.flatten() else {
            return false;
        };
        if let Some(on_sent) = on_sent {
            // The receiver is usually dropped, because no reply waits for the question.
            let _ = on_sent.send(());
        }
        if text.allows {
            let offering = self.offer_answers(asked, chat, &sent, &text.question);
            let is_offered = shutdown.run_until_cancelled(offering).await;
            if is_offered == Some(false) {
                // A press of another button must not overwrite the link.
                self.presses
                    .note_closed(MessageAt::of(&chat.place, &sent.message_id));
                let unshown = text.closed(form, Outcome::Inexact(&link), None);
                self.close(chat, &sent, &unshown, shutdown).await;
            }
        }
        let ended = async {
            shutdown.cancelled().await;
            tokio::time::sleep(LAST_WAIT).await;
        };
        let outcome = tokio::select! {
            outcome = self.outcome(asked, &mut events) => outcome,
            () = ended => Outcome::Ended,
        };
        // From now on, a press must not overwrite the result.
        let at = MessageAt::of(&chat.place, &sent.message_id);
        self.presses.note_closed(at.clone());
        let answered = self.answer_sentence(asked, chat).await;
        let closed = text.closed(form, outcome, answered.as_deref());
        if !self.close(chat, &sent, &closed, shutdown).await {
            self.presses.forget_closed(&at);
        }
        true
    }

    /// Returns the sentence that names the person who answered the call in this chat. Otherwise returns how the
    /// call was answered; `None` if this node has no record of the answer.
    async fn answer_sentence(&self, asked: &Approval, chat: &Chat) -> Option<String> {
        if let Some(name) = self.presses.take_answer(&asked.id, &chat.place).await {
            return Some(format!("Answered by {}.", visible::line(&name).text));
        }
        let through = self.sent_links.through_of(&asked.id)?;
        Some(answered_through(through).to_owned())
    }

    /// Sends the question until the channel accepts it. Returns `None` if the channel will never accept it, if the
    /// person may no longer answer, or if the call no longer waits. The buttons that allow the call are added by
    /// [`Self::offer_answers`], which checks the text that the vendor shows.
    async fn send_question(
        &self,
        asked: &Approval,
        chat: &Chat,
        text: &CallText,
    ) -> Option<SentQuestion> {
        let place = &chat.place;
        while let Some(buttons) = self.buttons(asked, chat, &[&[Choice::Deny]]) {
            let question = Question {
                chat: &place.chat,
                thread: chat.thread.as_deref(),
                text: &text.question,
                buttons: &buttons,
            };
            // The person's trust may have been withdrawn during the retries.
            match self.is_trusted(place).await {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    tracing::warn!(%error, "the person of a channel could not be read");
                    tokio::time::sleep(RETRY_AFTER).await;
                    continue;
                }
            }
            let private = self
                .channels
                .is_private(&place.account, &place.chat, &place.person);
            let error = match private.await {
                Ok(true) => match self.channels.ask(&place.account, question).await {
                    Ok(sent) => return Some(sent),
                    Err(error) => error,
                },
                Ok(false) => return None,
                Err(error) => error,
            };
            tracing::warn!(account = place.account, %error, "a question was not sent");
            tokio::time::sleep(retry_wait(&error)?).await;
        }
        None
    }

    /// Adds the buttons that allow the call to a question. Returns `false` if the vendor shows a different text, or
    /// refuses the buttons.
    async fn offer_answers(
        &self,
        asked: &Approval,
        chat: &Chat,
        sent: &SentQuestion,
        text: &QuestionText,
    ) -> bool {
        let account = &chat.place.account;
        if !sent.is_exact {
            tracing::warn!(account, "the vendor changed the text of a question");
            return false;
        }
        let at = (&*chat.place.chat, &*sent.message_id);
        let rows = if chat.is_own || asked.conversation.is_some() {
            ANSWERS
        } else {
            ANSWERS_ELSEWHERE
        };
        while let Some(buttons) = self.buttons(asked, chat, rows) {
            let shown = self.channels.offer_buttons(account, at, text, &buttons);
            let Err(error) = shown.await else {
                return true;
            };
            tracing::warn!(account, %error, "the buttons of a question were not sent");
            let Some(wait) = retry_wait(&error) else {
                return false;
            };
            tokio::time::sleep(wait).await;
        }
        true
    }

    /// Returns the rows of buttons; `None` if the call no longer waits.
    fn buttons(
        &self,
        asked: &Approval,
        chat: &Chat,
        rows: &[&[Choice]],
    ) -> Option<Vec<Vec<Button>>> {
        let button = |choice: &Choice| self.button(asked, &chat.place, *choice);
        let row = |row: &&[Choice]| row.iter().map(button).collect();
        rows.iter().map(row).collect()
    }

    /// Waits until the call no longer waits. Returns how it ended.
    async fn outcome(
        &self,
        asked: &Approval,
        events: &mut Receiver<AgentEvent>,
    ) -> Outcome<'static> {
        loop {
            match events.recv().await {
                Ok(AgentEvent::ApprovalResolved(resolved)) if resolved.id == asked.id => {
                    return if resolved.allowed {
                        Outcome::Allowed
                    } else if resolved.is_answered {
                        Outcome::Denied
                    } else {
                        let now = self.store.shared_now(&self.clock).await;
                        if has_expired(asked.expires_at, now) {
                            Outcome::Expired
                        } else {
                            Outcome::Ended
                        }
                    };
                }
                Err(RecvError::Lagged(_)) if self.agents.approval_token(&asked.id).is_none() => {
                    return Outcome::Ended;
                }
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return Outcome::Ended,
            }
        }
    }

    /// Replaces a question with its result. Returns whether the channel accepted it.
    async fn close(
        &self,
        chat: &Chat,
        sent: &SentQuestion,
        text: &Closed,
        shutdown: &CancellationToken,
    ) -> bool {
        let place = &chat.place;
        let (account, at) = (&place.account, (&*place.chat, &*sent.message_id));
        for _ in 0..RESULT_TRIES {
            // People who have joined since the question was sent must not read the call.
            let private = self
                .channels
                .is_private(account, &place.chat, &place.person);
            let text = match private.await {
                Ok(true) => &text.whole,
                Ok(false) | Err(_) => &text.brief,
            };
            let closed = self.channels.close_question(account, at, text);
            let Err(error) = closed.await else {
                return true;
            };
            tracing::warn!(account, %error, "the result of a question was not sent");
            let Some(wait) = retry_wait(&error) else {
                return false;
            };
            let pause = tokio::time::sleep(wait);
            if shutdown.run_until_cancelled(pause).await.is_none() {
                return false;
            }
        }
        false
    }
}

/// Returns the delay before the next attempt; `None` if the channel will never accept the message.
fn retry_wait(error: &SendError) -> Option<Duration> {
    match error {
        SendError::Retry { after, .. } => Some(after.unwrap_or(RETRY_AFTER)),
        SendError::Unreachable { .. } | SendError::Sealed => Some(RETRY_AFTER),
        SendError::Disabled { .. } | SendError::GiveUp { .. } => None,
    }
}
