//! Presses of the buttons of questions.

use super::ButtonPlace;
use super::text::GONE;
use crate::{APPROVAL_PRESS_REFUSED, Services};
use gatehouse_agents::{Approval, Remember};
use gatehouse_channels::{Button, Press};
use gatehouse_domain::{Actor, ErrorCode};
use gatehouse_store::StoreError;
use serde_json::json;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

/// How many batches of presses are worked on at a time. Presses beyond that are dropped; people press again.
const BATCHES: usize = 8;
/// What a person is told if a press could not be worked on.
const FAILED: &str = "This cannot be answered right now. Try again.";
/// How long a refused person causes no further audit row.
const REFUSED_MS: u64 = 3_600_000;
/// How many refused people are remembered. Further ones cause no audit row.
const MAX_REFUSED: usize = 1_000;

/// What the work on presses shares.
#[derive(Debug)]
pub(crate) struct Presses {
    batches: Arc<Semaphore>,
    /// When the last audit row about a person of an account was written, in monotonic milliseconds.
    refused: Mutex<HashMap<(String, String), u64>>,
}

impl Default for Presses {
    fn default() -> Self {
        Self {
            batches: Arc::new(Semaphore::new(BATCHES)),
            refused: Mutex::default(),
        }
    }
}

impl Presses {
    /// Whether a refusal of this person is to be recorded.
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
    Arguments,
}

impl Choice {
    const ALL: [Self; 4] = [Self::Allow, Self::Deny, Self::Session, Self::Arguments];

    const fn label(self) -> &'static str {
        match self {
            Self::Allow => "Allow",
            Self::Deny => "Deny",
            Self::Session => "Always in this session",
            Self::Arguments => "Always with these arguments",
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Session => "session",
            Self::Arguments => "arguments",
        }
    }

    const fn remember(self) -> Option<Remember> {
        match self {
            Self::Allow | Self::Deny => None,
            Self::Session => Some(Remember::Session),
            Self::Arguments => Some(Remember::Arguments),
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

    /// Answers the calls of pressed buttons in the background, in the order of the presses.
    pub(crate) fn take_presses(
        self: &Arc<Self>,
        account: &str,
        presses: Vec<Press>,
        tasks: &TaskTracker,
    ) {
        if presses.is_empty() {
            return;
        }
        let Ok(permit) = Arc::clone(&self.presses.batches).try_acquire_owned() else {
            tracing::warn!(account, "too many presses of buttons; some are dropped");
            return;
        };
        let (services, account) = (Arc::clone(self), account.to_owned());
        tasks.spawn(async move {
            for press in presses {
                services.take_press(&account, &press).await;
            }
            drop(permit);
        });
    }

    async fn take_press(&self, account: &str, press: &Press) {
        let pressed = self.answer_press(account, press).await;
        let note = match pressed {
            Ok(Pressed::Answered(Choice::Deny)) => "Denied.",
            Ok(Pressed::Answered(_)) => "Allowed.",
            Ok(Pressed::Gone) => GONE,
            Ok(Pressed::Refused) => {
                self.refuse_press(account, press).await;
                return;
            }
            Ok(Pressed::Failed) => FAILED,
            Err(ref error) => {
                tracing::warn!(%error, account, "a press could not be read");
                FAILED
            }
        };
        let noted = self.channels.acknowledge_press(account, &press.id, note);
        if let Err(error) = noted.await {
            tracing::debug!(%error, account, "a press was not acknowledged");
        }
        if matches!(pressed, Ok(Pressed::Gone)) {
            // Its task ended with an earlier process, or has already shown the result.
            let at = (&*press.chat, &*press.message_id);
            let closed = self.channels.close_question(account, at, None).await;
            if let Err(error) = closed {
                tracing::debug!(%error, account, "buttons were not removed");
            }
        }
    }

    async fn answer_press(&self, account: &str, press: &Press) -> Result<Pressed, StoreError> {
        let place = ButtonPlace {
            account: account.to_owned(),
            chat: press.chat.clone(),
            person: press.person.clone(),
        };
        if !press.is_private || !self.is_trusted(&place).await? {
            return Ok(Pressed::Refused);
        }
        let Some((token, choice)) = Choice::read(&press.data) else {
            return Ok(Pressed::Gone);
        };
        let asked = match self
            .agents
            .find_approval_by_button(token, &place, choice.word())
            .await
        {
            Ok(Some(asked)) => asked,
            Ok(None) => return Ok(Pressed::Gone),
            Err(error) => {
                tracing::warn!(%error, "waiting calls could not be read");
                return Ok(Pressed::Failed);
            }
        };
        let allow = choice != Choice::Deny;
        let resolved = self
            .resolve_approval(&actor_of(account, press), &asked, allow, choice.remember())
            .await;
        Ok(match resolved {
            Ok(()) => Pressed::Answered(choice),
            Err(problem) if problem.code == ErrorCode::NotFound => Pressed::Gone,
            Err(problem) => {
                tracing::warn!(problem = problem.message, "a call could not be answered");
                Pressed::Failed
            }
        })
    }

    /// Records a refused press, at most once an hour for each person.
    async fn refuse_press(&self, account: &str, press: &Press) {
        let now_ms = self.clock.monotonic_ms();
        if self.presses.is_recorded(account, &press.person, now_ms) {
            let detail = json!({ "account": account, "person": press.person });
            let actor = actor_of(account, press);
            self.auth
                .note_change(APPROVAL_PRESS_REFUSED, actor, detail)
                .await;
        }
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
mod tests {
    use super::*;

    #[test]
    fn data_is_read_back_and_short() {
        let token = "0".repeat(32);
        for choice in Choice::ALL {
            let data = choice.data(&token);
            assert!(data.len() <= 64, "{data}");
            assert_eq!(Choice::read(&data), Some((&*token, choice)));
        }
        for other in ["", "a", "a:", ":allow:", "a:Allow"] {
            assert_eq!(Choice::read(other), None, "{other}");
        }
    }

    #[test]
    fn a_refused_person_is_recorded_once_an_hour_and_memory_is_bounded() {
        let presses = Presses::default();
        assert!(presses.is_recorded("a", "1", 0));
        assert!(!presses.is_recorded("a", "1", REFUSED_MS - 1));
        assert!(presses.is_recorded("b", "1", REFUSED_MS - 1));
        assert!(presses.is_recorded("a", "1", REFUSED_MS));
        for person in 2..MAX_REFUSED {
            assert!(presses.is_recorded("a", &person.to_string(), REFUSED_MS));
        }
        assert!(!presses.is_recorded("a", "one more", REFUSED_MS));
        assert!(presses.is_recorded("a", "one more", 2 * REFUSED_MS));
    }
}
