//! Questions with buttons to people who are paired with an account, and their answers.

use crate::account::read_fields;
use crate::error::{Failure, SendError};
use crate::handle::{Channels, Inner};
use crate::live::LiveAccount;
use crate::receive::receiver_of;
use crate::receivers::buttons::{Button, Buttons, Question, SentQuestion};
use crate::target::{OpenAccount, TargetError};
use gatehouse_domain::visible::Visible;
use gatehouse_store::StoreError;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// How an account shows questions.
#[derive(Clone, Copy)]
pub struct QuestionForm(&'static dyn Buttons);

impl fmt::Debug for QuestionForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QuestionForm").finish_non_exhaustive()
    }
}

impl QuestionForm {
    /// Escapes characters that the vendor would remove or replace.
    pub fn escape<'a>(&self, text: &'a str) -> Visible<'a> {
        self.0.escape(text)
    }

    /// Whether the text is not too long for a question.
    pub fn fits(&self, text: &str) -> bool {
        self.0.limit().admits(text)
    }
}

/// The direct conversation that a target sends to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectChat {
    /// The channel account.
    pub account: String,
    pub chat: String,
    pub person: String,
}

/// Returns how the account asks questions, if it receives messages and its vendor has buttons.
fn buttons_of(account: &LiveAccount) -> Option<&'static dyn Buttons> {
    receiver_of(account)?.buttons()
}

impl Channels {
    /// Returns how an account shows questions; `None` if it cannot ask any.
    pub async fn question_form(
        &self,
        account_id: &str,
    ) -> Result<Option<QuestionForm>, StoreError> {
        let accounts = self.0.live_accounts().await?;
        let account = accounts.find(account_id);
        Ok(account.and_then(|it| buttons_of(it)).map(QuestionForm))
    }

    /// Returns the direct conversation that messages to a target arrive in, if the account can ask questions there.
    pub async fn find_direct_chat(&self, target: &str) -> Result<Option<DirectChat>, StoreError> {
        let account = match self.0.find_target(target).await {
            Ok(account) => account,
            Err(TargetError::Store(error)) => return Err(error),
            Err(_) => return Ok(None),
        };
        Ok(direct_chat_of(&account))
    }

    /// Sends a question, once.
    pub async fn ask(
        &self,
        account_id: &str,
        question: Question<'_>,
    ) -> Result<SentQuestion, SendError> {
        let (opened, buttons) = self.0.open_buttons(account_id).await?;
        Ok(buttons.ask(self.0.source(&opened), question).await?)
    }

    /// Removes the buttons of a question, and replaces its text unless it is `None`.
    pub async fn close_question(
        &self,
        account_id: &str,
        at: (&str, &str),
        text: Option<&str>,
    ) -> Result<(), SendError> {
        let (opened, buttons) = self.0.open_buttons(account_id).await?;
        let source = self.0.source(&opened);
        Ok(buttons.edit(source, at, text, &[]).await?)
    }

    /// Replaces the buttons of a question.
    pub async fn show_buttons(
        &self,
        account_id: &str,
        at: (&str, &str),
        rows: &[Vec<Button>],
    ) -> Result<(), SendError> {
        let (opened, buttons) = self.0.open_buttons(account_id).await?;
        let source = self.0.source(&opened);
        Ok(buttons.edit(source, at, None, rows).await?)
    }

    /// Shows a short text to the person who pressed a button.
    pub async fn acknowledge_press(
        &self,
        account_id: &str,
        press_id: &str,
        text: &str,
    ) -> Result<(), SendError> {
        let (opened, buttons) = self.0.open_buttons(account_id).await?;
        let source = self.0.source(&opened);
        Ok(buttons.acknowledge(source, press_id, text).await?)
    }
}

fn direct_chat_of(account: &LiveAccount) -> Option<DirectChat> {
    let key = receiver_of(account)?.place_keys().chat;
    let chat = read_fields(&account.found.row)
        .get(key)
        .and_then(Value::as_str)?
        .trim()
        .to_owned();
    Some(DirectChat {
        account: account.found.row.id.clone(),
        person: buttons_of(account)?.person_of(&chat)?,
        chat,
    })
}

impl Inner {
    async fn open_buttons(
        &self,
        account_id: &str,
    ) -> Result<(Arc<OpenAccount>, &'static dyn Buttons), Failure> {
        let (opened, receiver) = self.open_receiver(account_id).await?;
        let buttons = receiver.buttons();
        let buttons = buttons.ok_or_else(|| Failure::refused("The channel has no buttons."))?;
        Ok((opened, buttons))
    }
}
