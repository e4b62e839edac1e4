//! Presses of the buttons of questions.

mod answer;
mod choice;
mod state;

pub(crate) use self::state::Presses;
pub(super) use choice::Choice;

pub(super) use self::state::MessageAt;

use super::ButtonRecipient;
use super::text::GONE;
use crate::{APPROVAL_PRESS_REFUSED, Services};
use gatehouse_agents::Approval;
use gatehouse_channels::{Button, Note, Press};
use gatehouse_domain::Actor;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::task::TaskTracker;

/// How long an acknowledgement may take.
const NOTE_TIMEOUT: Duration = Duration::from_secs(10);
/// The note to a person if a press could not be processed.
const FAILED: &str = "This cannot be answered right now. Try again.";
/// The note to a person who may not answer.
const REFUSED: &str = "You cannot answer this call.";

/// The effect of a press.
enum Pressed {
    Answered(Choice),
    /// The call no longer waits.
    Gone,
    /// The call was answered elsewhere at the same time, or its node has just stopped. The question shows the
    /// outcome.
    Other,
    /// The person may not answer.
    Refused,
    Failed,
}

impl Services {
    /// Returns a button for a call; `None` if the call no longer waits.
    pub(super) fn button(
        &self,
        asked: &Approval,
        place: &ButtonRecipient,
        choice: Choice,
    ) -> Option<Button> {
        let token = self.agents.button_token(&asked.id, place, choice.word())?;
        Some(Button {
            label: choice.label(),
            data: choice.data(&token),
        })
    }

    /// Answers the calls of pressed buttons in the background, in the order of the presses. An answer never waits
    /// for the channel.
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
                tracing::warn!(%error, account, "a button press could not be read");
                FAILED
            }
        };
        let Ok(permit) = Arc::clone(&self.presses.notes).try_acquire_owned() else {
            tracing::debug!(
                account,
                "too many acknowledgements are being sent; one was dropped"
            );
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
                tracing::debug!(account, "a button press was not acknowledged in time");
            }
            drop(permit);
        });
    }

    /// Acknowledges a press. Removes the buttons of a call that no longer waits.
    async fn note_press(&self, account: &str, press: &Press, note: Note<'_>, is_gone: bool) {
        let acknowledge = async {
            let noted = self.channels.acknowledge_press(account, press, note);
            if let Err(error) = noted.await {
                tracing::debug!(%error, account, "a button press was not acknowledged");
            }
        };
        let close = async {
            if !is_gone {
                return;
            }
            // The message shows its result, and the press may contain an older text.
            let at = MessageAt {
                account: account.to_owned(),
                chat: press.chat.clone(),
                message_id: press.message_id.clone(),
            };
            if self.presses.is_closed(&at) {
                return;
            }
            // The task of the question ended with an earlier process.
            let retired = self.channels.retire_question(account, press, GONE).await;
            if let Err(error) = retired {
                tracing::debug!(%error, account, "buttons were not removed");
            }
        };
        tokio::join!(acknowledge, close);
    }

    /// Records a refused press, at most once per hour and person. Returns whether it was recorded.
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

/// Returns the person as named in the audit log.
fn actor_of(account: &str, press: &Press) -> Actor {
    Actor {
        name: format!("channel {account} person {}", press.person),
        ..Actor::system()
    }
}

#[cfg(test)]
mod tests;
