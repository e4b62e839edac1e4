//! Answers a press of a button.

use super::{Pressed, actor_of, choice::Choice, state::MessageAt};
use crate::chat_approvals::ButtonRecipient;
use crate::{AnsweredThrough, ApprovalAnswer, Services};
use gatehouse_agents::PressedCall;
use gatehouse_channels::{Press, person_key};
use gatehouse_domain::ErrorCode;
use gatehouse_store::StoreError;

impl Services {
    pub(super) async fn answer_press(
        &self,
        account: &str,
        press: &Press,
    ) -> Result<Pressed, StoreError> {
        let place = ButtonRecipient {
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
        let key = person_key(&place.account, &place.person);
        let answer = ApprovalAnswer {
            allow,
            remember: choice.remember(),
            by: Some(&key),
            through: AnsweredThrough::Chat,
        };
        let resolved = self
            .resolve_approval(&actor_of(account, press), &asked, answer)
            .await;
        if resolved.is_ok() {
            // The task of the question shows the result.
            self.presses
                .note_closed(MessageAt::of(&place, &press.message_id));
        }
        self.presses
            .decide_answer(&asked.id, &place, resolved.is_ok());
        // The person's trust may have been withdrawn since the check above. In this case, approvals for later calls
        // are withdrawn.
        if choice.remember().is_some() && !self.is_trusted(&place).await? {
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
}
